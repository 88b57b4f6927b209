"""Principal components of rows that lie with the agents, by gossip alone."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms import EIGENVECTORS
from pmgt_mpi.algorithms.eigenvectors.subspace import (
    EigenvectorSolver,
    Found,
    orthonormal,
)
from pmgt_mpi.estimators.agreement import InputError, anywhere
from pmgt_mpi.estimators.network import Joined
from pmgt_mpi.problems.covariance import Covariance, column_sums
from pmgt_mpi.problems.shifted import ShiftedCovariance
from pmgt_mpi.regularizers.none import NoRegularizer

Array = NDArray[Any]

EXACT = float(np.finfo(float).eps)

ROUNDED = 1e3
"""Times EXACT: a column that varies by this part of its mean counts as constant."""

FLOOR = 1e-12
"""Residual, as a part of λ_1, that no solver needs to go below."""

FIRST_BLOCK = 8
"""Components that are looked for first, where a share of the variance is wanted."""

NEAR = 1e-7
"""Entries of a component whose sizes differ by less count as equal for its sign."""


class Wanted(NamedTuple):
    """What the user asks for.

    Attributes
    ----------
    components
        How many, a share of the variance between 0 and 1, or None for all.
    tol
        Angle that a component may be wrong by.
    solver
        A name of `EIGENVECTORS`.
    most_steps
        Of the solver.
    seed
        Of its start.
    """

    components: int | float | None
    tol: float
    solver: str
    most_steps: int
    seed: int


class Components(NamedTuple):
    """The result, the same on every agent to rounding.

    Attributes
    ----------
    V, values
        Components as rows, and the variances (over N, not N − 1).
    mean, total, rows
        The mean of all rows, the total variance, and N.
    reached
        Whether the tolerance was.
    """

    V: Array
    values: Array
    mean: Array
    total: float
    rows: int
    reached: bool


class Rows:
    """The agent's problem: products with its covariance, and systems with it."""

    def __init__(self, covariance: Covariance) -> None:
        self.covariance = covariance
        self.rows, self.shape = covariance.rows, covariance.shape
        self.product, self.gram = covariance.product, covariance.gram
        self.trace = covariance.trace
        self.shifted = partial(ShiftedCovariance, covariance)


class Fit:
    """One agent's part in finding components; no collective in it.

    Parameters
    ----------
    joined
        The agent's place in the network.
    A
        Its rows.
    """

    def __init__(self, joined: Joined, A: Any, seed: int) -> None:
        self.joined = joined
        self.seed = seed
        m = joined.everyone.agents
        own = np.append(float(A.shape[0]), column_sums(A))
        mean = self.mean_of(own)
        self.rows = round(m * float(mean[0]))
        self.mean = mean[1:] / mean[0]
        self.covariance = Covariance(A, self.mean)
        self.agent = Agent(
            cast(Any, Rows(self.covariance)),
            NoRegularizer(),
            joined.gossip,
            weight=m * A.shape[0] / self.rows,
            n=-(-self.rows // m),
            seed=seed,
            stream_name="PCA",
            agent_id=joined.everyone.agent,
        )
        self.weight = m * A.shape[0] / self.rows
        self.total = 0.0

    def mean_of(self, x: Array) -> Array:
        """Return the mean over the agents, to rounding."""
        M = self.joined.rounds_for(EXACT / self.joined.everyone.agents)
        return self.joined.gossip.mix(x, M)

    def find(self, wanted: Wanted) -> Components:
        """Find them."""
        d = len(self.mean)
        most = min(self.rows, d)
        k = wanted.components
        if isinstance(k, int) and k > most:
            raise InputError(
                f"n_components = {k}: there are {most} at most, as the agents have "
                f"{self.rows} rows of {d} columns together"
            )
        if self.rows < 2:
            raise InputError("there is 1 sample, and a variance needs 2 of them")
        trace = np.array([self.weight * self.covariance.trace()])
        self.total = float(self.mean_of(trace)[0])
        if self.total <= (ROUNDED * EXACT) ** 2 * float(self.mean @ self.mean):
            raise InputError(
                "all columns are constant over the rows of all agents; components need "
                "a column that varies"
            )
        if not isinstance(k, float):
            return self._agreed(*self._solve(wanted, most if k is None else k))
        block = most if wanted.solver == "covariance" else min(FIRST_BLOCK, most)
        while True:
            found, reached = self._solve(wanted, block)
            # As many as lie below the share, and one more: as scikit-learn counts.
            below = np.cumsum(found.values) <= k * self.total
            below = anywhere(self.joined.gossip, below, self.joined.diameter)
            if block == most or not below.all():
                count = min(int(below.sum()) + 1, block)
                return self._agreed(first(found, count), reached)
            block = min(2 * block, most)

    def _solve(self, wanted: Wanted, k: int) -> tuple[Found, bool]:
        """Run the solver with one vector more, whose value gives the last gap."""
        d = len(self.mean)
        kind = EIGENVECTORS.load(wanted.solver)
        guard = 0 if getattr(kind, "one_by_one", False) else 1
        width = min(k + guard, d)
        draw = np.random.default_rng(self.seed).standard_normal((d, width))
        solver: EigenvectorSolver = kind().resolve(
            self.joined.setting(self.covariance.rows, self.agent.n)
        )
        gossip, rounds = self.joined.gossip, self.joined.diameter
        state = solver.init(self.agent, np.linalg.qr(draw)[0])
        step, before = 0, gossip.rounds
        every, found, reached = 1, Found(draw, draw[0], draw[0]), False
        while step < wanted.most_steps and not reached:
            state = solver.step(self.agent, state)
            step += 1
            if step == 1:  # to agree may take a third of the rounds
                every = 1 + 2 * rounds // max(1, gossip.rounds - before)
            if step % every == 0 or step == wanted.most_steps:
                found = solver.found(state)
                far = np.array([not precise(found, k, wanted.tol)])
                reached = not anywhere(gossip, far, rounds)[0]
        found = first(found, k)
        if guard == 0:  # a solve knows its vector much better than its value
            V = found.V
            CV = self.mean_of(self.agent.product(V))
            found = found._replace(values=np.einsum("ij,ij->j", V, CV))
        return found, reached

    def _agreed(self, found: Found, reached: bool) -> Components:
        """Give all agents the same, to rounding, with signs from the components alone.

        Where eigenvalues are equal, or zero, each agent has vectors of its own for
        them: their mean is one for all.
        """
        V = with_signs(found.V)
        k = V.shape[1]
        mean = self.mean_of(np.vstack([V, found.values]))
        V, values = with_signs(orthonormal(mean[:-1])), np.maximum(mean[-1], 0.0)
        assert V.shape[1] == k
        return Components(
            np.ascontiguousarray(V.T), values, self.mean, self.total, self.rows, reached
        )


def first(found: Found, k: int) -> Found:
    """The first k eigenpairs."""
    return Found(found.V[:, :k], found.values[:k], found.residuals[:k])


def precise(found: Found, k: int, tol: float) -> bool:
    """Whether each of the first k vectors is right to an angle of tol.

    The angle is at most about the residual over the distance to the next value; where
    two values are too close for that, a residual at the level of rounding is enough.
    """
    values = found.values
    if found.beyond is not None:
        values = np.append(values, found.beyond)
    gaps = np.full(len(values), np.inf)
    gaps[:-1] = values[:-1] - values[1:]
    gaps[1:] = np.minimum(gaps[1:], values[:-1] - values[1:])
    allowed = np.maximum(tol * gaps, FLOOR * abs(values[0]))[:k]
    return bool((found.residuals[:k] <= allowed).all())


def with_signs(V: Array) -> Array:
    """Make the largest entry of each column positive, as scikit-learn does.

    Of entries that are nearly as large the first decides: agents whose V differ by
    rounding must not come to different signs.
    """
    size = np.abs(V)
    first = np.argmax(size >= (1 - NEAR) * size.max(axis=0), axis=0)
    return V * np.where(V[first, np.arange(V.shape[1])] < 0, -1.0, 1.0)
