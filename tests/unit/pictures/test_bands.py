"""Bands: quartiles of the cost to reach a level, over runs of which some never do."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from pmgt_mpi.output.study import groups_of
from pmgt_mpi.pictures.bands import bands, cost_to_reach, plot_study

RELATIVE = "relative_suboptimality"


def run(label, draw, rate, last=10, status="converged", cell=None):
    """A run that falls by a factor of e^rate every 100 gradients."""
    steps = range(last + 1)
    trace = {
        "step": list(steps),
        "gradients": [100.0 * k for k in steps],
        "rounds": [3 * k for k in steps],
        "seconds": [0.1 * k for k in steps],
        RELATIVE: [float(np.exp(-rate * k)) for k in steps],
    }
    return {
        "algorithm": label, "draw": draw, "stream": None, "seed": draw,
        "cell": cell or {}, "status": status, "trace": trace,
        "end": {name: column[-1] for name, column in trace.items()},
    }  # fmt: skip


def test_the_cost_of_a_level_is_that_of_its_first_record_or_between_two():
    costs = np.array([0.0, 10.0, 20.0, 30.0])
    values = np.array([1.0, 0.1, 0.01, 0.01])
    levels = np.array([1.0, 0.5, 0.1, 10**-1.5, 0.01, 0.001])
    found = cost_to_reach(costs, values, levels)
    assert found == pytest.approx([0.0, 10.0, 10.0, 15.0, 20.0, np.inf])


def test_the_median_is_that_of_the_costs():
    runs = [run("a", k, rate) for k, rate in enumerate((1.0, 2.0, 4.0))]
    levels, low, median, high = bands(runs, "gradients", RELATIVE)
    beyond = levels <= np.exp(-4.0)  # of the first step nothing is known
    wanted = -100 * np.log(levels[beyond])
    assert median[beyond] == pytest.approx(wanted / 2)
    assert low[beyond] == pytest.approx((wanted / 4 + wanted / 2) / 2)
    assert high[beyond] == pytest.approx((wanted + wanted / 2) / 2)
    assert levels[-1] == pytest.approx(np.exp(-10.0))  # where the last was done


def test_where_half_of_the_runs_end_the_median_does():
    runs = [run("a", 1, 1.0), run("a", 2, 1.0, last=2, status="budget")]
    levels, _, median, _ = bands(runs, "gradients", RELATIVE)
    ended = levels < np.exp(-2.0) * (1 - 1e-9)
    assert np.isinf(median[ended]).all()
    assert np.isfinite(median[~ended]).all()
    failed = {"status": "failed", "cell": {}}
    assert np.isinf(bands([*runs[:1], failed], "rounds", RELATIVE)[2][-1])
    assert bands([failed], "rounds", RELATIVE)[0].size == 0


@pytest.mark.parametrize("cells", [[{}], [{"mixing.rounds": 2}, {"mixing.rounds": 4}]])
def test_there_is_a_picture_for_each_cell(tmp_path, cells):
    asked = {
        "config": {
            "stop": {RELATIVE: 1e-6},
            "algorithm": [{"label": "a"}, {"label": "$b$"}],
        }
    }
    runs = [
        run(label, draw, rate, cell=cell)
        for cell in cells
        for draw in (1, 2, 3)
        for label, rate in (("a", 1.0 + draw), ("$b$", 0.2 * draw))
    ]
    runs[-1]["status"] = "diverged"
    paths = plot_study(tmp_path, groups_of(runs, asked))
    names = ["bands.png"] if len(cells) == 1 else ["bands-1.png", "bands-2.png"]
    assert [path.name for path in paths] == names
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in paths)
