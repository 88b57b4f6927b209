"""A graph that comes from outside: read from a file, or handed over in Python."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any
from xml.parsers import expat

import networkx as nx

from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.graphs.spectrum import Matrix
from pmgt_mpi.graphs.textfile import text_lines, unreadable

NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
"""Later versions append something to it."""


def read_graph(path: Path) -> nx.Graph:
    """Read a GraphML file (``.graphml``, ``.xml``) or, under any other name, edges.

    A line of an edge list is two node names with blanks or a comma between; what
    follows them is ignored, as the weights come from `weights`, and so is what follows
    a ``#``. An edge may be named more than once, from either end. The nodes become the
    agents as `simple_graph` says.
    """
    graphml = path.suffix.lower() in {".graphml", ".xml"}
    return simple_graph(read_graphml(path) if graphml else _read_edges(path), str(path))


def _read_edges(path: Path) -> nx.Graph:
    graph = nx.Graph()
    for number, line in text_lines(path):
        names = line.partition("#")[0].replace(",", " ").split()
        if not names:
            continue
        if len(names) == 1:
            raise UserError(
                f"{path}: line {number}: expected two node names, found only "
                f"'{shortened(names[0])}'; write one edge a line, such as '0 1'"
            )
        if names[0] == names[1]:
            raise _self_loop(f"{path}: line {number}", names[0])
        graph.add_edge(names[0], names[1])
    return graph


def simple_graph(graph: nx.Graph, where: str) -> nx.Graph:
    """Check a graph and rename its nodes 0 … m − 1, in sorted order.

    Node names that are all integers, or integers written out, are sorted as numbers,
    others as Python compares them (strings by their letters), and those that cannot be
    compared as strings. So a graph on 0 … m − 1 keeps its names.
    """
    if not len(graph):
        raise UserError(f"{where}: the graph has no nodes; expected one for each agent")
    if graph.is_directed():
        raise UserError(
            f"{where}: the graph is directed, but messages go both ways along an edge; "
            'give an undirected graph (in GraphML: edgedefault="undirected")'
        )
    for node, _ in nx.selfloop_edges(graph):
        raise _self_loop(where, node)
    _check_connected(graph, where)
    agent = {name: i for i, name in enumerate(_sorted(graph))}
    simple = nx.empty_graph(len(agent))
    simple.add_edges_from((agent[u], agent[v]) for u, v in graph.edges())
    return simple


def support(W: Matrix) -> nx.Graph:
    """Return the graph of the off-diagonal nonzeros of a symmetric W."""
    graph = nx.empty_graph(W.shape[0])
    entries = W.tocoo()
    above = entries.row < entries.col
    graph.add_edges_from(
        zip(entries.row[above].tolist(), entries.col[above].tolist(), strict=True)
    )
    return graph


def _self_loop(where: str, node: Hashable) -> UserError:
    return UserError(
        f"{where}: edge from '{shortened(node)}' to itself; remove it, as an agent's "
        "own weight W_ii comes from `weights`"
    )


def _sorted(names: Iterable[Any]) -> list[Any]:
    names = list(names)
    try:
        number = {name: int(name) for name in names}
    except (TypeError, ValueError, OverflowError):  # the last for infinity
        number = {}
    if len(set(number.values())) == len(names):  # '1' and '01' are two names
        return sorted(names, key=number.__getitem__)
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=str)


def _check_connected(graph: nx.Graph, where: str) -> None:
    parts = sorted(
        (_sorted(part) for part in nx.connected_components(graph)),
        key=lambda p: -len(p),
    )
    if len(parts) == 1:
        return
    shown = [_shortened(part) for part in parts[:3]]
    if len(parts) > 3:
        shown.append(f"{len(parts) - 3} more")
    raise UserError(
        f"{where}: the graph is not connected: its parts are "
        f"{', '.join(shown[:-1])} and {shown[-1]}; add edges between them"
    )


def _shortened(part: list[Hashable]) -> str:
    names = [shortened(name, 30) for name in part]
    if len(names) > 8:
        names = [*names[:6], f"… ({len(names)} nodes)"]
    return "{" + ", ".join(names) + "}"


def check_size(graph: nx.Graph, m: int, where: str) -> None:
    """Refuse a graph of another size than the world."""
    if len(graph) != m:
        raise UserError(
            f"{where}: the graph has {len(graph)} nodes, but the number of agents is "
            f"{m}; start {len(graph)} ranks (mpirun -n {len(graph)}) or give a graph "
            f"of {m}"
        )


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
