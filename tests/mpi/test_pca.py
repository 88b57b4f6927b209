"""pmgt_mpi.PCA on several ranks: scikit-learn's PCA of all rows together."""

from __future__ import annotations

import joblib
import numpy as np
import pandas
import pytest
from scipy.sparse import csr_array
from sklearn import decomposition
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from pmgt_mpi import PCA
from pmgt_mpi.estimators import components, pca
from pmgt_mpi.mpi.collective import Collective
from tests.support.point_to_point import PointToPoint

D = 9
SOLVERS = ("covariance", "deepca", "lanczos")
ATTRIBUTES = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
    "noise_variance_",
)


def parts(m, *, skewed=False):
    """Rows of all agents, whose means differ; skewed, the last has 1 % of them."""
    rng = np.random.default_rng(5)
    sizes = [25 + 9 * i for i in range(m)]
    if skewed and m > 1:
        sizes = [99] * (m - 1) + [m - 1]
    turn = np.linalg.qr(rng.normal(size=(D, D)))[0]
    return [(rng.normal(size=(n, D)) * 0.6 ** np.arange(D) + i) @ turn for i, n in
            enumerate(sizes)]  # fmt: skip


def assert_equal(ours, theirs, tolerance):
    assert ours.n_components_ == theirs.n_components_
    assert ours.n_samples_ == theirs.n_samples_
    assert ours.n_features_in_ == theirs.n_features_in_
    for name in ATTRIBUTES:
        wanted = np.asarray(getattr(theirs, name))
        error = np.abs(getattr(ours, name) - wanted).max()
        assert error <= tolerance * max(1.0, np.abs(wanted).max()), name


@pytest.mark.parametrize(
    ("n_components", "skewed"), [(3, False), (3, True), (0.8, True), (None, False)]
)
@pytest.mark.parametrize("solver", SOLVERS)
def test_it_is_scikit_learns_of_the_pooled_rows(
    comm, together, solver, n_components, skewed
):
    rows = parts(comm.size, skewed=skewed)
    own = PCA(n_components, solver=solver, comm=comm).fit(rows[comm.rank])
    pooled = np.concatenate(rows)
    theirs = decomposition.PCA(n_components, svd_solver="full").fit(pooled)
    everywhere = comm.gather(own.components_)
    with together:
        assert own.solver_ == solver
        assert_equal(own, theirs, 1e-8)
        scores = theirs.transform(rows[comm.rank])
        np.testing.assert_allclose(own.transform(rows[comm.rank]), scores, atol=1e-7)
        for other in everywhere or []:
            np.testing.assert_allclose(other, own.components_, atol=1e-12)
        assert own.costs_["passes"] >= 1
        assert (own.costs_["rounds"] > 0) == (comm.size > 1)


@pytest.mark.parametrize("form", ["csr", "on disk", "float32", "csr float32"])
def test_rows_of_every_form(comm, together, form, tmp_path):
    rows = parts(comm.size)
    if "csr" in form:
        rows = [np.where(np.abs(A) < 0.5, 0.0, A) for A in rows]
    if "float32" in form:
        rows = [A.astype(np.float32) for A in rows]
    pooled = np.concatenate(rows).astype(float)
    theirs = decomposition.PCA(3, svd_solver="full").fit(pooled)
    X = rows[comm.rank]
    if "csr" in form:
        X = csr_array(X)
    if form == "on disk":
        np.save(tmp_path / "part.npy", X)
        X = np.load(tmp_path / "part.npy", mmap_mode="r")
    own = PCA(3, solver="lanczos", comm=comm).fit(X)
    with together:
        assert own.components_.dtype == X.dtype
        assert_equal(own, theirs, 1e-6 if "float32" in form else 1e-8)
        scores = own.transform(X)
        assert scores.dtype == X.dtype
        np.testing.assert_allclose(
            scores, theirs.transform(rows[comm.rank].astype(float)),
            atol=1e-4 if "float32" in form else 1e-7,
        )  # fmt: skip


def test_columns_with_names(comm, together):
    names = [f"feature {j}" for j in range(D)]
    X = pandas.DataFrame(parts(comm.size)[comm.rank], columns=names)
    own = PCA(2, comm=comm).fit(X)
    with together:
        assert own.feature_names_in_.tolist() == names
        assert own.get_feature_names_out().tolist() == ["pca0", "pca1"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_between_set_up_and_result_there_is_no_collective(
    comm, together, solver, monkeypatch
):
    """The whole of `Fit` sees neighbours' messages alone."""

    class Alone(components.Fit):
        def __init__(self, joined, A, seed):
            joined.gossip.comm = PointToPoint(joined.gossip.comm)
            forbid(monkeypatch)
            super().__init__(joined, A, seed)

        def find(self, wanted):
            found = super().find(wanted)
            monkeypatch.undo()
            return found

    X = parts(comm.size)[comm.rank]
    plain = PCA(2, solver=solver, comm=comm).fit(X)
    monkeypatch.setattr(pca, "Fit", Alone)
    own = PCA(2, solver=solver, comm=comm).fit(X)
    with together:
        assert own.components_.tobytes() == plain.components_.tobytes()


def forbid(monkeypatch):
    def raises(*arguments, **options):  # noqa: ARG001
        raise AssertionError("a collective was called")

    for name in ("sum", "gather", "gather_to_first", "barrier", "from_agent",
                 "_extreme", "wait_quietly"):  # fmt: skip
        monkeypatch.setattr(Collective, name, raises)


def wrong(what, m, agent):
    """Rows of an agent, wrong on the last one or on all; and the options."""
    X, options, last = parts(m)[agent], {}, agent == m - 1
    if what == "columns" and last:
        X = X[:, :-1]
    elif what == "no rows" and last:
        X = X[:0]
    elif what == "NaN" and last:
        X[1, 2] = np.nan
    elif what == "constant":
        X[:] = np.arange(D)
    elif what == "too many":
        options["n_components"] = D + 1
    elif what == "solver":
        options["solver"] = "lanzcos"
    elif what == "share":
        options.update(solver="covariance", share="vectors")
    elif what == "arguments" and last:
        options["n_components"] = 4
    return X, options


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("columns", "agent {last} has columns: 8, and agent 0 has 9; expected"),
        ("no rows", "agent {last}: Found array with 0 sample(s) (shape=(0, 9))"),
        ("NaN", "agent {last}: Input X contains NaN."),
        ("constant", "all columns are constant over the rows of all agents"),
        ("too many", "n_components = 10: there are 9 at most, as the agents have"),
        ("solver", "unknown eigenvector solver 'lanzcos'; did you mean 'lanczos'?"),
        ("share", "solver = 'covariance' shows a neighbour more than share ="),
        ("arguments", "agent {last} has the arguments "),
    ],
)  # fmt: skip
def test_wrong_input_is_told_by_all_and_nobody_waits(comm, together, what, told):
    if comm.size == 1 and "{last}" in told:
        return
    X, options = wrong(what, comm.size, comm.rank)
    with pytest.raises(ValueError, match=r".") as raised:
        PCA(**{"n_components": 2, **options, "comm": comm}).fit(X)
    message = str(raised.value)
    with together:
        assert told.format(last=comm.size - 1) in message
    everywhere = comm.gather(message)
    with together:
        assert len(set(everywhere or [""])) == 1


def test_it_is_copied_and_kept_with_a_communicator(comm, together, tmp_path):
    X = parts(comm.size)[comm.rank]
    steps = make_pipeline(FunctionTransformer(), PCA(2, comm=comm))
    copied = clone(steps).fit(X)
    joblib.dump(copied, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib")
    with together:
        assert clone(steps)[-1].get_params()["comm"] is comm
        assert loaded[-1].get_params()["comm"] is None
        np.testing.assert_array_equal(loaded.transform(X), copied.transform(X))
