from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.given_graph import check_size, read_graph, simple_graph


def edges(graph: nx.Graph) -> set[tuple[int, int]]:
    return {(min(e), max(e)) for e in graph.edges()}


def written(folder: Path, text: str, name: str = "graph.edgelist") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as error:
        read_graph(path)
    return str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1 2\n",
        "2 1\n1 0\n0 1\n",
        "# source, target\n0,1\n\n1 ,2  # last\n",
        "0 1 {'weight': 2.0}\n1 2 {}\n",
        "0\t1\t0.5\n1\t2\t0.5",
        "10 20\n30 20\n",
        "9 10\n10 11\n",
        "ann bob\nbob cy\n",
        "-5 3\n3 100\n",
    ],
)
def test_an_edge_list_becomes_agents_in_sorted_order(tmp_path: Path, text: str) -> None:
    graph = read_graph(written(tmp_path, text))
    assert list(graph) == [0, 1, 2]
    assert edges(graph) == {(0, 1), (1, 2)}


def test_integers_are_sorted_as_numbers_and_other_names_as_text(tmp_path: Path) -> None:
    # As numbers 2 < 10; as text n10 < n2.
    assert edges(read_graph(written(tmp_path, "10 2\n10 11"))) == {(0, 1), (1, 2)}
    assert edges(read_graph(written(tmp_path, "n10 n2\nn10 n11"))) == {(0, 2), (0, 1)}
    assert edges(read_graph(written(tmp_path, "1 01\n1 2"))) == {(0, 1), (1, 2)}


def test_graphml_round_trip(tmp_path: Path) -> None:
    graph = nx.random_regular_graph(3, 14, seed=1)
    path = tmp_path / "graph.graphml"
    nx.write_graphml(graph, path)
    assert edges(read_graph(path)) == edges(graph)
    path = tmp_path / "parallel.GraphML"
    nx.write_graphml(nx.MultiGraph([(0, 1), (0, 1), (1, 2)]), path)
    assert edges(read_graph(path)) == {(0, 1), (1, 2)}
    assert type(read_graph(path)) is nx.Graph


def test_one_node_is_a_graph() -> None:
    assert list(simple_graph(nx.empty_graph(["only"]), "G")) == [0]


def test_a_python_graph_is_renamed_and_left_as_it_is() -> None:
    lattice = nx.grid_2d_graph(2, 11)  # (0, 2) before (0, 10): not as text
    simple = simple_graph(lattice, "G")
    assert edges(simple) == edges(nx.convert_node_labels_to_integers(lattice))
    assert (0, 0) in lattice
    mixed = simple_graph(nx.Graph([("a", 1), ("a", (2, 3))]), "G")
    assert edges(mixed) == {(1, 2), (0, 2)}  # as text: "(2, 3)", "1", "a"


def test_wrong_edge_lists_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "0 1\n\n2\n")
    assert refusal(path) == (
        f"{path}: line 3: expected two node names, found only '2'; write one edge a "
        "line, such as '0 1'"
    )
    path = written(tmp_path, "0 1\n1 1\n")
    assert refusal(path) == (
        f"{path}: line 2: edge from '1' to itself; remove it, as an agent's own weight "
        "W_ii comes from `weights`"
    )
    path = written(tmp_path, "# nothing\n\n")
    assert refusal(path) == (
        f"{path}: the graph has no nodes; expected one for each agent"
    )
    path.write_bytes(b"\xff\xfe\x00 1")
    assert refusal(path) == f"{path}: not a text file; expected UTF-8 text"
    path = tmp_path / "nowhere.edgelist"
    assert refusal(path) == (
        f"{path}: cannot be read: No such file or directory; check the path in "
        "[network]"
    )


def test_wrong_graphml_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "<graphml>\n<graph", "broken.graphml")
    assert refusal(path) == (
        f"{path}: not well-formed XML (unclosed token: line 2, column 0); expected a "
        "GraphML file"
    )
    path = written(tmp_path, "<svg/>", "picture.xml")
    assert refusal(path).startswith(f"{path}: not a GraphML graph (")
    path = tmp_path / "directed.graphml"
    nx.write_graphml(nx.DiGraph([(0, 1)]), path)
    assert refusal(path) == (
        f"{path}: the graph is directed, but messages go both ways along an edge; give "
        'an undirected graph (in GraphML: edgedefault="undirected")'
    )
    path = tmp_path / "loop.graphml"
    nx.write_graphml(nx.Graph([(0, 1), (1, 1)]), path)
    assert refusal(path) == (
        f"{path}: edge from '1' to itself; remove it, as an agent's own weight W_ii "
        "comes from `weights`"
    )
    path = tmp_path / "nowhere.graphml"
    assert "cannot be read: No such file" in refusal(path)


GRAPHML = """<?xml version="1.0" encoding="{encoding}"?>
{before}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="weight" attr.type="long"/>
<key id="d0" for="edge" attr.name="{text}" attr.type="{text}"/>
<graph edgedefault="undirected">
<node id="0"><data key="d0">{text}</data></node><node id="1"/>
<edge source="0" target="1"{edge}/>{more}</graph></graphml>
"""


def graphml(folder: Path, **changes: str) -> Path:
    usual = {"encoding": "utf-8", "before": "", "text": "", "edge": "", "more": ""}
    return written(folder, GRAPHML.format(**{**usual, **changes}), "g.graphml")


@pytest.mark.parametrize(
    "encoding", ["utf-nan8", "rot13", "hex", "utf-7", "undefined", "idna", "big5"]
)
def test_an_encoding_that_cannot_be_read_is_refused(
    tmp_path: Path, encoding: str
) -> None:
    path = graphml(tmp_path, encoding=encoding)
    assert refusal(path).startswith(f"{path}: cannot be decoded (")
    assert refusal(path).endswith("); save it as UTF-8")


@pytest.mark.parametrize("encoding", ["utf-8", "US-ASCII", "ISO-8859-1", "cp1252"])
def test_other_encodings_are_read(tmp_path: Path, encoding: str) -> None:
    assert edges(read_graph(graphml(tmp_path, encoding=encoding))) == {(0, 1)}


def test_attributes_of_nodes_and_edges_are_passed_over(tmp_path: Path) -> None:
    for text in ("", "9" * 5000, "nothing that is a number"):
        assert edges(read_graph(graphml(tmp_path, text=text))) == {(0, 1)}


def test_depth_does_not_matter(tmp_path: Path) -> None:
    deep = "<a>" * 200_000 + "</a>" * 200_000
    assert edges(read_graph(graphml(tmp_path, more=deep))) == {(0, 1)}


LAUGHS = "<!DOCTYPE graphml [\n<!ENTITY a0 'ha'>\n" + "\n".join(
    f"<!ENTITY a{k} '{f'&a{k - 1};' * 10}'>" for k in range(1, 12)
)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"before": f"{LAUGHS}]>", "text": "&a11;"},
            "it declares the entity 'a0'",
        ),
        ({"more": '<node id="0"/>'}, "it has the node '0' twice"),
        ({"more": "<node/>"}, "it has <node> without id"),
        ({"more": '<edge source="0"/>'}, "it has <edge> without source and target"),
        ({"more": "<hyperedge/>"}, "it has <hyperedge> where none can be"),
        (
            {"more": '<node id="2"><graph/></node>'},
            "it has a second graph, or one inside of a node",
        ),
    ],
)
def test_what_no_simple_graph_has_is_refused(
    tmp_path: Path, changes: dict[str, str], said: str
) -> None:
    path = graphml(tmp_path, **changes)
    assert refusal(path) == (
        f"{path}: not a GraphML graph ({said}); write it with networkx.write_graphml, "
        "or give an edge list"
    )
    path = written(tmp_path, "<graphml/>", "empty.graphml")
    assert "not a GraphML graph (it has no graph)" in refusal(path)


def test_a_directed_edge_is_refused(tmp_path: Path) -> None:
    assert "is directed" in refusal(graphml(tmp_path, edge=' directed="true"'))


def test_what_a_file_says_is_shortened(tmp_path: Path) -> None:
    digits = "9" * 5000
    for text in (digits, f"{digits} {digits}", f"0 1\n{digits} 2"):
        assert len(refusal(written(tmp_path, text))) < 500
    names = f"{digits} 1\n{digits} 0"
    assert edges(read_graph(written(tmp_path, names))) == {(1, 2), (0, 2)}
    with pytest.raises(UserError, match="is not connected"):
        simple_graph(nx.Graph([(0.5, 1), (float("inf"), 2)]), "G")


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    assert list(read_graph(written(tmp_path, "\ufeff0 1\n1 2\n2 0\n"))) == [0, 1, 2]


def test_a_disconnected_graph_is_refused_naming_its_parts(tmp_path: Path) -> None:
    path = written(tmp_path, "0 1\n1 2\n3 4\n")
    assert refusal(path) == (
        f"{path}: the graph is not connected: its parts are {{0, 1, 2}} and {{3, 4}}; "
        "add edges between them"
    )
    path = written(tmp_path, "a b\nc d\ne f\n")
    assert "its parts are {a, b}, {c, d} and {e, f};" in refusal(path)


def test_long_lists_of_parts_are_shortened() -> None:
    graph = nx.disjoint_union_all([nx.path_graph(2) for _ in range(7)])
    graph = nx.disjoint_union(nx.path_graph(20), graph)
    with pytest.raises(UserError) as error:
        simple_graph(graph, "G")
    assert str(error.value) == (
        "G: the graph is not connected: its parts are {0, 1, 2, 3, 4, 5, … (20 nodes)}"
        ", {20, 21}, {22, 23} and 5 more; add edges between them"
    )


def test_the_size_must_be_that_of_the_world() -> None:
    check_size(nx.path_graph(4), 4, "G")
    with pytest.raises(UserError) as error:
        check_size(nx.path_graph(5), 4, "G")
    assert str(error.value) == (
        "G: the graph has 5 nodes, but the number of agents is 4; start 5 ranks "
        "(mpirun -n 5) or give a graph of 4"
    )
