from __future__ import annotations

import inspect
import subprocess
import sys
import typing

import networkx as nx
import numpy as np
import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.graphs.topologies import sides


def draw(name: str, m: int, seed: int = 0, **options: object) -> nx.Graph:
    graph = TOPOLOGIES.load(name)(m, np.random.default_rng(seed), **options)
    assert all(i in graph[j] for i in graph for j in graph[i])
    return nx.Graph(graph)


def edges(graph: nx.Graph) -> set[tuple[int, int]]:
    return {(min(e), max(e)) for e in graph.edges()}


def exists(name: str, m: int) -> bool:
    if name == "random-regular":
        return m > 4  # the default degree
    return name != "hypercube" or m.bit_count() == 1


@pytest.mark.parametrize(
    ("name", "m"),
    [
        (name, m)
        for name in TOPOLOGIES
        for m in (1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 37)
        if exists(name, m)
    ],
)
def test_is_simple_and_connected_on_the_agents(name: str, m: int) -> None:
    graph = draw(name, m)
    assert sorted(graph) == list(range(m))
    assert all(type(node) is int for node in graph)
    assert nx.number_of_selfloops(graph) == 0
    assert nx.is_connected(graph)


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_options_are_keywords_with_resolvable_annotations(name: str) -> None:
    function = TOPOLOGIES.load(name)
    hints = typing.get_type_hints(function, include_extras=True)
    positional, options = [], []
    for parameter in inspect.signature(function).parameters.values():
        keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        (options if keyword else positional).append(parameter)
    assert len(positional) == 2
    assert all(o.name in hints and o.default is not o.empty for o in options)
    assert TOPOLOGIES.summary(name)


@pytest.mark.parametrize(
    ("name", "m", "expected"),
    [
        ("ring", 2, {(0, 1)}),
        ("ring", 5, {(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)}),
        ("path", 4, {(0, 1), (1, 2), (2, 3)}),
        ("star", 4, {(0, 1), (0, 2), (0, 3)}),
        ("complete", 3, {(0, 1), (0, 2), (1, 2)}),
        ("grid", 6, {(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)}),
        ("grid", 3, {(0, 1), (1, 2)}),
        ("torus", 4, {(0, 1), (0, 2), (1, 3), (2, 3)}),
        (
            "torus",
            6,
            {(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (1, 4), (2, 5)},
        ),
        ("torus", 5, {(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)}),
        ("hypercube", 4, {(0, 1), (0, 2), (1, 3), (2, 3)}),
        ("exponential", 4, {(0, 1), (1, 2), (2, 3), (0, 3), (0, 2), (1, 3)}),
        ("two-neighbours", 2, {(0, 1)}),
        ("random-two-out", 2, {(0, 1)}),
        ("random-two-out", 3, {(0, 1), (0, 2), (1, 2)}),
    ],
)
def test_edges(name: str, m: int, expected: set[tuple[int, int]]) -> None:
    assert edges(draw(name, m)) == expected


def test_one_round_on_the_complete_graph_is_exact_where_the_list_says_so() -> None:
    assert "with weights `laplacian`" in TOPOLOGIES.summary("complete")
    for weights in WEIGHTS:
        rng = np.random.default_rng(0)
        W = build_network(6, rng, topology="complete", weights=weights).W.toarray()
        assert np.allclose(W, 1 / 6) == (weights != "metropolis")


def test_torus_is_the_product_of_two_cycles() -> None:
    product = nx.cartesian_product(nx.cycle_graph(4), nx.cycle_graph(5))
    expected = nx.relabel_nodes(product, lambda rc: 5 * rc[0] + rc[1])
    assert edges(draw("torus", 20)) == edges(expected)


def test_hypercube_links_ids_that_differ_in_one_bit() -> None:
    graph = draw("hypercube", 32)
    assert graph.number_of_edges() == 80
    assert all((i ^ j).bit_count() == 1 for i, j in graph.edges())


def test_exponential_links_the_powers_of_two() -> None:
    graph = draw("exponential", 21)
    assert set(graph[0]) == {1, 2, 4, 8, 20, 19, 17, 13}
    assert {d for _, d in graph.degree()} == {8}


@pytest.mark.parametrize(
    ("m", "expected"), [(1, (1, 1)), (7, (1, 7)), (12, (3, 4)), (36, (6, 6))]
)
def test_sides_are_as_near_to_square_as_the_divisors_allow(
    m: int, expected: tuple[int, int]
) -> None:
    assert sides(m) == expected


def test_sides_can_be_given() -> None:
    assert edges(draw("grid", 6, rows=1)) == edges(draw("path", 6))
    assert edges(draw("torus", 6, rows=6)) == edges(draw("ring", 6))
    assert sides(12, 6) == (6, 2)


def test_two_neighbours_is_a_cycle_in_random_order() -> None:
    graphs = [draw("two-neighbours", 20, seed) for seed in range(5)]
    for graph in graphs:
        assert nx.is_isomorphic(graph, nx.cycle_graph(20))
    assert len({frozenset(edges(graph)) for graph in graphs}) == 5


def test_random_two_out_picks_two_others_uniformly() -> None:
    counts = np.zeros((5, 5))
    total = 0
    for seed in range(2000):
        graph = draw("random-two-out", 5, seed)
        assert min(d for _, d in graph.degree()) >= 2
        total += graph.number_of_edges()
        for i, j in graph.edges():
            counts[i, j] += 1
            counts[j, i] += 1
    # Agents i and j are linked unless neither of them picks the other: 1 − (1/2)².
    off_diagonal = counts[~np.eye(5, dtype=bool)] / 2000
    np.testing.assert_allclose(off_diagonal, 0.75, atol=0.05)
    assert total / 2000 == pytest.approx(7.5, abs=0.1)


def test_random_two_out_has_a_mean_degree_of_about_four() -> None:
    graph = draw("random-two-out", 2000)
    assert 2 * graph.number_of_edges() / 2000 == pytest.approx(4, abs=0.02)


def test_random_regular_is_regular() -> None:
    for degree in (2, 3, 6):
        graph = draw("random-regular", 20, degree=degree)
        assert {d for _, d in graph.degree()} == {degree}
    assert edges(draw("random-regular", 2, degree=1)) == {(0, 1)}


def test_erdos_renyi_has_the_expected_number_of_edges() -> None:
    graph = draw("erdos-renyi", 400, probability=0.1)
    assert graph.number_of_edges() == pytest.approx(0.1 * 400 * 399 / 2, rel=0.05)
    automatic = draw("erdos-renyi", 1000)
    assert automatic.number_of_edges() == pytest.approx(999 * np.log(1000), rel=0.05)
    assert edges(draw("erdos-renyi", 6, probability=1.0)) == edges(draw("complete", 6))


@pytest.mark.parametrize(
    "name", ["erdos-renyi", "random-regular", "two-neighbours", "random-two-out"]
)
def test_the_stream_decides_the_graph(name: str) -> None:
    assert edges(draw(name, 20, 3)) == edges(draw(name, 20, 3))
    assert edges(draw(name, 20, 3)) != edges(draw(name, 20, 4))


def test_a_disconnected_draw_is_drawn_again() -> None:
    # At this probability about one draw of nine is connected.
    rng = np.random.default_rng(0)
    first = nx.fast_gnp_random_graph(10, 0.2, seed=int(rng.integers(1 << 32)))
    assert not nx.is_connected(first)
    assert nx.is_connected(draw("erdos-renyi", 10, 0, probability=0.2))


@pytest.mark.parametrize(
    ("name", "m", "options", "message"),
    [
        (
            "hypercube",
            6,
            {},
            "topology 'hypercube' needs a power of two as number of agents, not 6; "
            "start 4 or 8 ranks, or choose 'exponential'",
        ),
        (
            "torus",
            10,
            {"rows": 4},
            "[network] rows = 4 does not divide the 10 agents; expected one of 1, 2, "
            "5, 10, or another number of ranks",
        ),
        (
            "random-regular",
            5,
            {"degree": 3},
            "[network] degree = 3 on 5 agents: no such graph exists, as agents times "
            "degree must be even; make one of them even",
        ),
        (
            "random-regular",
            4,
            {},
            "[network] degree = 4 needs more than 4 agents, and there are 4; lower "
            "degree or start more ranks",
        ),
        (
            "random-regular",
            1,
            {"degree": 1},
            "[network] degree = 1 needs more than 1 agents, and there is 1; lower "
            "degree or start more ranks",
        ),
        (
            "random-regular",
            6,
            {"degree": 1},
            "topology 'random-regular' with degree = 1 on 6 agents: none of 100 draws "
            "was connected; raise degree",
        ),
        (
            "erdos-renyi",
            30,
            {"probability": 0.001},
            "topology 'erdos-renyi' with probability = 0.001 on 30 agents: none of 100 "
            "draws was connected; raise probability",
        ),
        (
            "erdos-renyi",
            30,
            {"probability": 1e-300},
            "topology 'erdos-renyi' with probability = 1e-300 on 30 agents: none of "
            "100 draws was connected; raise probability",
        ),
        (
            "grid",
            4,
            {"rows": 10**5000},
            "[network] rows = a number of thousands of digits does not divide the 4 "
            "agents; expected one of 1, 2, 4, or another number of ranks",
        ),
        (
            "random-regular",
            4,
            {"degree": 10**30},
            f"[network] degree = {10**30} needs more than {10**30} agents, and there "
            "are 4; lower degree or start more ranks",
        ),
        (
            "complete",
            100_000,
            {},
            "topology 'complete' on 100,000 agents has 4,999,950,000 edges, and more "
            "than 20,000,000 are not made here; take one with fewer, such as "
            "'exponential'",
        ),
        (
            "random-regular",
            100_000,
            {"degree": 5000},
            "topology 'random-regular' on 100,000 agents has 250,000,000 edges, and "
            "more than 20,000,000 are not made here; take one with fewer, such as "
            "'exponential'",
        ),
        (
            "erdos-renyi",
            100_000,
            {"probability": 0.5},
            "topology 'erdos-renyi' on 100,000 agents has 2,499,975,000 edges, and "
            "more than 20,000,000 are not made here; take one with fewer, such as "
            "'exponential'",
        ),
    ],
)
def test_wrong_sizes_are_refused(
    name: str, m: int, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError) as error:
        draw(name, m, **options)
    assert str(error.value) == message


def test_tables_and_neighbourhood_import_nothing_heavy() -> None:
    code = (
        "import sys, pmgt_mpi.graphs, pmgt_mpi.graphs.neighbourhood\n"
        "sys.exit(bool({'scipy', 'networkx'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_named_graph_without_chance_needs_numpy_alone(weights: str) -> None:
    code = (
        "import sys, numpy as np\n"
        "from pmgt_mpi.graphs.build import build_network\n"
        "from pmgt_mpi.graphs.placement import place\n"
        "network = build_network(\n"
        "    6, np.random.default_rng(1), topology='torus', weights=sys.argv[1]\n"
        ")\n"
        "place(network, ['here'] * 6, 'auto')\n"
        "network.neighbourhood(0)\n"
        "sys.exit(bool({'scipy', 'networkx'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, weights]
    assert subprocess.run(command, timeout=60).returncode == 0
