"""Reading GraphML: the nodes and edges of one graph, and nothing else of the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

import networkx as nx

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.textfile import shortened, unreadable

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
"""Later versions append something to it."""


def read_graphml(path: Path) -> nx.Graph:
    """Read the graph of a GraphML file; attributes of nodes and edges are passed over.

    The file is not kept as a tree, so that its depth does not matter, and an entity of
    its own, which stands for any amount of text, is refused.
    """
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler = reader.start
    parser.EntityDeclHandler = reader.entity
    try:
        with path.open("rb") as file:
            parser.ParseFile(file)
        if reader.graph is None:
            raise _NotAGraphError("it has no graph")
    except OSError as error:
        raise unreadable(path, error) from error
    except expat.ExpatError as error:
        raise UserError(
            f"{path}: not well-formed XML ({error}); expected a GraphML file"
        ) from error
    except (LookupError, ValueError) as error:  # of the codec that the file names
        raise UserError(
            f"{path}: cannot be decoded ({shortened(error)}); save it as UTF-8"
        ) from error
    except _NotAGraphError as error:
        raise UserError(
            f"{path}: not a GraphML graph ({error}); write it with "
            "networkx.write_graphml, or give an edge list"
        ) from error
    return reader.graph


class _NotAGraphError(Exception):
    """What is wrong with a file that is XML."""


class _Reader:
    """Told of every element as the parser comes to it.

    Attributes
    ----------
    graph
        As far as it has been read; None before it begins.
    """

    def __init__(self) -> None:
        self.graph: nx.Graph | None = None
        self._inside = False
        self._declared: set[str] = set()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take a node or an edge; pass over what is not GraphML's."""
        namespace, _, name = tag.rpartition(" ")
        if not self._inside and name != "graphml":
            raise _NotAGraphError(f"its first element is {shortened(name)}")
        self._inside = True
        if namespace and not namespace.startswith(NAMESPACE):
            return
        if name == "graph":
            if self.graph is not None:
                raise _NotAGraphError("it has a second graph, or one inside of a node")
            directed = attributes.get("edgedefault") == "directed"
            self.graph = nx.DiGraph() if directed else nx.Graph()
        elif name in ("node", "edge", "hyperedge"):
            self._add(name, attributes)

    def entity(self, name: str, *_: Any) -> None:
        """Refuse an entity, which can make a small file a very large one."""
        raise _NotAGraphError(f"it declares the entity '{shortened(name)}'")

    def _add(self, name: str, attributes: dict[str, str]) -> None:
        if self.graph is None or name == "hyperedge":
            raise _NotAGraphError(f"it has <{name}> where none can be")
        names = ("id",) if name == "node" else ("source", "target")
        ends = [attributes[key] for key in names if key in attributes]
        if len(ends) < len(names):
            raise _NotAGraphError(f"it has <{name}> without {' and '.join(names)}")
        if name == "edge":
            self.graph.add_edge(*ends)
            if attributes.get("directed") == "true" and not self.graph.is_directed():
                self.graph = self.graph.to_directed()
        elif ends[0] in self._declared:
            raise _NotAGraphError(f"it has the node '{shortened(ends[0])}' twice")
        else:
            self._declared.add(ends[0])
            self.graph.add_node(ends[0])
