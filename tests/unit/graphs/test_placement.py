"""Agents on hosts: few edges cross, every rank has one agent, agent 0 comes first."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs import placement
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.graphs.placement import crossing, place


def network_of(topology, m, seed=1, **options):
    rng = np.random.default_rng(seed)
    return build_network(m, rng, topology=topology, options=options)


def placed(network, hosts, **options):
    """Count the edges that cross, after checks that hold for every placement."""
    agents = place(network, hosts, "auto", **options)
    assert sorted(agents) == list(range(network.agents))
    assert agents[0] == 0
    assert agents == place(network, hosts, "auto", **options), "the same every time"
    by_agent = dict(zip(agents, hosts, strict=True))
    ours = crossing(network, [by_agent[i] for i in range(network.agents)])
    assert ours <= crossing(network, hosts), "never worse than as they are"
    return ours


def least(network, size):
    """The fewest edges between a block of `size` with agent 0 and all others."""
    others = range(1, network.agents)
    return min(
        crossing(network, [i == 0 or i in block for i in range(network.agents)])
        for block in combinations(others, size - 1)
    )


CYCLIC = [f"h{rank % 3}" for rank in range(12)]
"""Ranks dealt to three hosts one by one, as ``--map-by node`` does."""


@pytest.mark.parametrize("topology", ["ring", "two-neighbours"])
def test_a_ring_crosses_once_a_border(topology):
    network = network_of(topology, 12)
    assert placed(network, CYCLIC) == 3
    assert placed(network, [*"aaaaabbbbbcc"]) == 3
    assert crossing(network_of("ring", 12), CYCLIC) == 12


def test_a_path_crosses_once_a_border():
    assert placed(network_of("path", 12), CYCLIC) == 2


def test_a_torus_is_cut_into_rectangles():
    hosts = [f"h{rank % 4}" for rank in range(36)]
    # Squares of 3 × 3, with 12 edges to others each.
    assert placed(network_of("torus", 36), hosts) == 24
    assert placed(network_of("grid", 36), hosts) == 12
    strips = [f"h{rank % 2}" for rank in range(32)]
    assert placed(network_of("torus", 32, rows=2), strips, rows=2) == 4


@pytest.mark.parametrize(
    ("topology", "m", "options"),
    [("ring", 9, {}), ("torus", 12, {}), ("grid", 12, {}), ("hypercube", 8, {})],
)
def test_two_hosts_cross_as_little_as_any_placement(topology, m, options):
    network = network_of(topology, m, **options)
    hosts = ["a" if rank % 2 == 0 else "b" for rank in range(m)]
    assert placed(network, hosts) == least(network, hosts.count("a"))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("topology", ["random-regular", "erdos-renyi", "exponential"])
def test_other_graphs_cross_less_than_as_they_come(topology, seed):
    network = network_of(topology, 24, seed)
    hosts = [f"h{rank % 3}" for rank in range(24)]
    assert placed(network, hosts) < 0.9 * crossing(network, hosts)


def test_many_agents_are_placed_in_a_moment():
    network = network_of("random-regular", 4000)
    placed(network, [f"h{rank % 10}" for rank in range(4000)])


def test_one_host_or_none_leaves_everybody_where_they_are():
    network = network_of("two-neighbours", 6)
    assert place(network, ["a"] * 6, "auto") == [*range(6)]
    assert place(network, [*"ababab"], "none") == [*range(6)]
    assert place(network, ["a"] * 6, [0, 5, 1, 4, 2, 3]) == [0, 5, 1, 4, 2, 3]


@pytest.mark.parametrize(
    "wanted",
    [
        [0, 1], [0, 1, 1, 2], [1, 0, 2, 3], [0, 1, 2, 4], [], [0, 1, 2, -1],
        [0, 1, 2, 10**30], [0, 1, 2, 10**5000], [0] * 100_000,
    ],
    ids=range(9),
)  # fmt: skip
def test_a_wrong_list_is_refused(wanted):
    with pytest.raises(
        UserError, match="every id from 0 to 3 once and 0 first"
    ) as error:
        place(network_of("ring", 4), ["a"] * 4, wanted)
    assert len(str(error.value)) < 300


def test_metis_cuts_a_large_graph_better_than_orders_do(monkeypatch):
    pytest.importorskip("pymetis", reason="pymetis is missing: the extra 'metis'")
    monkeypatch.setattr(placement, "REFINED_UP_TO", 0)  # as for a graph that is large
    network = network_of("random-regular", 300, degree=3)
    hosts = [f"h{rank * rank % 5}" for rank in range(300)]  # of different sizes
    with_metis = placed(network, hosts)
    monkeypatch.setitem(sys.modules, "pymetis", None)  # cannot be imported
    assert with_metis < 0.8 * placed(network, hosts)
