"""Random topologies, drawn from the graph's own stream until they are connected."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import networkx as nx
import numpy as np

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.links import check_number
from pmgt_mpi.graphs.textfile import shortened
from pmgt_mpi.options import Count, Probability

DRAWS = 100
"""Disconnected graphs drawn before the parameters are refused."""


def erdos_renyi(
    m: int,
    rng: np.random.Generator,
    *,
    probability: Probability | Literal["auto"] = "auto",
) -> nx.Graph:
    """Every pair of agents is linked with the same probability.

    Parameters
    ----------
    m
        Number of agents.
    rng
        The graph's stream.
    probability
        ``auto`` is 2 ln m / m, twice the threshold of connectedness.
    """
    p = min(1.0, 2 * math.log(m) / m) if probability == "auto" else probability
    check_number(p * m * (m - 1) / 2, "erdos-renyi", m)
    least = max(p, 1e-15)  # networkx divides by log(1 − p)
    return _connected(
        lambda: nx.fast_gnp_random_graph(m, least, seed=_seed(rng)),
        f"topology 'erdos-renyi' with probability = {p:.6g} on {m} agents",
        "raise probability",
    )


def random_regular(m: int, rng: np.random.Generator, *, degree: Count = 4) -> nx.Graph:
    """A graph in which all agents have the same number of neighbours.

    Parameters
    ----------
    m
        Number of agents.
    rng
        The graph's stream.
    degree
        Neighbours of an agent: below m, and m · degree even.
    """
    if degree >= m:
        told = shortened(degree)
        raise UserError(
            f"[network] degree = {told} needs more than {told} agents, and there "
            f"{'is 1' if m == 1 else f'are {m}'}; lower degree or start more ranks"
        )
    check_number(m * degree / 2, "random-regular", m)
    if m * degree % 2:
        raise UserError(
            f"[network] degree = {degree} on {m} agents: no such graph exists, as "
            "agents times degree must be even; make one of them even"
        )
    return _connected(
        lambda: nx.random_regular_graph(degree, m, seed=_seed(rng)),
        f"topology 'random-regular' with degree = {degree} on {m} agents",
        "raise degree",
    )


def two_neighbours(m: int, rng: np.random.Generator) -> nx.Graph:
    """A cycle through the agents in random order.

    The paper's "each agent is randomly connected to two neighbours", read as: it has
    two neighbours. λ₂ of `laplacian` weights is then cos²(π/m): 0.9755 at 20 agents,
    0.9698 at 18, the paper's 0.97.
    """
    graph = nx.empty_graph(m)
    if m > 1:
        nx.add_cycle(graph, rng.permutation(m).tolist())
    return graph


def random_two_out(m: int, rng: np.random.Generator) -> nx.Graph:
    """Every agent picks two others, and is linked to them and to those who picked it.

    The other reading of the paper's "each agent is randomly connected to two
    neighbours": the mean degree is about 4, and λ₂ of `laplacian` weights about 0.90
    at 20 agents, not the paper's 0.97.
    """
    if m <= 3:
        return nx.complete_graph(m)
    agents = np.arange(m)

    def draw() -> nx.Graph:
        # Steps ahead on the circle of the others: two different ones of 1 … m − 1.
        first = rng.integers(1, m, size=m)
        second = rng.integers(1, m - 1, size=m)
        second += second >= first
        graph = nx.empty_graph(m)
        for steps in (first, second):
            picked = (agents + steps) % m
            graph.add_edges_from(zip(agents.tolist(), picked.tolist(), strict=True))
        return graph

    return _connected(
        draw, f"topology 'random-two-out' on {m} agents", "change the seed"
    )


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 32))


def _connected(draw: Callable[[], nx.Graph], what: str, remedy: str) -> nx.Graph:
    for _ in range(DRAWS):
        graph = draw()
        if nx.is_connected(graph):
            return graph
    raise UserError(f"{what}: none of {DRAWS} draws was connected; {remedy}")
