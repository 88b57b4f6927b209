from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import eigsh

from pmgt_mpi.graphs import TOPOLOGIES
from pmgt_mpi.graphs import spectrum as module
from pmgt_mpi.graphs.closed_forms import CLOSED_FORMS
from pmgt_mpi.graphs.spectrum import (
    Extremes,
    dense_extremes,
    extremes,
    lanczos_extremes,
    shift_invert_largest,
    shift_invert_smallest,
)
from pmgt_mpi.graphs.topologies import Graph
from pmgt_mpi.graphs.weights import Laplacian, weighted_laplacian


def laplacian(name: str, m: int, **options: object) -> Laplacian:
    return Laplacian(TOPOLOGIES.load(name)(m, np.random.default_rng(1), **options))


def by_numpy(graph: Graph) -> Extremes:
    L = nx.laplacian_matrix(nx.Graph(graph), nodelist=range(len(graph)))
    eigenvalues = np.linalg.eigvalsh(L.toarray().astype(float))
    return Extremes(eigenvalues[1], eigenvalues[-1])


SIZES = [2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 30, 32, 37, 64]


@pytest.mark.parametrize(
    ("name", "m"),
    [
        (name, m)
        for name in CLOSED_FORMS
        for m in SIZES
        if name != "hypercube" or m.bit_count() == 1
    ],
)
def test_closed_form_is_that_of_the_dense_laplacian(name: str, m: int) -> None:
    graph = TOPOLOGIES.load(name)(m, np.random.default_rng(1))
    assert CLOSED_FORMS[name](m) == pytest.approx(by_numpy(graph), abs=1e-12 * m)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 6, 12])
@pytest.mark.parametrize("name", ["grid", "torus"])
def test_closed_form_follows_the_sides(name: str, rows: int) -> None:
    graph = TOPOLOGIES.load(name)(12, np.random.default_rng(1), rows=rows)
    assert CLOSED_FORMS[name](12, rows=rows) == pytest.approx(by_numpy(graph))


@pytest.mark.parametrize("m", [2, 3, 10, 150])
@pytest.mark.parametrize("name", ["ring", "star", "complete", "random-two-out"])
def test_dense_extremes_leave_out_the_constant_vector(name: str, m: int) -> None:
    L = laplacian(name, m)
    graph = nx.from_scipy_sparse_array(L.adjacency)
    assert dense_extremes(L.matrix) == pytest.approx(by_numpy(graph), abs=1e-12 * m)


def test_dense_extremes_see_a_negative_eigenvalue() -> None:
    # On 1⊥ the eigenvalues are −1 and 3, and the 0 of consensus lies between them.
    u, v = np.array([1, -1, 0]) / 2**0.5, np.array([1, 1, -2]) / 6**0.5
    M = sparse.csr_array(-np.outer(u, u) + 3 * np.outer(v, v))
    assert dense_extremes(M) == pytest.approx(Extremes(-1, 3))


GRAPHS = {
    "tree": lambda: nx.balanced_tree(2, 8),
    "barbell": lambda: nx.barbell_graph(100, 200),
    "scale-free": lambda: nx.barabasi_albert_graph(500, 2, seed=1),
    "small-world": lambda: nx.connected_watts_strogatz_graph(500, 4, 0.02, seed=1),
    "wheel": lambda: nx.wheel_graph(400),
    "bipartite": lambda: nx.complete_bipartite_graph(200, 150),
    "ring": lambda: nx.cycle_graph(501),
    "even ring": lambda: nx.cycle_graph(500),
    "path": lambda: nx.path_graph(500),
    "regular": lambda: nx.random_regular_graph(3, 500, seed=1),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_solver_agrees_with_the_dense_one(name: str, weighted: bool) -> None:
    M = Laplacian(GRAPHS[name]()).matrix
    if weighted:
        above = sparse.triu(-M, k=1).tocoo()
        above.data = np.random.default_rng(2).uniform(0.1, 1, above.data.size)
        M = weighted_laplacian(sparse.csr_array(above + above.T))
    exact = dense_extremes(M)
    tolerance = {"rel": 1e-8, "abs": 1e-12 * exact.largest}
    found, settled = lanczos_extremes(M)
    for value, expected, trusted in zip(found, exact, settled, strict=True):
        assert not trusted or value == pytest.approx(expected, **tolerance)
    inverted = Extremes(shift_invert_smallest(M), shift_invert_largest(M))
    assert inverted == pytest.approx(exact, **tolerance)
    assert extremes(M) == pytest.approx(exact, **tolerance)


@pytest.mark.parametrize("name", ["ring", "path", "torus", "exponential"])
def test_a_hundred_thousand_agents_without_a_closed_form(name: str) -> None:
    m = 100_000
    mu_2, mu_max = laplacian(name, m).extremes
    exact = CLOSED_FORMS[name](m)
    assert mu_2 == pytest.approx(exact.smallest, rel=1e-8)
    assert mu_max == pytest.approx(exact.largest, rel=1e-12)


def test_a_large_random_regular_graph_against_arpack() -> None:
    M = laplacian("random-regular", 3000).matrix
    largest = eigsh(M, k=1, which="LA", return_eigenvectors=False)[0]
    # 8 I − M − (8/m) 11ᵀ is positive, and the constant vector belongs to its 0.
    flipped = sparse.linalg.LinearOperator(
        M.shape, matvec=lambda v: 8 * v - M @ v - 8 * v.mean(), dtype=float
    )
    smallest = 8 - eigsh(flipped, k=1, which="LA", return_eigenvectors=False)[0]
    assert extremes(M) == pytest.approx(Extremes(smallest, largest), abs=1e-11)


def test_no_large_dense_matrix_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a dense matrix of more than 300 agents")

    small, large = laplacian("path", 300).matrix, laplacian("path", 301).matrix
    monkeypatch.setattr(module, "dense_extremes", refuse)
    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    extremes(large)
    with pytest.raises(AssertionError, match="more than 300"):
        extremes(small)


def test_one_eigenvalue_for_all_ends_at_the_first_step() -> None:
    found, settled = lanczos_extremes(Laplacian(nx.complete_graph(301)).matrix)
    assert settled == (True, True)
    assert found == pytest.approx(Extremes(301, 301), rel=1e-14)


def test_the_laplacian_follows_the_names_and_not_the_order_of_the_nodes() -> None:
    L = Laplacian(nx.Graph([(2, 0), (0, 1)]))
    expected = [[2, -1, -1], [-1, 1, 0], [-1, 0, 1]]
    np.testing.assert_array_equal(L.matrix.toarray(), expected)
    np.testing.assert_array_equal(L.degrees, [2, 1, 1])
    assert Laplacian(nx.path_graph(3), Extremes(7, 8)).extremes == (7, 8)


def test_a_vanishing_remainder_ends_the_recurrence() -> None:
    # Two different eigenvalues on 1⊥: two steps say all, and the rest is noise.
    found, settled = lanczos_extremes(Laplacian(nx.star_graph(99_999)).matrix)
    assert settled == (True, True)
    assert found == pytest.approx(Extremes(1, 100_000), rel=1e-10)


def test_shift_invert_refuses_a_negative_eigenvalue() -> None:
    A = Laplacian(nx.cycle_graph(400)).adjacency.tolil()
    A[0, 399] = A[399, 0] = -1.0
    M = weighted_laplacian(sparse.csr_array(A))
    assert dense_extremes(M).smallest < 0
    assert shift_invert_smallest(M) is None
    assert extremes(M).smallest < 0


def test_an_unsettled_negative_eigenvalue_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "LANCZOS_STEPS", 16)
    M = Laplacian(nx.cycle_graph(400)).matrix * -1
    assert lanczos_extremes(M)[1] == (False, False)
    assert -4 < extremes(M).smallest < -3


def test_shift_invert_refuses_a_second_eigenvalue_0() -> None:
    part = Laplacian(nx.path_graph(200)).matrix
    M = sparse.csr_array(sparse.block_diag([part, part]))
    assert shift_invert_smallest(M) is None
    assert abs(extremes(M).smallest) < 1e-13


def test_a_settled_spectrum_has_the_same_bits_every_time() -> None:
    M = laplacian("random-regular", 1000).matrix
    assert extremes(M) == extremes(M)
