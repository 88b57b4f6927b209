"""Pictures of real runs, measured: nothing in them is covered, cut off or lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from matplotlib.figure import Figure

from pmgt_mpi.output.runs import COSTS, read_run
from pmgt_mpi.pictures import pictures, plot
from pmgt_mpi.pictures.curves import curves_of
from tests.support.covered import faults
from tests.support.running import run_config

EVERY_METHOD = Path(__file__).parents[2] / "configs" / "every-method" / "pca.toml"

SHORT = ("stop.steps=2000", "stop.relative_suboptimality=1e-5", "data.rows=800")


@pytest.fixture
def figures(monkeypatch):
    """Return the figures that are drawn, which are kept."""
    kept = []

    class Kept(Figure):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            kept.append(self)

    monkeypatch.setattr(plot, "Figure", Kept)
    monkeypatch.setattr(pictures, "Figure", Kept)
    return kept


@pytest.mark.parametrize("algorithms", [1, 3, 8, 17])
def test_nothing_is_covered_cut_off_or_lost(tmp_path, figures, algorithms):
    head, *sections = re.split(r"(?m)^(?=\[\[algorithm\]\])", EVERY_METHOD.read_text())
    assert len(sections) > 17
    text = head + "".join(sections[:algorithms])
    run_config(tmp_path, text, set=SHORT).expect(0)
    run = read_run(tmp_path / "out")
    assert len(run.traces) == algorithms
    plot.plot_run(tmp_path / "out")
    pictures.draw_report(tmp_path / "report", [run], curves_of([run]))
    assert len(figures) == 1 + 6 + 1 + algorithms
    assert {number: faults(figure) for number, figure in enumerate(figures)} == {
        number: [] for number in range(len(figures))
    }
    starts = [records[0] for records in run.traces.values()]
    assert {record["step"] for record in starts} == {0}
    panels = [(cost, "relative_suboptimality") for cost, _ in plot.AXES]
    panels += [(cost, "relative_suboptimality") for cost in COSTS]
    panels.append(("rounds", "consensus"))
    axes = [axis for figure in figures[:7] for axis in figure.axes]
    for axis, (cost, measure) in zip(axes, panels, strict=True):
        curves = [x for x in axis.get_lines() if x.get_transform() == axis.transData]
        assert [tuple(line.get_xydata()[0]) for line in curves] == [
            (record[cost], record[measure]) for record in starts
        ]
