"""The gossip graph, drawn with what its spectrum says of it."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from numpy.typing import NDArray

from pmgt_mpi.output.runs import Run
from pmgt_mpi.pictures.style import COLOURS, FAINT, INK, PAPER, plain
from pmgt_mpi.terminal import printable

ROUND = {"complete", "exponential"}
"""Topologies that are the same seen from every agent: a circle shows it."""

SPRINGS = 100
"""Agents above which the forces are only simulated: the exact energy takes long."""

NAMED = 64
"""Agents whose ids are written into their nodes; of more none could be read."""


def layout(run: Run) -> NDArray[Any]:
    """Places of the agents, in a square around the origin; the same every time."""
    m = run.agents
    graph = nx.Graph()
    graph.add_nodes_from(range(m))
    graph.add_edges_from(run.edges or [])
    order = None
    if m > 2 and nx.is_connected(graph) and all(d == 2 for _, d in graph.degree):
        order = list(nx.dfs_preorder_nodes(graph, 0))  # a ring, in any order of agents
    elif m <= 3 or run.meta["network"].get("topology") in ROUND or m > 1000:
        order = list(range(m))
    if order is not None:
        angle = np.pi / 2 - 2 * np.pi * np.argsort(order) / m
        return np.column_stack([np.cos(angle), np.sin(angle)])
    start = nx.circular_layout(graph)
    if m <= SPRINGS:
        found = nx.kamada_kawai_layout(graph, pos=start)
    else:
        found = nx.spring_layout(graph, pos=start, seed=0)
    places = np.array([found[i] for i in range(m)])
    places -= (places.max(axis=0) + places.min(axis=0)) / 2
    return places / np.abs(places).max()  # type: ignore[no-any-return]


def draw_graph(axis: Axes, run: Run) -> None:
    """Draw agents and edges; agents of one host have one colour."""
    places = layout(run)
    m = run.agents
    if run.edges:
        segments = [places[[i, j]] for i, j in run.edges]
        width = float(np.clip(60 / len(segments), 0.3, 1.3))
        axis.add_collection(
            LineCollection(segments, colors=FAINT, linewidths=width, zorder=1)
        )
    hosts = list(dict.fromkeys(run.meta["hosts"]))
    colours = [COLOURS[hosts.index(host) % len(COLOURS)] for host in run.meta["hosts"]]
    size = float(np.clip(9000 / m, 12, 420))
    axis.scatter(
        places[:, 0], places[:, 1], s=size, c=colours, edgecolors=PAPER, zorder=2
    )
    if m <= NAMED:
        font = float(np.clip(0.42 * size**0.5, 5, 9))
        for agent, (x, y) in enumerate(places):
            axis.text(
                x, y, str(agent), ha="center", va="center_baseline", color=PAPER,
                fontsize=font, zorder=3,
            )  # fmt: skip
    axis.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), aspect="equal")
    axis.set_axis_off()
    axis.set_title(plain(graph_title(run)), color=INK, loc="center")


def graph_title(run: Run) -> str:
    """Name, size and λ₂ of a network."""
    network = run.meta["network"]
    lambda_2 = network.get("lambda_2")
    if run.agents == 1:
        return "a single agent"
    topology = printable(network.get("topology") or "graph")
    title = f"{topology}, {run.agents} agents"
    return title if lambda_2 is None else f"{title}, λ₂ = {lambda_2:.4g}"
