"""The table at the end of a run, letter by letter."""

from __future__ import annotations

import math

from pmgt_mpi.output.table import COLUMNS, summary_table


def summary(label, **changes):
    return {
        "algorithm": label,
        "status": "budget",
        "step": 1234,
        "seconds": 1.005,
        "gradients": 1234567.5,
        "rounds": 12345,
        "messages": 98760,
        "relative_suboptimality": 9.87e-11,
        "consensus": 0.0,
        **changes,
    }


def test_content_and_alignment():
    table = summary_table(
        [
            summary("pmgt-katyushax", status="converged", step=7, seconds=0.001),
            summary("nids", relative_suboptimality=None, consensus=1.5e300),
        ]
    )
    assert table.splitlines() == [
        "algorithm       status     steps  seconds  gradients  rounds  messages"
        "  rel. subopt.  consensus",
        "--------------  ---------  -----  -------  ---------  ------  --------"
        "  ------------  ---------",
        "pmgt-katyushax  converged      7     0.00  1,234,568  12,345    98,760"
        "       9.9e-11    0.0e+00",
        "nids            budget     1,234     1.00  1,234,568  12,345    98,760"
        "             -   1.5e+300",
    ]


def test_columns_are_as_wide_as_their_widest_word():
    for label in ("x", "a label that is rather long"):
        lines = summary_table([summary(label), summary("y")]).splitlines()
        assert len({len(line) for line in lines}) == 1
        assert lines[1].split("  ") == [
            "-" * len(column) for column in lines[1].split("  ")
        ]
        assert lines[2].startswith(f"{label} ")
        for column in COLUMNS:
            assert column in lines[0]


def test_a_diverged_run_has_a_line_too():
    lines = summary_table(
        [summary("nids", relative_suboptimality=math.inf, consensus=math.nan)]
    ).splitlines()
    assert lines[2].split()[-2:] == ["inf", "nan"]
