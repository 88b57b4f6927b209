"""The picture of a run folder: which curves it has, on which axes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from matplotlib.figure import Figure

from pmgt_mpi.pictures import plot
from pmgt_mpi.pictures.panel import spread
from pmgt_mpi.pictures.plot import AXES, plot_run
from pmgt_mpi.pictures.style import COLOURS


@pytest.fixture
def draw(tmp_path, monkeypatch):
    """Draw records and give the axes of the picture."""
    figures = []

    class Kept(Figure):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            figures.append(self)

        def savefig(self, path, **options):
            super().savefig(path, **{**options, "dpi": 20})  # the rest takes long

    monkeypatch.setattr(plot, "Figure", Kept)

    def drawn(records):
        lines = [json.dumps(record) + "\n" for record in records]
        (tmp_path / "metrics.jsonl").write_text("".join(lines))
        path = plot_run(tmp_path)
        assert path == tmp_path / "convergence.png"
        assert path.read_bytes().startswith(b"\x89PNG\r\n")
        return figures[-1].axes

    return drawn


def test_a_link_in_the_place_of_the_picture_is_replaced(draw, tmp_path):
    other = tmp_path / "other.png"
    other.write_text("kept")
    (tmp_path / "convergence.png").symlink_to(other)
    draw(trace("one", [1.0, 0.1]))
    assert other.read_text() == "kept"
    assert not (tmp_path / "convergence.png").is_symlink()
    assert {p.name for p in tmp_path.iterdir()} == {
        "convergence.png", "metrics.jsonl", "other.png"
    }  # fmt: skip


def trace(label, values, *, first=0, objective=None):
    """Records whose costs grow evenly; the first may have cost nothing yet."""
    return [
        {
            "algorithm": label,
            "step": k,
            "gradients": (first + k) * 10,
            "rounds": (first + k) * 3,
            "seconds": (first + k) * 0.5,
            "relative_suboptimality": value,
            "objective": objective[k] if objective else value,
        }
        for k, value in enumerate(values)
    ]


def points(axis):
    return {line.get_label(): line.get_xydata().tolist() for line in axis.get_lines()}


def test_a_curve_for_each_algorithm_against_each_cost(draw):
    axes = draw(trace("one", [1.0, 0.1, 0.01]) + trace("two", [1.0, 0.5]))
    assert [axis.get_xlabel() for axis in axes] == [name for _, name in AXES]
    for axis, scale in zip(axes, (10, 3, 0.5), strict=True):
        assert points(axis) == {
            "one": [[0, 1], [scale, 0.1], [2 * scale, 0.01]],
            "two": [[0, 1], [scale, 0.5]],
        }
        assert axis.get_yscale() == "log"
        assert axis.get_xscale() == "linear"
    assert axes[0].get_ylabel() == "relative suboptimality"
    (legend,) = axes[0].figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]
    assert axes[0].get_lines()[1].get_color() == COLOURS[1]


def test_without_a_minimiser_the_objective_is_drawn_whatever_its_sign(draw):
    values = [2.0, -3.0, -4.0]
    axes = draw(trace("one", [None] * 3, objective=values))
    assert [y for _, y in points(axes[0])["one"]] == values
    assert axes[0].get_yscale() == "linear"
    assert axes[0].get_ylabel() == "objective"


def test_costs_far_apart_are_on_a_logarithmic_axis(draw):
    cheap, dear = trace("cheap", [1.0, 0.1]), trace("dear", [1.0, 0.1], first=999)
    axes = draw(cheap + dear)
    assert axes[0].get_xscale() == "symlog"
    assert points(axes[0]) == {
        "cheap": [[0, 1], [10, 0.1]],
        "dear": [[9990, 1], [10000, 0.1]],
    }
    assert axes[0].get_xticks().tolist() == [0, 10, 100, 1000, 10000]
    axes = draw(trace("cheap", [1.0, 0.1], first=1) + dear)
    assert axes[0].get_xscale() == "log", "nothing is cheaper than a step"


def test_a_single_point_can_be_seen(draw):
    (line,) = draw(trace("one", [1.0]))[0].get_lines()
    assert line.get_marker() == "o"
    (line,) = draw(trace("one", [1.0, 0.5]))[0].get_lines()
    assert line.get_marker() == "None"


def test_a_diverged_algorithm_ends_where_it_has_numbers(draw):
    axes = draw(
        trace("bad", [1.0, 1e200, None], objective=[1.0, 1e200, None])
        + trace("good", [1.0, 0.1])
    )
    assert [y for _, y in points(axes[0])["bad"]] == [1.0, 1e200]
    assert [y for _, y in points(axes[0])["good"]] == [1.0, 0.1]


def test_a_diverged_algorithm_without_a_minimiser(draw):
    axes = draw(trace("bad", [None] * 3, objective=[1.0, 1e300, None]))
    assert [y for _, y in points(axes[0])["bad"]] == [1.0, 1e300]


def test_rounding_errors_below_zero_are_left_out(draw):
    axes = draw(trace("one", [1.0, 1e-17, 0.0, -1e-18]))
    assert [y for _, y in points(axes[0])["one"]] == [1.0, 1e-17]


def test_nothing_to_draw_is_no_reason_to_fail_or_to_warn(draw):
    axes = draw(trace("at the minimiser", [0.0, 0.0]))
    assert points(axes[0]) == {}
    assert not axes[0].figure.legends


def test_more_algorithms_than_colours(draw):
    labels = [f"number {k}" for k in range(len(COLOURS) + 1)]
    axes = draw([record for label in labels for record in trace(label, [1.0, 0.1])])
    colours = [line.get_color() for line in axes[0].get_lines()]
    assert colours == [*COLOURS, COLOURS[0]]


@pytest.mark.parametrize(
    ("costs", "expected"),
    [([], 1), ([0], 1), ([0, 5], 1), ([0, 2, 8, 4], 4), ([3, 1], 3)],
)
def test_spread(costs, expected):
    assert spread(iter(costs)) == expected


def test_a_report_never_imports_mpi():
    program = (
        "import sys, pmgt_mpi.pictures.plot, pmgt_mpi.output.table; "
        "sys.exit('mpi4py' in sys.modules or 'matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
