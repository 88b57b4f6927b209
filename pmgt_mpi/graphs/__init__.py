"""Topologies, gossip weights and the spectrum: what agent 0 builds at set-up."""

from __future__ import annotations

from pmgt_mpi.registry import Registry

TOPOLOGIES = Registry(
    "graph",
    {
        "ring": "pmgt_mpi.graphs.topologies:ring",
        "path": "pmgt_mpi.graphs.topologies:path",
        "star": "pmgt_mpi.graphs.topologies:star",
        "complete": "pmgt_mpi.graphs.topologies:complete",
        "grid": "pmgt_mpi.graphs.topologies:grid",
        "torus": "pmgt_mpi.graphs.topologies:torus",
        "hypercube": "pmgt_mpi.graphs.topologies:hypercube",
        "exponential": "pmgt_mpi.graphs.topologies:exponential",
        "erdos-renyi": "pmgt_mpi.graphs.topologies:erdos_renyi",
        "random-regular": "pmgt_mpi.graphs.topologies:random_regular",
        "two-neighbours": "pmgt_mpi.graphs.topologies:two_neighbours",
        "random-two-out": "pmgt_mpi.graphs.topologies:random_two_out",
    },
)
"""Functions ``(m, rng, *, options…) -> Graph`` on the agents 0 … m − 1."""

WEIGHTS = Registry(
    "weights",
    {
        "laplacian": "pmgt_mpi.graphs.weights:laplacian",
        "metropolis": "pmgt_mpi.graphs.weights:metropolis",
        "best-constant": "pmgt_mpi.graphs.weights:best_constant",
    },
)
"""Functions ``(L: Laplacian) -> (W, extremes of W)``."""
