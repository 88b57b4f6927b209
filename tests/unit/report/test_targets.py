"""The cost to reach a target: of the first record below it, digit by digit."""

from __future__ import annotations

import csv
import io

import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.runs import COSTS, read_run
from pmgt_mpi.pictures.curves import curves_of
from pmgt_mpi.report.formats import FORMATS, latex_text
from pmgt_mpi.report.targets import best, reached, require_reached, targets
from tests.support.run_folders import trace, write_run


@pytest.fixture
def curves_from(tmp_path):
    def made(*traces, **options):
        return curves_of([read_run(write_run(tmp_path / "run", *traces, **options))])

    return made


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0], [1e-2]),
        ([1.0, 0.011], [1e-2]),
        ([1.0, 1e-4], [1e-2, 1e-4]),
        ([1.0, 1.01e-6], [1e-2, 1e-4]),
        ([1.0, 9.9e-7, 1.0], [1e-2, 1e-4, 1e-6]),
        ([1.0, 0.0], [float(f"1e-{k}") for k in range(2, 17, 2)]),
        ([1.0, -1e-18], [float(f"1e-{k}") for k in range(2, 17, 2)]),
        ([1.0, 1e30, None], [1e-2]),
    ],
)
def test_targets_go_as_far_as_the_best_algorithm(curves_from, values, expected):
    assert targets(curves_from(trace("one", values))) == expected


def test_the_first_record_at_or_below_the_target(curves_from):
    one = trace("one", [1.0, 1e-2, 0.5, 1e-5])
    two = trace("two", [1.0, 0.02, None])
    rows = reached(curves_from(one, two))
    assert [(row.target, row.curve.name, row.record) for row in rows] == [
        (1e-2, "one", one[1]),
        (1e-2, "two", None),
        (1e-4, "one", one[3]),
        (1e-4, "two", None),
    ]
    assert best(rows, 1e-2, "rounds") == one[1]["rounds"]


def test_nobody_is_best_alone_or_where_nobody_arrives(curves_from):
    rows = reached(curves_from(trace("one", [1.0, 1e-3])))
    assert best(rows, 1e-2, "rounds") is None


def test_without_a_minimiser_there_is_no_table(curves_from):
    curves = curves_from(trace("one", [None, None]))
    assert reached(curves) == []
    with pytest.raises(UserError, match=r"run with evaluate.reference = true"):
        require_reached(curves)


def test_csv_has_every_digit(curves_from):
    one = trace("one", [1.0, 1e-3])
    rows = reached(curves_from(one, trace("two, or so", [1.0])))
    table = list(csv.DictReader(io.StringIO(FORMATS["csv"](rows))))
    assert [row["algorithm"] for row in table] == ["one", "two, or so"]
    assert table[0]["target"] == "1e-2"
    assert table[0]["run"].endswith("/run")
    assert table[0]["steps"] == "1"
    for name in COSTS:
        assert float(table[0][name]) == one[1][name]
        assert table[1][name] == ""


def test_markdown_and_latex_letter_by_letter(curves_from):
    rows = reached(
        curves_from(
            trace("a_b|c", [1.0, 1e-3]), trace("two", [1.0, 0.5, 1e-2]),
            trace("bad", [1.0, None]), statuses={"bad": "diverged"},
        )
    )  # fmt: skip
    assert FORMATS["markdown"](rows).splitlines() == [
        "| target | algorithm | status   | steps | gradients | rounds | messages |"
        "     bytes |   seconds |",
        "| -----: | --------- | -------- | ----: | --------: | -----: | -------: |"
        " --------: | --------: |",
        "|   1e-2 | a\\_b\\|c   | budget   |     1 |   **201** |  **4** |   **32** |"
        " **2,048** | **0.433** |",
        "|   1e-2 | two       | budget   |     2 |       302 |      7 |       56 |"
        "     3,584 |     0.767 |",
        "|   1e-2 | bad       | diverged |     – |         – |      – |        – |"
        "         – |         – |",
    ]
    latex = FORMATS["latex"](rows).splitlines()
    assert latex[1] == r"\begin{tabular}{rllrrrrrr}"
    assert latex[5] == (
        r"$10^{-2}$ & a\_b\textbar{}c & budget & 1 & \textbf{201} & \textbf{4} & "
        r"\textbf{32} & \textbf{2,048} & \textbf{0.433} \\"
    )
    assert latex[-1] == r"\end{tabular}"


def test_latex_prints_what_it_would_obey():
    assert latex_text(r"50% of $x_1^2 & \y~{z} #1 · two") == (
        r"50\% of \$x\_1\textasciicircum{}2 \& \textbackslash{}y\textasciitilde{}"
        r"\{z\} \#1 $\cdot$ two"
    )
