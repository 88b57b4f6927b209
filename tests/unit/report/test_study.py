"""The report of a study."""

from __future__ import annotations

import json

import pytest

from pmgt_mpi.output.looking import SCHEMA
from pmgt_mpi.output.series import SeriesFolder
from pmgt_mpi.report.__main__ import main
from tests.support.run_folders import trace, write_run
from tests.unit.output.test_study import ASKED, study

EVIL = "<script>"


def write_study(path, runs=None):
    """A study folder, written by the code that writes those of studies."""
    config = {**ASKED["config"], "run": {"name": EVIL}}
    asked = {**ASKED, "config": config, "ranks": 4}
    head = {"schema": SCHEMA, "started": "2026-03-04", "asked": asked}
    folder = SeriesFolder(path, "study", head)
    folder.write_text("asked.toml", f"# {EVIL}")
    for number, run in enumerate(study() if runs is None else runs):
        end = run.pop("end")
        run["end"] = {"algorithm": run["algorithm"], **end}
        names = ("step", "gradients", "rounds", "seconds", "relative_suboptimality")
        run["trace"] = {name: [0.0 if name != names[-1] else 1.0, end[name]]
                        for name in names}  # fmt: skip
        folder.end(str(number), run)
    folder.close()
    return path


def test_a_study_is_one_page(tmp_path, capsys):
    pytest.importorskip(
        "matplotlib", reason="matplotlib is missing: the extra 'report'"
    )
    path = write_study(tmp_path / "study")
    assert main([str(path)]) == 0
    assert "report.html" in capsys.readouterr().out
    page = (path / "report" / "report.html").read_text()
    assert page.count("<svg") == 3
    assert "<h1>Study &lt;script&gt;</h1>" in page
    assert "<pre># &lt;script&gt;</pre>" in page
    assert "3 [3, 3] more" in page
    assert "b_&amp;" in page
    assert (path / "report" / "bands-gradients.svg").exists()


@pytest.mark.parametrize("shown", ["csv", "latex", "markdown"])
def test_its_table_is_that_of_a_paper(tmp_path, capsys, shown):
    assert main([str(write_study(tmp_path / "study")), "--format", shown]) == 0
    assert "103.5" in capsys.readouterr().out or shown != "csv"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["run"], "is a study, which is reported by itself"),
        (["--follow"], "is a study, which is reported by itself and without --follow"),
    ],
)
def test_it_is_reported_by_itself(tmp_path, capsys, more, sentence):
    path = write_study(tmp_path / "study")
    write_run(tmp_path / "run", trace("one", [1.0, 0.1]))
    more = [str(tmp_path / "run") if word == "run" else word for word in more]
    assert main([str(path), *more]) == 2
    assert sentence in capsys.readouterr().err


def lines(path, change):
    text = (path / "runs.jsonl").read_text()
    (path / "runs.jsonl").write_text(change(text))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda _: "", "no run of the study has ended yet"),
        (lambda text: "{}\n" + text, "line 1 tells of no run"),
        (lambda text: "[]\n" + text, "line 1 is not a record"),
        (
            lambda text: text.replace('"draw": 1', '"draw": "x"'),
            "draw: input should be",
        ),
        (lambda text: text.replace('"rounds"', '"rouns"'), "lacks 'rounds'"),
    ],
)
def test_what_is_broken_is_told_in_a_sentence(tmp_path, capsys, change, sentence):
    path = write_study(tmp_path / "study")
    lines(path, change)
    assert main([str(path), "--format", "csv"]) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1


def test_a_study_of_another_version_is_refused(tmp_path, capsys):
    path = write_study(tmp_path / "study")
    head = json.loads((path / "study.json").read_text())
    (path / "study.json").write_text(json.dumps({**head, "schema": SCHEMA + 1}))
    assert main([str(path), "--format", "csv"]) == 2
    assert "another version of pmgt_mpi" in capsys.readouterr().err
