"""The pictures of a report: curves and bounds, labels, graphs, bars, files."""

from __future__ import annotations

import itertools
import re

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pmgt_mpi.output.runs import read_run
from pmgt_mpi.pictures.curves import Curve, curves_of, looks, run_names
from pmgt_mpi.pictures.graph import draw_graph, layout
from pmgt_mpi.pictures.labels import label_curves
from pmgt_mpi.pictures.panel import draw_curves
from pmgt_mpi.pictures.pictures import draw_report, inline_svg
from pmgt_mpi.pictures.style import BOUND_DASHES, COLOURS, RC, SHARES
from pmgt_mpi.pictures.times import draw_times, ranks_of, straggler
from tests.support.covered import faults
from tests.support.run_folders import trace, write_run


@pytest.fixture
def axis():
    with rc_context(RC):
        figure = Figure(figsize=(4.8, 3.5), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure.subplots()


def curves_like(traces):
    found = looks(list(traces))
    return [
        Curve(label, label, colour, dashes, records, "budget")
        for (label, records), (colour, dashes) in zip(
            traces.items(), found, strict=True
        )
    ]


def test_an_algorithm_keeps_its_colour_and_dashes_tell_runs_apart():
    found = looks(["a", "b", "a", "a"])
    assert [colour for colour, _ in found] == [COLOURS[k] for k in (0, 1, 0, 0)]
    assert found[0][1] == found[1][1] == ()
    many = looks([str(k) for k in range(3 * len(COLOURS))])
    assert len(set(many)) == len(many)


def test_names_say_which_run_where_that_is_needed(tmp_path):
    paths = [tmp_path / "a" / "x", tmp_path / "b" / "x"]
    write_run(paths[0], trace("nids", [1.0]), trace("svrg", [1.0]), name="A")
    write_run(paths[1], trace("nids", [1.0]), name="B")
    runs = [read_run(path) for path in paths]
    assert [c.name for c in curves_of(runs)] == ["nids · A", "svrg", "nids · B"]
    assert [c.colour for c in curves_of(runs)] == [COLOURS[k] for k in (0, 1, 0)]
    same = write_run(tmp_path / "b" / "y", trace("nids", [1.0]), name="A")
    assert list(run_names([runs[0], read_run(same)]).values()) == ["x", "y"]
    last = write_run(tmp_path / "c" / "x", trace("nids", [1.0]), name="A")
    names = run_names([runs[0], read_run(last)])
    assert list(names.values()) == [str(paths[0]), str(last)]


def test_a_bound_is_dashed_and_on_the_scale_of_the_curve(axis):
    bound = [None, 40.0, 4.0]
    draw_curves(
        axis,
        curves_like({"one": trace("one", [1.0, 0.5, 0.1], theory_bound=bound)}),
        "rounds",
        "relative_suboptimality",
    )
    curve, dashed = axis.get_lines()
    assert curve.get_xydata().tolist() == [[1, 1.0], [4, 0.5], [7, 0.1]]
    assert dashed.get_xydata().tolist() == [[4, 10.0], [7, 1.0]]
    scaled = tuple(length * dashed.get_linewidth() for length in BOUND_DASHES)
    assert dashed._dash_pattern[1] == list(scaled)
    assert dashed.get_color() == curve.get_color()
    assert len(axis.get_legend_handles_labels()[1]) == 1


def test_what_diverges_leaves_the_others_room(axis):
    good = trace("good", [1.0, 1e-3])
    bad = Curve("bad", "bad", "C1", (), trace("bad", [1.0, 1e40]), "diverged")
    curves = [*curves_like({"good": good}), bad]
    draw_curves(axis, curves, "rounds", "relative_suboptimality")
    assert axis.get_ylim()[1] == pytest.approx(100)
    assert len(axis.get_lines()) == 2


def boxes(axis):
    axis.figure.draw_without_rendering()
    return {text.get_text(): text.get_window_extent() for text in axis.texts}


def test_labels_cover_neither_each_other_nor_a_curve(axis):
    steps = 40
    traces = {
        f"method {rate}": trace(f"method {rate}", [rate**k for k in range(steps)])
        for rate in (0.4, 0.6, 0.62, 0.9)
    }
    draw_curves(axis, curves_like(traces), "rounds", "relative_suboptimality")
    assert label_curves(axis.figure, axis)
    found = boxes(axis)
    assert set(found) == set(traces)
    frame = axis.get_window_extent()
    for one, other in itertools.combinations(found.values(), 2):
        assert not one.overlaps(other)
    for label, box in found.items():
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert frame.y0 <= box.y0
        assert box.y1 <= frame.y1
        for line in axis.get_lines():
            if line.get_transform() == axis.transAxes:
                continue  # leads from a curve to its name
            corners = axis.transData.transform(line.get_xydata())
            fine = np.linspace(0, len(corners) - 1, 4000)
            points = np.column_stack(
                [np.interp(fine, np.arange(len(corners)), c) for c in corners.T]
            )
            inside = (points > box.min).all(axis=1) & (points < box.max).all(axis=1)
            assert not inside.any(), f"{line.get_label()} runs through {label}"


def test_labels_give_way_to_a_legend_where_there_is_no_room(axis):
    traces = {
        f"a name that is long {k}": trace(f"a name that is long {k}", [1.0, 0.5])
        for k in range(7)
    }
    draw_curves(axis, curves_like(traces), "rounds", "relative_suboptimality")
    assert not label_curves(axis.figure, axis)
    axis.clear()
    wide = "w" * 200
    draw_curves(
        axis,
        curves_like({wide: trace(wide, [1, 0.5])}),
        "rounds",
        "relative_suboptimality",
    )
    assert not label_curves(axis.figure, axis)
    assert not axis.texts


def test_what_is_covered_cut_off_or_lost_is_found(axis):
    figure = axis.figure
    axis.plot([0, 1, 2], [1, 2, 1], label="curve")
    assert faults(figure) == []
    text = axis.text(0.8, 1.9, "a name")
    assert faults(figure) == ["'a name' covers curve"]
    text.remove()
    axis.legend(loc="upper center")
    assert "the legend covers curve" in faults(figure)
    axis.legend(loc="lower center")
    assert faults(figure) == ["the legend lies on axes"]
    axis.get_legend().remove()
    axis.set_xlim(left=0.5)
    assert faults(figure) == ["curve begins outside of the axes"]
    axis.set_xlim(-1)
    axis.set_title("a title that is far too long for the figure " * 3)
    assert any("is cut off" in fault for fault in faults(figure))


def test_a_title_and_a_legend_of_long_names_are_not_cut_off(tmp_path, monkeypatch):
    kept = []

    class Kept(Figure):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            kept.append(self)

    monkeypatch.setattr("pmgt_mpi.pictures.pictures.Figure", Kept)
    names = ["W" * 70, "a name of many words, which say too much of step sizes", "c"]
    network = {"topology": "a-graph-of-a-file-with-a-long-name" * 2, "lambda_2": 0.5}
    traces = [trace(name, [1.0, 0.5, 0.1]) for name in names]
    run = read_run(write_run(tmp_path / "run", *traces, network=network))
    draw_report(tmp_path, [run], curves_of([run]))
    assert len(kept) == 6 + 1 + 3
    assert [faults(figure) for figure in kept] == [[]] * 10


def test_a_ring_is_drawn_as_one_whatever_the_order_of_its_agents(tmp_path, axis):
    neighbours = [[2, 3], [2, 3], [0, 1], [0, 1]]  # the ring 0 2 1 3
    run = read_run(
        write_run(tmp_path / "run", trace("one", [1.0]), neighbours=neighbours)
    )
    places = layout(run)
    lengths = [np.linalg.norm(places[i] - places[j]) for i, j in run.edges]
    assert lengths == pytest.approx([2**0.5] * 4)
    draw_graph(axis, run)
    (lines,) = [c for c in axis.collections if hasattr(c, "get_segments")]
    assert len(lines.get_segments()) == 4
    assert [text.get_text() for text in axis.texts] == ["0", "1", "2", "3"]
    assert axis.get_title("center") == "ring, 4 agents, λ₂ = 0.5"
    (dots,) = [c for c in axis.collections if c is not lines]
    assert len({tuple(c) for c in dots.get_facecolors()}) == 2, "two hosts"


@pytest.mark.parametrize("m", [1, 2, 5, 120])
def test_graphs_of_any_size(tmp_path, axis, m):
    star = [list(range(1, m))] + [[0]] * (m - 1)
    network = {"topology": "star", "lambda_2": 0.9}
    run = read_run(
        write_run(
            tmp_path / "run", trace("one", [1.0]), hosts=["a"] * m, neighbours=star,
            network=network,
        )
    )  # fmt: skip
    places = layout(run)
    assert places.shape == (m, 2)
    assert np.isfinite(places).all()
    assert np.abs(places).max() <= 1 + 1e-9
    draw_graph(axis, run)
    title = "a single agent" if m == 1 else f"star, {m} agents, λ₂ = 0.9"
    assert axis.get_title("center") == title


def test_bars_are_the_seconds_of_each_rank_and_name_the_straggler(tmp_path, axis):
    run = read_run(write_run(tmp_path / "run", trace("one", [1.0]), slow=2))
    rows = ranks_of(curves_of([run])[0])
    draw_times(axis, rows, "one")
    assert len(axis.containers) == len(SHARES)
    for container, key in zip(
        axis.containers, ("compute", "comm", "evaluation"), strict=True
    ):
        widths = [bar.get_width() for bar in container]
        assert widths == pytest.approx([row[f"{key}_seconds"] for row in rows])
    ends = [bar.get_x() for bar in axis.containers[2]]
    assert ends == [4.0] * 4
    assert straggler(rows) == (
        "Agent 2 on two computes 3.0 times as long as the median rank."
    )
    even = [{**row, "compute_seconds": 1.0} for row in rows]
    assert straggler(even) is None
    tiny = [{**row, "compute_seconds": 1e-3 * row["compute_seconds"]} for row in rows]
    assert straggler(tiny) is None, "nobody waits for a millisecond"


def test_files_and_svg_for_the_page(tmp_path):
    run = read_run(
        write_run(tmp_path / "run", trace("one", [1.0, 0.1]), trace("One!", [1.0, 0.5]))
    )
    first = draw_report(tmp_path, [run], curves_of([run]))
    stems = [picture.stem for picture in first]
    costs = ("gradients", "rounds", "messages", "bytes", "seconds")
    assert stems == [
        *(f"relative-suboptimality-{cost}" for cost in costs),
        "consensus-rounds",
        "graph",
        "times-one",
        "times-one-2",
    ]
    for picture in first:
        png = (tmp_path / f"{picture.stem}.png").read_bytes()
        assert png.startswith(b"\x89PNG")
        svg = (tmp_path / f"{picture.stem}.svg").read_text()
        assert svg.startswith("<?xml")
        assert not re.search(r'\b(?:xlink:)?href="(?!#)', picture.svg)
    again = draw_report(tmp_path, [run], curves_of([run]))
    assert [picture.svg for picture in first] == [picture.svg for picture in again]


def test_svg_in_a_page_has_its_own_ids_and_the_page_s_colours():
    text = (
        '<?xml version="1.0"?>\n<svg width="9pt" height="8pt" viewBox="0 0 9 8">'
        "<metadata>\nx</metadata>"
        '<path id="a" clip-path="url(#a)" style="fill: #ffffff"/>'
        '<use xlink:href="#a"/></svg>'
    )
    assert inline_svg(text, "p") == (
        '<svg viewBox="0 0 9 8"><path id="p.a" clip-path="url(#p.a)" '
        'style="fill: var(--paper)"/><use xlink:href="#p.a"/></svg>'
    )


def test_a_single_agent_has_no_panel_of_messages(tmp_path):
    records = [
        {**r, "rounds": 0, "messages": 0, "bytes": 0, "consensus": 0.0}
        for r in trace("one", [1.0, 0.1])
    ]
    run = read_run(write_run(tmp_path / "run", records, hosts=["a"], neighbours=[[]]))
    pictures = draw_report(tmp_path, [run], curves_of([run]))
    assert [picture.stem for picture in pictures] == [
        "relative-suboptimality-gradients",
        "relative-suboptimality-seconds",
        "graph",
        "times-one",
    ]
