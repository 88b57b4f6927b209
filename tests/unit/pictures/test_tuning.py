"""The picture of a tuning, whatever its trials came to."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from pmgt_mpi.output.tuning import Tuned, trial_rows
from pmgt_mpi.pictures.tuning import cost_told, plot_tuning


def row(trial, cost, rate, **values):
    return {"trial": trial, "cost": cost, "cost_per_e": rate, **values}


def tuned(label, *rows, best=1):
    names = [k for k in rows[0] if k not in ("trial", "cost", "cost_per_e")]
    return Tuned(label, names, list(rows), best)


SOME = tuned(
    "some_$",
    row(0, 200.0, 20.0, step_size=0.1, mix_rounds=2),
    row(1, 100.0, 10.0, step_size=0.2, mix_rounds=3),
    row(2, None, 15.0, step_size=0.3, mix_rounds=1),
    row(3, None, None, step_size=3.0, mix_rounds=1),
)

NONE = tuned("none", row(0, None, None, step_size=1), row(1, None, 5.0, step_size=2))


def test_a_trial_that_was_ended_has_the_cost_of_its_rate():
    told = [cost_told(SOME, one) for one in SOME.rows]
    assert told == [200.0, 100.0, 150.0, None]
    assert [cost_told(NONE, one) for one in NONE.rows] == [None, None]


@pytest.mark.parametrize(
    "shown", [[SOME, NONE], [NONE], [tuned("bare", row(1, 2.0, 1.0))]]
)
def test_there_is_a_picture(tmp_path, shown):
    path = plot_tuning(tmp_path, shown, "gradients + 100*rounds")
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_the_table_has_the_same_columns_for_all():
    rows = trial_rows([SOME, NONE])
    assert len({tuple(one) for one in rows}) == 1
    assert [one["best"] for one in rows] == [0, 1, 0, 0, 0, 1]
    assert (rows[2]["cost"], rows[4]["mix_rounds"]) == ("", "")
