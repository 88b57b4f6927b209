"""From a section of the config, or from Python objects, to a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.graphs.closed_forms import CLOSED_FORMS
from pmgt_mpi.graphs.network import GossipMatrix, Network
from pmgt_mpi.graphs.spectrum import Extremes
from pmgt_mpi.graphs.topologies import Graph
from pmgt_mpi.graphs.weights import Laplacian

if TYPE_CHECKING:
    import networkx as nx


def build_network(
    m: int,
    rng: np.random.Generator,
    *,
    topology: str | Path | nx.Graph | None = None,
    options: Mapping[str, Any] | None = None,
    weights: str | Path | Any = "laplacian",
) -> Network:
    """Build the network of m agents.

    Parameters
    ----------
    m
        Number of agents.
    rng
        The graph's stream; only the random topologies draw from it.
    topology
        A name in `TOPOLOGIES`, a file (as a `Path`) or a networkx graph. None if the
        graph is that of a given W.
    options
        Options of the named topology.
    weights
        A name in `WEIGHTS`, a file (as a `Path`) or a matrix W.
    """
    graph, known, topology_name = _graph(m, rng, topology, options or {})
    if isinstance(weights, str):
        if graph is None:
            raise UserError(
                f"[network] weights = '{weights}' needs a graph; give topology or file"
            )
        spread = WEIGHTS.load(weights)
        if m == 1:
            W, spectrum = Laplacian(graph).identity_minus(0.0), Extremes(0.0, 0.0)
        else:
            W, spectrum = spread(Laplacian(graph, known))
        weights_name = weights
    else:
        W, spectrum, weights_name = _given_weights(m, graph, weights)
    return Network(
        W=W,
        topology=topology_name,
        weights=weights_name,
        lambda_2=spectrum.largest,
        lambda_min=spectrum.smallest,
    )


def _graph(
    m: int,
    rng: np.random.Generator,
    topology: str | Path | nx.Graph | None,
    options: Mapping[str, Any],
) -> tuple[Graph | None, Extremes | None, str]:
    """Return the graph, what is known of its Laplacian's spectrum, and its name."""
    if topology is None:
        return None, None, "support of W"
    if isinstance(topology, str):
        graph = TOPOLOGIES.load(topology)(m, rng, **options)
        closed_form = CLOSED_FORMS.get(topology) if m > 1 else None
        return graph, closed_form(m, **options) if closed_form else None, topology
    # Only a graph from outside needs networkx, whose import all agents would wait for.
    from pmgt_mpi.graphs.given_graph import check_size, read_graph, simple_graph

    if isinstance(topology, Path):
        graph, where, name = read_graph(topology), str(topology), topology.name
    else:
        where = name = "networkx graph"
        graph = simple_graph(topology, where)
    check_size(graph, m, where)
    return graph, None, name


def _given_weights(
    m: int, graph: Graph | None, weights: Path | Any
) -> tuple[GossipMatrix, Extremes, str]:
    """Return a W from outside after all checks, its spectrum and its name."""
    from pmgt_mpi.graphs.given_graph import simple_graph, support
    from pmgt_mpi.graphs.given_matrix import (
        as_matrix,
        check_edges,
        checked_spectrum,
        checked_symmetric,
        read_matrix,
    )

    if isinstance(weights, Path):
        W, where, name = read_matrix(weights, m), str(weights), weights.name
    else:
        where = name = "W"
        W = as_matrix(weights, m, where)
    W = checked_symmetric(W, where)
    if graph is not None:
        check_edges(W, graph, where)
    simple_graph(support(W), where)
    return GossipMatrix.of(W), checked_spectrum(W, where), name
