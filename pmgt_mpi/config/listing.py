"""All that a config may name, each with one line, from the registries."""

from __future__ import annotations

from pmgt_mpi.algorithms import ALGORITHMS, EIGENVECTORS
from pmgt_mpi.data import PARTITIONS, SCALINGS, SOURCES
from pmgt_mpi.gossip import MIXINGS
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers import REGULARIZERS

CHAPTERS = (
    ("algorithms", "[[algorithm]] name", ALGORITHMS),
    ("eigenvector solvers", "[[algorithm]] name", EIGENVECTORS),
    ("problems", "[problem] kind", PROBLEMS),
    ("regularizers", "[regularizer] kind", REGULARIZERS),
    ("graphs", "[network] topology", TOPOLOGIES),
    ("weights", "[network] weights", WEIGHTS),
    ("mixings", "[mixing] method", MIXINGS),
    ("readers", "[data] source", SOURCES),
    ("partitions", "[data] partition", PARTITIONS),
    ("scalings", "[data] scale", SCALINGS),
)
"""Title, the key of the config that takes these names, and the names.

None of them imports mpi4py: under mpirun one rank alone reads them.
"""


def listing() -> str:
    """Return a paragraph for each registry: its key, then names and first sentences."""
    width = max(len(name) for _, _, registry in CHAPTERS for name in registry)
    paragraphs = []
    for title, key, registry in CHAPTERS:
        lines = [f"{title} ({key})"]
        lines += [f"  {name:<{width}}  {registry.summary(name)}" for name in registry]
        paragraphs.append("\n".join(lines))
    return "\n\n".join(paragraphs) + "\n"
