"""Groups of runs and the tables that tell of them."""

from __future__ import annotations

import csv

import pytest

from pmgt_mpi.output.study import comparisons, groups_of
from pmgt_mpi.output.study_tables import FORMATS, as_csv, as_text, runs_csv
from pmgt_mpi.output.table import short

ASKED = {
    "config": {
        "stop": {"relative_suboptimality": 1e-6},
        "algorithm": [{"label": "a"}, {"label": "b_&"}],
    }
}


def run(label, draw, cost, status="converged", **more):
    end = {
        "step": 3, "gradients": cost, "gradients_paper": cost / 2, "rounds": 10 * draw,
        "messages": 4, "bytes": 8, "seconds": 0.5, "objective": 1.0,
        "relative_suboptimality": 1e-7, "consensus": 0.0,
    }  # fmt: skip
    named = {"algorithm": label, "draw": draw, "stream": None, "seed": draw, "cell": {}}
    return {**named, "status": status, "setup": "s", "end": end, **more}


def study(times=3.0, draws=6, **more):
    one = [run("a", k, 100.0 + k) for k in range(1, draws + 1)]
    other = [run("b_&", k, times * (100.0 + k), **more) for k in range(1, draws + 1)]
    return [*other, *one]


def test_groups_are_in_the_order_of_the_config_and_hold_their_runs():
    groups = groups_of(study(), ASKED)
    assert [(group.label, len(group.runs)) for group in groups] == [
        ("a", 6),
        ("b_&", 6),
    ]
    assert groups[0].spread("gradients").median == 103.5
    assert groups[0].reached == "6 of 6"


def test_a_run_that_has_not_reached_the_goal_has_no_cost():
    runs = study()
    for bad, status in zip(runs, ("budget", "diverged", "failed"), strict=False):
        bad["status"] = status
    del runs[2]["end"]
    groups = groups_of(runs, ASKED)
    assert groups[1].reached == "3 of 6, 1 diverged, 1 failed"
    assert groups[1].spread("gradients").high == float("inf")
    (compared,) = comparisons(groups)
    assert compared.ratios["gradients"].missing == 3
    assert compared.ratios["gradients"].interval is None
    assert "3 draws missing" in as_text(groups)
    free = {"config": {**ASKED["config"], "stop": {}}}
    assert groups_of(runs, free)[1].cost(runs[0], "gradients") == 303.0


def test_ratios_are_paired_by_draw():
    (compared,) = comparisons(groups_of(study(), ASKED))
    found = compared.ratios["gradients"]
    assert found.mean == pytest.approx(3.0)
    assert found.interval == pytest.approx((3.0, 3.0))
    assert found.verdict == "more"


def test_draws_with_the_same_rows_network_and_seed_are_one():
    runs = study()
    for one in runs:
        one["seed"] = 1
    (compared,) = comparisons(groups_of(runs, ASKED))
    assert compared.ratios["gradients"].draws == 1
    text = as_text(groups_of(runs, ASKED))
    assert "no verdict from 1 independent draw, as 6 are needed" in text


def test_streams_of_a_draw_are_no_draws():
    runs = [
        {**one, "stream": k, "seed": k, "setup": str(one["draw"])}
        for one in study(draws=5)
        for k in (1, 2)
    ]
    (compared,) = comparisons(groups_of(runs, ASKED))
    assert compared.ratios["gradients"].draws == 5
    assert compared.ratios["gradients"].interval is None


def test_the_grid_is_told_and_ratios_are_within_a_cell():
    runs = [
        {**one, "cell": {"mixing.rounds": M}, "draw": one["draw"]}
        for M, times in ((2, 3.0), (4, 0.5))
        for one in study(times)
    ]
    groups = groups_of(runs, ASKED)
    assert [group.cell["mixing.rounds"] for group in groups] == [2, 2, 4, 4]
    verdicts = [one.ratios["gradients"].verdict for one in comparisons(groups)]
    assert verdicts == ["more", "less"]
    assert as_text(groups).splitlines()[1].split()[:3] == [
        "algorithm", "mixing.rounds", "reached",
    ]  # fmt: skip


def test_csv_has_every_digit():
    groups = groups_of(study(times=1 / 3), ASKED)
    rows = list(csv.DictReader(runs_csv(groups).splitlines()))
    assert len(rows) == 12
    assert float(rows[6]["gradients"]) == 101 / 3
    first = next(csv.DictReader(as_csv(groups).splitlines()))
    assert (first["gradients_median"], first["runs"]) == ("103.5", "6")


@pytest.mark.parametrize("shown", FORMATS)
def test_every_format_tells_of_every_algorithm(shown):
    text = FORMATS[shown](groups_of(study(), ASKED))
    name = {"latex": r"b\_\&", "markdown": r"b\_\&"}.get(shown, "b_&")
    assert name in text
    assert "10" in text


def test_latex_has_as_many_cells_in_every_line():
    lines = FORMATS["latex"](groups_of(study(), ASKED)).splitlines()
    cells = [line.replace(r"\&", "").count("&") for line in lines if line[-2:] == r"\\"]
    assert cells == [5, 5, 5, 3, 3]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.12345, "0.123"), (999.6, "1k"), (7_272_450, "7.27M"),
     (float("inf"), "–"), (None, "–"), (1e13, "10T")],
)  # fmt: skip
def test_numbers_have_three_digits(value, text):
    assert short(value) == text
