"""The folder of a series: what is done stays, what is missing is known."""

from __future__ import annotations

import json

import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.looking import SCHEMA
from pmgt_mpi.output.series import SeriesFolder

HEAD = {"schema": SCHEMA, "asked": {"config": {"stop": {"steps": 5}}, "over": ["a"]}}


def opened(path, head=HEAD):
    return SeriesFolder(path / "out", "study", head)


def begun(path, *keys):
    folder = opened(path)
    for key in keys:
        folder.begin(key, {"algorithm": key})
    folder.close()


def test_results_are_there_again(tmp_path):
    folder = opened(tmp_path)
    folder.begin("one", {})
    folder.end("one", {"status": "converged", "end": {"step": 3, "objective": None}})
    kept = folder.results
    folder.begin("two", {})
    folder.close()
    again = opened(tmp_path)
    assert again.results == kept
    again.close()


def test_what_began_twice_and_never_ended_has_failed(tmp_path):
    begun(tmp_path, "one", "two")
    begun(tmp_path, "two")
    folder = opened(tmp_path)
    assert folder.results == {"two": {"algorithm": "two", "status": "failed"}}
    folder.close()


def test_an_interrupted_run_has_not_failed(tmp_path):
    begun(tmp_path, "one")
    folder = opened(tmp_path)
    folder.begin("one", {})
    folder.interrupt("one")
    folder.close()
    begun(tmp_path, "one")
    folder = opened(tmp_path)
    assert folder.results == {}
    folder.close()


def test_a_line_that_was_cut_off_is_thrown_away(tmp_path):
    begun(tmp_path, "one")
    lines = tmp_path / "out" / "runs.jsonl"
    whole = lines.read_text()
    lines.write_text(whole + '{"end": "one", "resu')
    folder = opened(tmp_path)
    folder.end("one", {"status": "budget"})
    folder.close()
    assert lines.read_text().startswith(whole)
    assert [json.loads(line) for line in lines.read_text().splitlines()][-1] == {
        "end": "one",
        "result": {"status": "budget"},
    }


def test_another_series_is_not_continued(tmp_path):
    begun(tmp_path, "one")
    other = {**HEAD, "asked": {"config": {"stop": {"steps": 6}}, "over": ["a"]}}
    with pytest.raises(UserError, match=r"config\.stop\.steps is 6, and was 5; give"):
        opened(tmp_path, other)
    old = {**HEAD, "schema": SCHEMA - 1}
    (tmp_path / "out" / "study.json").write_text(json.dumps(old))
    with pytest.raises(UserError, match="another version"):
        opened(tmp_path)


def test_more_may_be_told_beside_what_was_asked(tmp_path):
    begun(tmp_path, "one")
    opened(tmp_path, {**HEAD, "seeds": 9}).close()


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="holds no study"):
        opened(tmp_path)


def test_two_jobs_are_not_at_work_in_one_folder(tmp_path):
    folder = opened(tmp_path)
    with pytest.raises(UserError, match="another run is at work"):
        opened(tmp_path)
    folder.close()
