"""Following a run that another thread writes, line by line."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from pmgt_mpi.report.__main__ import main
from pmgt_mpi.report.write import write_report
from tests.support.run_folders import trace, write_run

EVERY = 0.05


@pytest.fixture
def pages(monkeypatch):
    """What is drawn: for each page the number of records, and its refresh."""
    drawn = []

    def write(runs, out, refresh=None):
        page = write_report(runs, out, refresh)
        (run,) = runs
        text = page.read_text(encoding="utf-8")
        drawn.append((len(run.traces["one"]), 'http-equiv="refresh"' in text))
        return page

    monkeypatch.setattr("pmgt_mpi.report.write.write_report", write)
    monkeypatch.setattr("pmgt_mpi.report.write.SHARE", 10)  # do not spare the cores
    return drawn


def wait_for(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_draws_what_is_new_until_the_run_ends(tmp_path, pages, capsys):
    values = [1.0, 0.1, 0.01]
    whole = write_run(tmp_path / "whole", trace("one", values))
    lines = (whole / "metrics.jsonl").read_text().splitlines(keepends=True)
    path = write_run(tmp_path / "run", [], ended=False)
    failures = []

    def the_run():
        try:
            time.sleep(4 * EVERY)  # no record yet: it waits
            with (path / "metrics.jsonl").open("a") as file:
                for number, line in enumerate(lines[:2], 1):
                    file.write(line + lines[2][:10] * (number == 2))
                    file.flush()
                    wait_for(lambda n=number: pages and pages[-1][0] == n)
                file.write(lines[2][10:])
            for name in ("ranks.csv", "summary.json"):
                shutil.copy(whole / name, path / name)
        except AssertionError as error:
            failures.append(error)

    thread = threading.Thread(target=the_run)
    thread.start()
    out = tmp_path / "out"
    arguments = [str(path), "--follow", "--every", str(EVERY), "--out", str(out)]
    assert main(arguments) == 0
    thread.join()
    assert not failures
    assert pages[0] == (1, True)
    assert pages[1] == (2, True)
    assert pages[-1] == (3, False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"waiting: {path}: metrics.jsonl is empty")
    assert lines[1] == (
        f"report: {out}/report.html (drawn again until the run ends; Ctrl-C stops)"
    )
    assert lines[2:] == [f"report: {out}/report.html"]


def test_a_run_that_has_ended_is_drawn_once(tmp_path, pages):
    path = write_run(tmp_path / "run", trace("one", [1.0]))
    assert main([str(path), "--follow"]) == 0
    assert pages == [(1, False)]


@pytest.mark.parametrize("values", [[1.0], []])
def test_it_does_not_wait_for_a_run_that_was_killed(tmp_path, capsys, values):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here = [socket.gethostname()] * 4
    path = write_run(
        tmp_path / "run", trace("one", values), ended=False, hosts=here, pid=gone.pid
    )
    code = main([str(path), "--follow", "--every", str(EVERY)])
    words = capsys.readouterr()
    if values:
        assert code == 0
        assert f"note: {path} ended without a summary: it was killed" in words.out
        text = (path / "report" / "report.html").read_text("utf-8")
        assert "ended without a summary (killed?)" in text
    else:
        assert code == 2
        assert "metrics.jsonl is empty" in words.err


def test_a_folder_that_breaks_meanwhile_ends_it(tmp_path, capsys):
    path = write_run(tmp_path / "run", trace("one", [1.0]), ended=False)
    meta = json.loads((path / "meta.json").read_text())
    (path / "meta.json").write_text(json.dumps(meta)[:-5])
    assert main([str(path), "--follow", "--every", str(EVERY)]) == 2
    assert "meta.json is broken" in capsys.readouterr().err
