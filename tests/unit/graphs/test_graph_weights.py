from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.graphs.weights import Laplacian

GRAPHS = {
    "two agents": nx.path_graph(2),
    "ring": nx.cycle_graph(18),
    "path": nx.path_graph(7),
    "star": nx.star_graph(6),
    "complete": nx.complete_graph(5),
    "grid": nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4)),
    "bipartite": nx.complete_bipartite_graph(3, 3),
    "lollipop": nx.lollipop_graph(6, 5),
    "large lollipop": nx.lollipop_graph(6, 400),
}


def dense(name: str, graph: nx.Graph) -> tuple[np.ndarray, float, float]:
    W, spectrum = WEIGHTS.load(name)(Laplacian(graph))
    return W.toarray(), spectrum.largest, spectrum.smallest


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", WEIGHTS)
def test_is_a_gossip_matrix_with_the_spectrum_it_says(name: str, graph: str) -> None:
    W, lambda_2, lambda_min = dense(name, GRAPHS[graph])
    m = len(W)
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-14)
    off_diagonal = ~np.eye(m, dtype=bool)
    adjacency = nx.to_numpy_array(GRAPHS[graph], nodelist=range(m)) != 0
    np.testing.assert_array_equal((W != 0)[off_diagonal], adjacency[off_diagonal])
    eigenvalues = np.linalg.eigvalsh(W)
    assert eigenvalues[-1] == pytest.approx(1)
    assert lambda_2 == pytest.approx(eigenvalues[-2], abs=1e-10)
    assert lambda_min == pytest.approx(eigenvalues[0], abs=1e-10)
    assert -1 < lambda_min <= lambda_2 < 1


@pytest.mark.parametrize("graph", GRAPHS)
def test_laplacian_and_metropolis_have_what_the_paper_adds(graph: str) -> None:
    assert dense("laplacian", GRAPHS[graph])[2] == 0
    W, _, lambda_min = dense("metropolis", GRAPHS[graph])
    assert lambda_min >= -1e-15
    assert W.min() >= 0


@pytest.mark.parametrize("graph", GRAPHS)
def test_best_constant_beats_its_neighbours(graph: str) -> None:
    W, lambda_2, lambda_min = dense("best-constant", GRAPHS[graph])
    assert lambda_min == -lambda_2
    m = len(W)

    def rate(step: float) -> float:
        eigenvalues = np.linalg.eigvalsh(np.eye(m) - step * (np.eye(m) - W))
        return max(eigenvalues[-2], -eigenvalues[0])

    assert rate(1.0) <= min(rate(0.99), rate(1.01)) + 1e-12


@pytest.mark.parametrize("m", [2, 3, 20])
@pytest.mark.parametrize("name", WEIGHTS)
def test_on_a_complete_graph_the_two_eigenvalues_are_the_same(
    name: str, m: int
) -> None:
    from pmgt_mpi.graphs.closed_forms import complete

    graph = nx.complete_graph(m)
    _, spectrum = WEIGHTS.load(name)(Laplacian(graph, complete(m)))
    assert spectrum.smallest == spectrum.largest
    assert str(spectrum.smallest) == str(0.5 if name == "metropolis" else 0.0)


def test_metropolis_by_hand() -> None:
    # Degrees 2, 2, 3, 1: a triangle with a tail.
    W, _, _ = dense("metropolis", nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3)]))
    expected = [
        [17 / 24, 1 / 6, 1 / 8, 0],
        [1 / 6, 17 / 24, 1 / 8, 0],
        [1 / 8, 1 / 8, 5 / 8, 1 / 8],
        [0, 0, 1 / 8, 7 / 8],
    ]
    np.testing.assert_allclose(W, expected, rtol=1e-15)


def test_the_papers_lambda_2() -> None:
    """A cycle has the paper's 0.97 at 18 agents; two picks each have far less."""
    spread = WEIGHTS.load("laplacian")

    def lambda_2(topology: str, m: int, seed: int) -> float:
        graph = TOPOLOGIES.load(topology)(m, np.random.default_rng(seed))
        return float(spread(Laplacian(graph))[1].largest)

    assert lambda_2("two-neighbours", 20, 0) == pytest.approx(0.9755, abs=5e-5)
    assert lambda_2("two-neighbours", 18, 0) == pytest.approx(0.9698, abs=5e-5)
    others = [lambda_2("random-two-out", 20, seed) for seed in range(200)]
    assert np.mean(others) == pytest.approx(0.90, abs=0.01)
    assert max(others) < 0.97
