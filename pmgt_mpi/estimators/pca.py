"""PCA with scikit-learn's interface, on rows that stay with their agent."""

from __future__ import annotations

import sys
import warnings
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from pmgt_mpi.algorithms import EIGENVECTORS
from pmgt_mpi.errors import UserError
from pmgt_mpi.estimators.agreement import agreed_input, refuse_differing
from pmgt_mpi.estimators.components import Components, Fit, Wanted
from pmgt_mpi.estimators.network import joined
from pmgt_mpi.problems.spectrum import DENSE_LIMIT

Array = NDArray[Any]

MOST_STEPS = 10_000
"""Of a solver, after which the user is warned."""

SHARES = {
    "covariances": list(EIGENVECTORS),
    "vectors": [name for name in EIGENVECTORS if name != "covariance"],
}
"""What a neighbour may see, and the solvers that show it no more."""


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Principal components of all agents' rows; every rank calls `fit` with its own.

    Between the set-up and the result agents talk to their neighbours alone, and all of
    them get the same components, mean and variances.

    Parameters
    ----------
    n_components
        A number; a share of the variance between 0 and 1, which is to be exceeded; or
        None for all, min(rows, columns).
    tol
        Angle in radians that a component may be wrong by, where gaps allow.
    solver
        ``"auto"``, or a name: ``"covariance"``, ``"deepca"``, ``"lanczos"``,
        ``"shift-invert"`` for one component, ``"lazysvd"``.
    share
        What neighbours may see: ``"covariances"``, or ``"vectors"`` alone, which rules
        out the solver that sends covariances. It is no proof of privacy.
    network
        A topology's name, a mapping with ``topology`` and its options, or a networkx
        graph with as many nodes as there are ranks.
    seed
        Of the start, and of a graph that is drawn.
    comm
        An mpi4py communicator; the world if not given. It is not pickled.
    verbose
        Whether agent 0 says what was done.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_,
    mean_, noise_variance_, n_components_, n_samples_, n_features_in_, feature_names_in_
        As those of scikit-learn's PCA, of all agents' rows together.
    costs_
        Of this agent's fit: seconds, rounds, messages, bytes, gradients, and passes
        over the rows.
    solver_
        That was used.
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        tol: float = 1e-9,
        solver: str = "auto",
        share: str = "covariances",
        network: Any = "ring",
        seed: int = 1,
        comm: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.solver = solver
        self.share = share
        self.network = network
        self.seed = seed
        self.comm = comm
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Find the components; collective: every rank calls it with its own rows."""
        with joined(self.comm, self.network, self.seed) as place:
            everyone = place.everyone
            with agreed_input(everyone):
                X = validate_data(
                    self,
                    X,
                    dtype=[np.float64, np.float32],
                    accept_sparse="csr",
                    copy=False,
                )
                wanted = self._wanted(int(X.shape[1]))
            own = {
                "columns:": int(X.shape[1]),
                "names of columns:": self._names(),
                "rows of type": str(X.dtype),
                "the arguments": tuple(wanted),
            }
            refuse_differing(everyone, own)
            place = place._replace(started=perf_counter())
            fit = Fit(place, X, self.seed)
            found = fit.find(wanted)
            self.costs_ = place.costs(fit.agent)
            if self.verbose and everyone.agent == 0:
                sys.stderr.write(
                    f"PCA: {wanted.solver}, {len(found.V)} components of "
                    f"{found.rows:,} rows, {self.costs_['rounds']:,} rounds, "
                    f"{self.costs_['seconds']:.3g} s\n"
                )
        self.solver_ = wanted.solver
        self._keep(found, X.dtype)
        if not found.reached:
            warnings.warn(
                f"PCA: {wanted.solver} did not reach tol = {self.tol:g} in {MOST_STEPS}"
                " steps; take another solver, or a larger tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def transform(self, X: Any) -> Array:
        """Return the scores of rows, n × k; every rank may call it for itself."""
        check_is_fitted(self)
        X = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32],
            accept_sparse="csr",
            copy=False,
            reset=False,
        )
        scores = X @ self.components_.T
        scores -= self.mean_ @ self.components_.T
        return np.asarray(scores)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows that have these scores, in the span of the components."""
        check_is_fitted(self)
        rows: Array = np.asarray(X) @ self.components_ + self.mean_
        return rows

    def _wanted(self, columns: int) -> Wanted:
        """Check the arguments."""
        k = self.n_components
        number = isinstance(k, int | np.integer) and not isinstance(k, bool)
        share = isinstance(k, float | np.floating) and 0 < k < 1
        if not (k is None or share or (number and k >= 1)):
            raise ValueError(
                f"n_components = {k!r}: expected a number from 1 on, a share of the "
                "variance between 0 and 1, or None"
            )
        if not self.tol > 0:
            raise ValueError(f"tol = {self.tol!r}: expected a positive number")
        if self.share not in SHARES:
            raise ValueError(f"share = {self.share!r}: expected one of {list(SHARES)}")
        allowed = SHARES[self.share]
        if self.solver != "auto":
            try:
                EIGENVECTORS.address(self.solver)
            except UserError as error:
                raise ValueError(str(error)) from None
            if self.solver not in allowed:
                raise ValueError(
                    f"solver = '{self.solver}' shows a neighbour more than share = "
                    f"'{self.share}' allows; take one of {allowed}, or 'auto'"
                )
        if self.solver == "shift-invert" and k != 1:
            raise ValueError(
                "solver = 'shift-invert' finds one component; take n_components = 1, "
                "or 'lazysvd', which finds one after the other"
            )
        return Wanted(
            components=int(k) if number else float(k) if share else None,  # type: ignore[arg-type]
            tol=float(self.tol),
            solver=self._solver(columns, allowed),
            most_steps=MOST_STEPS,
            seed=self.seed,
        )

    def _solver(self, columns: int, allowed: list[str]) -> str:
        if self.solver != "auto":
            return self.solver
        small = columns <= DENSE_LIMIT and "covariance" in allowed
        return "covariance" if small else "lanczos"

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(map(str, names))

    def _keep(self, found: Components, dtype: Any) -> None:
        """Set the attributes that scikit-learn's PCA has."""
        k, d = found.V.shape
        N = found.rows
        variances: Array = found.values * N / (N - 1)
        self.components_: Array = found.V.astype(dtype)
        self.explained_variance_: Array = variances.astype(dtype)
        ratio = found.values / found.total
        self.explained_variance_ratio_: Array = ratio.astype(dtype)
        self.singular_values_ = np.sqrt(found.values * N).astype(dtype)
        self.mean_: Array = found.mean.astype(dtype)
        rest = max(0.0, found.total - float(found.values.sum())) * N / (N - 1)
        others = min(N, d) - k
        self.noise_variance_ = rest / others if others > 0 else 0.0
        self.n_components_ = k
        self.n_samples_ = N

    @property
    def _n_features_out(self) -> int:
        """For the names of what `transform` returns."""
        return len(self.components_)

    # A communicator can be neither copied nor pickled.

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same communicator."""
        options = self.get_params(deep=False)
        comm = options.pop("comm")
        copied = {name: clone(value, safe=False) for name, value in options.items()}
        return type(self)(**copied, comm=comm)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the communicator out: what is loaded again has the world."""
        state: dict[str, Any] = super().__getstate__()
        return {**state, "comm": None}

    def __sklearn_tags__(self) -> Any:
        """Say what data it takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
