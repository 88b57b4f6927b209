from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.graphs import weights as weights_module
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.graphs.network import Network


def build(m: int, **arguments: Any) -> Network:
    return build_network(m, np.random.default_rng(0), **arguments)


def refusal(m: int, **arguments: Any) -> str:
    with pytest.raises(UserError) as error:
        build(m, **arguments)
    return str(error.value)


def assembled(network: Network) -> np.ndarray:
    """W, put together from what the agents keep."""
    W = np.zeros((network.agents, network.agents))
    for i in range(network.agents):
        row = network.neighbourhood(i)
        assert row.agent == i
        assert row.agents == network.agents
        W[i, i] = row.own_weight
        W[i, list(row.neighbours)] = row.weights
    return W


SIZES = {"hypercube": (1, 2, 8, 512), "random-regular": (5, 8, 301)}


@pytest.mark.parametrize(
    ("topology", "m"),
    [(name, m) for name in TOPOLOGIES for m in SIZES.get(name, (1, 2, 3, 12, 301))],
)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_network_gossips(topology: str, weights: str, m: int) -> None:
    network = build(m, topology=topology, weights=weights)
    W = assembled(network)
    np.testing.assert_array_equal(W, W.T)
    np.testing.assert_array_equal(W, network.W.toarray())
    np.testing.assert_array_equal(W, network.W.csr().toarray())
    np.testing.assert_allclose(W.sum(axis=1), 1, atol=1e-13)
    if m > 1:
        eigenvalues = np.linalg.eigvalsh(W)
        assert network.lambda_2 == pytest.approx(eigenvalues[-2], abs=1e-10)
        assert network.lambda_min == pytest.approx(eigenvalues[0], abs=1e-10)
    assert network.psd == (network.lambda_min >= -1e-12)
    assert network.nonnegative == bool((W >= 0).all())
    assert network.largest_own_weight == W.diagonal().max()
    assert (network.topology, network.weights) == (topology, weights)


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("bound", [False, True])
def test_after_diameter_rounds_all_have_heard_of_all(
    topology: str, bound: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large graph a bound is enough."""
    m = 8 if topology in SIZES else 12
    network = build(m, topology=topology)
    edges = (network.W.toarray() != 0) | np.eye(network.agents, dtype=bool)
    heard, rounds = np.eye(network.agents, dtype=bool), 0
    while not heard.all():
        heard, rounds = heard @ edges, rounds + 1
    if bound:
        monkeypatch.setattr("pmgt_mpi.graphs.network.EXACT_DIAMETER", 0)
        assert rounds <= network.diameter <= 2 * rounds
    else:
        assert network.diameter == rounds


def test_a_single_agent_has_no_neighbour() -> None:
    network = build(1, topology="ring", weights="best-constant")
    row = network.neighbourhood(0)
    assert (row.neighbours, row.weights.size, row.own_weight) == ((), 0, 1.0)
    assert (row.lambda_2, row.lambda_min) == (0.0, 0.0)
    assert (network.edges, network.edge_list(), network.psd) == (0, [], True)


def test_a_row_is_in_order_of_the_agents_and_small() -> None:
    network = build(9, topology="two-neighbours")
    graph = TOPOLOGIES.load("two-neighbours")(9, np.random.default_rng(0))
    for i in range(9):
        row = network.neighbourhood(i)
        assert row.neighbours == tuple(sorted(graph[i]))
        assert all(type(j) is int for j in row.neighbours)
        np.testing.assert_allclose(row.weights, row.weights[0])
        assert row.weights.flags.owndata  # not a view that keeps all of W
        assert row.lambda_2 == network.lambda_2
    assert len(pickle.dumps(network.neighbourhood(0))) < 1000


def test_counts_and_edges() -> None:
    network = build(4, topology="star")
    assert network.agents == 4
    assert network.edges == 3
    assert network.degrees.tolist() == [3, 1, 1, 1]
    assert network.edge_list() == [(0, 1), (0, 2), (0, 3)]
    with pytest.raises(AttributeError):
        network.topology = "ring"  # type: ignore[misc]


def test_best_constant_has_not_all_that_the_paper_adds() -> None:
    network = build(6, topology="star", weights="best-constant")
    assert not network.psd
    assert not network.nonnegative  # the centre's own weight
    assert build(6, topology="star", weights="laplacian").psd


@pytest.mark.parametrize(("own", "psd"), [(0.5 - 1e-15, True), (0.499, False)])
def test_psd_is_told_up_to_rounding(own: float, psd: bool) -> None:
    network = build(2, weights=[[own, 1 - own], [1 - own, own]])
    assert network.lambda_min < 0
    assert network.psd == psd


def test_an_own_weight_of_zero_is_no_neighbour() -> None:
    W = np.array([[0.0, 0.5, 0.5], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    network = build(3, weights=W)
    assert network.degrees.tolist() == [2, 1, 1]
    np.testing.assert_array_equal(assembled(network), W)
    built = build(3, topology="star", weights="best-constant")
    assert built.neighbourhood(0).own_weight == 0
    assert built.degrees.tolist() == [2, 1, 1]


def test_files_and_python_objects_give_the_same_network(tmp_path: Path) -> None:
    graph = nx.random_regular_graph(3, 10, seed=1)
    edge_list = tmp_path / "graph.edgelist"
    nx.write_edgelist(graph, edge_list)
    given = build(10, topology=graph)
    read = build(10, topology=edge_list)
    np.testing.assert_array_equal(assembled(given), assembled(read))
    assert (given.topology, read.topology) == ("networkx graph", "graph.edgelist")
    matrix = tmp_path / "W.npy"
    np.save(matrix, assembled(given))
    for network in (
        build(10, weights=matrix),
        build(10, topology=graph, weights=assembled(given)),
    ):
        np.testing.assert_array_equal(assembled(network), assembled(given))
        assert network.lambda_2 == pytest.approx(given.lambda_2, abs=1e-13)
        assert network.lambda_min == pytest.approx(given.lambda_min, abs=1e-13)
    names = [(n.topology, n.weights) for n in (build(10, weights=matrix), network)]
    assert names == [("support of W", "W.npy"), ("networkx graph", "W")]


def test_messages_go_only_where_the_weight_is_not_zero() -> None:
    W = np.array([[0.5, 0.5, 0.0], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]])
    network = build(3, topology="complete", weights=W)
    assert network.edge_list() == [(0, 1), (1, 2)]


def test_only_random_topologies_draw() -> None:
    rng = np.random.default_rng(0)
    for topology in ("ring", "grid", "exponential", "complete"):
        build_network(8, rng, topology=topology)
    assert rng.random() == np.random.default_rng(0).random()


def test_a_closed_form_is_used_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> None:
        raise AssertionError("computed")

    monkeypatch.setattr(weights_module, "extremes", refuse)
    assert build(20, topology="two-neighbours").lambda_2 == pytest.approx(
        np.cos(np.pi / 20) ** 2, rel=1e-15
    )
    with pytest.raises(AssertionError, match="computed"):
        build(20, topology="random-two-out")


def test_options_reach_the_topology_and_its_closed_form() -> None:
    network = build(12, topology="torus", options={"rows": 2})
    assert network.degrees.tolist() == [3] * 12
    eigenvalues = np.linalg.eigvalsh(assembled(network))
    assert network.lambda_2 == pytest.approx(eigenvalues[-2])


def test_refusals(tmp_path: Path) -> None:
    assert refusal(4, topology="rng").startswith("unknown graph 'rng'; did you mean")
    assert refusal(4, topology="ring", weights="metropolys").startswith(
        "unknown weights 'metropolys'; did you mean 'metropolis'?"
    )
    assert refusal(4, weights="metropolis") == (
        "[network] weights = 'metropolis' needs a graph; give topology or file"
    )
    path = tmp_path / "graph.txt"
    path.write_text("0 1\n1 2")
    assert refusal(4, topology=path) == (
        f"{path}: the graph has 3 nodes, but the number of agents is 4; start 3 ranks "
        "(mpirun -n 3) or give a graph of 4"
    )
    assert refusal(4, topology=nx.path_graph(3)).startswith("networkx graph: the graph")
    assert refusal(4, weights=np.eye(3)) == (
        "W: W is 3 × 3, but the number of agents is 4; give a W of 4 × 4, or start as "
        "many ranks as W has rows"
    )


def test_every_check_of_a_given_matrix_is_made() -> None:
    half = np.full((2, 2), 0.5)
    apart = np.kron(np.eye(2), half)
    assert refusal(4, weights=apart) == (
        "W: the graph is not connected: its parts are {0, 1} and {2, 3}; add edges "
        "between them"
    )
    assert "the graph is not connected" in refusal(
        4, topology="complete", weights=apart
    )
    assert "not symmetric" in refusal(2, weights=[[0.5, 0.5], [0.4, 0.6]])
    assert "sums to" in refusal(2, weights=[[0.5, 0.4], [0.4, 0.5]])
    assert "has the eigenvalue -1;" in refusal(2, weights=[[0.0, 1.0], [1.0, 0.0]])
    assert "eigenvalue 2 besides" in refusal(2, weights=[[1.5, -0.5], [-0.5, 1.5]])
    assert "no edge between 0 and 2" in refusal(
        3, topology="path", weights=np.full((3, 3), 1 / 3)
    )
