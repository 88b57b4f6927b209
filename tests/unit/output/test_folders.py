"""Run folders that are whole, half-written, broken or none at all."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys

import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.runs import EmptyRunError, read_run
from pmgt_mpi.pictures.curves import curves_of
from pmgt_mpi.pictures.pictures import Picture
from pmgt_mpi.pictures.times import ranks_of, straggler
from pmgt_mpi.report.formats import FORMATS
from pmgt_mpi.report.sections import ends_section, graph_section, times_section
from pmgt_mpi.report.targets import reached
from tests.support.run_folders import trace, write_run

PICTURE = Picture("graph", "graph", "a graph", "<svg></svg>")


@pytest.fixture
def whole(tmp_path):
    return write_run(
        tmp_path / "run",
        trace("one", [1.0, 0.1]),
        trace("two", [1.0]),
        statuses={"one": "converged"},
    )


def complaint(path, kind=UserError):
    with pytest.raises(kind) as error:
        read_run(path)
    text = str(error.value)
    assert "\n" not in text
    return text.replace(str(path), "RUN")


def cut(path, end):
    path.write_bytes(path.read_bytes()[:end])


def test_a_whole_folder(whole):
    run = read_run(whole)
    assert run.name == "small"
    assert run.traces == {"one": trace("one", [1.0, 0.1]), "two": trace("two", [1.0])}
    assert run.ended
    assert not run.killed
    assert [run.status(label) for label in run.traces] == ["converged", "budget"]
    assert run.agents == 4
    assert run.edges == [(0, 1), (0, 3), (1, 2), (2, 3)]
    assert [row["agent"] for row in run.ranks] == [0, 1, 2, 3] * 2
    assert run.ranks[0]["host"] == "one"


def test_a_run_that_continues_and_is_writing_a_line(tmp_path):
    path = write_run(
        tmp_path / "run",
        trace("one", [1.0]),
        trace("two", [1.0, 0.5]),
        coming=("three",),
        ended=False,
    )
    cut(path / "metrics.jsonl", -20)
    run = read_run(path)
    assert [len(records) for records in run.traces.values()] == [1, 1]
    assert [run.status(label) for label in run.traces] == ["done", "running"]
    assert run.to_come() == ["three"]
    assert run.ranks == []
    assert not run.ended


def test_a_run_that_was_killed_and_one_that_was_not(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    unasked = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, unasked.pid, os.WEXITED | os.WNOWAIT)
    hosts = [socket.gethostname()] * 4
    for pid, killed in ((gone.pid, True), (unasked.pid, True), (os.getpid(), False)):
        path = write_run(
            tmp_path / str(pid), trace("one", [1.0]), ended=False, hosts=hosts, pid=pid
        )
        run = read_run(path)
        assert run.killed is killed
        assert run.status("one") == ("killed" if killed else "running")
        (path / "summary.json").write_text("written meanwhile")
        assert not run.killed
    unasked.wait()
    far = write_run(tmp_path / "far", trace("one", [1.0]), ended=False, pid=gone.pid)
    assert not read_run(far).killed, "on another host nothing can be said"


def test_an_interrupted_run_tells_of_the_algorithms_that_it_came_to(whole):
    summaries = json.loads((whole / "summary.json").read_text())
    summaries[0]["status"] = "interrupted"
    (whole / "summary.json").write_text(json.dumps(summaries[:1]))
    run = read_run(whole)
    assert [run.status(label) for label in run.traces] == ["interrupted"] * 2


def test_edges_of_folders_that_have_them_in_a_table_only(whole):
    meta = json.loads((whole / "meta.json").read_text())
    del meta["neighbours"]
    (whole / "meta.json").write_text(json.dumps(meta))
    assert read_run(whole).edges is None
    lines = ["algorithm,agent,neighbour", "one,0,2", "one,2,0", "one,3,1", "one,1,3"]
    (whole / "edges.csv").write_text("\n".join(lines))
    assert read_run(whole).edges == [(0, 2), (1, 3)]
    meta["hosts"] = ["alone"]
    (whole / "meta.json").write_text(json.dumps(meta))
    (whole / "edges.csv").unlink()
    assert read_run(whole).edges == []


def test_no_folder_and_no_run_folder(tmp_path):
    assert complaint(tmp_path / "none") == "no run folder RUN; correct the path"
    expected = (
        "RUN is not a run folder: it has no metrics.jsonl; name a folder that "
        "python -m pmgt_mpi.run has made"
    )
    assert complaint(tmp_path) == expected
    (tmp_path / "file").touch()
    assert complaint(tmp_path / "file") == expected


def test_a_run_without_an_evaluation(tmp_path):
    path = write_run(tmp_path / "run", [], ended=False)
    expected = (
        "RUN: metrics.jsonl is empty; the run is still being set up, or it ended "
        "before its first evaluation"
    )
    assert complaint(path, EmptyRunError) == expected
    (path / "metrics.jsonl").write_text('{"algorithm": "on')
    assert complaint(path, EmptyRunError) == expected


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("metrics.jsonl", "{}\n", r"RUN/metrics.jsonl is broken: record 1 lacks 'algo"),
        ("metrics.jsonl", "{\n{}\n", r"metrics.jsonl is broken: line 1: Expecting"),
        ("metrics.jsonl", "{}\n{]\n", r"metrics.jsonl is broken: line 2: Expecting pr"),
        ("metrics.jsonl", "3\n", r"metrics.jsonl is broken: line 1 is not a record"),
        ("metrics.jsonl", b"\xff\n", r"metrics.jsonl is broken: it is not text \(inv"),
        ("meta.json", '{"schema": 1,', r"RUN/meta.json is broken: line 1: Expecting"),
        ("meta.json", "{}", r"meta.json is broken: it lacks 'schema'"),
        ("meta.json", None, r"RUN has no meta.json: the run folder is not whole; copy"),
        ("config.toml", "[run", r"RUN/config.toml is broken: Expected '\]' at"),
        (
            "config.toml",
            f"run.seed = 0x{'f' * 5000}\nalgorithm = []",
            "RUN/config.toml is broken: it holds an integer of more than 64 bits",
        ),
        ("config.toml", None, r"RUN has no config.toml: the run folder is not whole"),
        ("summary.json", "[", r"RUN/summary.json is broken: line 1: Expecting value"),
        ("summary.json", "{}", r"summary.json is broken: the whole: input should"),
        ("summary.json", "[]", r"summary.json is broken: the whole: list should h"),
        ("summary.json", "[{}]", r"summary.json is broken: record 1 lacks 'algorithm'"),
        ("ranks.csv", None, r"RUN has no ranks.csv: the run folder is not whole; copy"),
        ("ranks.csv", "", r"RUN/ranks.csv is broken: it has no rows"),
        ("ranks.csv", "a,b\n1\n", r"ranks.csv is broken: line 2 is cut off or garbled"),
        ("ranks.csv", "a,b\n1,2,3\n", r"ranks.csv is broken: line 2 is cut off or"),
        ("ranks.csv", "a,b\n1,x\n", r"ranks.csv is broken: line 2 is cut off or garb"),
        ("ranks.csv", "a,b\n1,2\n", r"ranks.csv is broken: record 1 lacks 'algorithm'"),
    ],
)  # fmt: skip
def test_broken_files_are_named_with_what_is_wrong(whole, name, content, expected):
    if content is None:
        (whole / name).unlink()
    elif isinstance(content, bytes):
        (whole / name).write_bytes(content)
    else:
        (whole / name).write_text(content)
    text = complaint(whole)
    assert re.search(expected, text), text
    assert "; copy " in text


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("hosts", [], "meta.json is broken: hosts: list should have at least 1 item"),
        ("hosts", "vm", "meta.json is broken: hosts: input should be a valid list"),
        ("pid", -1, "meta.json is broken: pid: input should be greater than or equal"),
        ("pid", 10**30, "meta.json is broken: pid: input should be less than or eq"),
        (
            "network",
            {"lambda_2": "x"},
            "network, lambda_2: input should be a valid num",
        ),
        ("neighbours", [[1, 9]], "an agent has a neighbour that is none of the agents"),
    ],
)
def test_values_of_another_kind(whole, key, value, expected):
    meta = json.loads((whole / "meta.json").read_text())
    (whole / "meta.json").write_text(json.dumps({**meta, key: value}))
    assert expected in complaint(whole)


def test_no_damage_leads_to_a_traceback(whole, tmp_path):
    """Files cut, values exchanged, bytes overwritten: it is read, or it is told."""
    rng = random.Random(1)
    names = ("metrics.jsonl", "meta.json", "config.toml", "summary.json", "ranks.csv")
    wrong = (
        b"null", b'"x"', b"[]", b"{}", b"-1", b"1e999", b"NaN", b"9" * 40, b"9" * 5000,
        b"[" * 100_000, b"nan", b"-inf", b"1e300", b'"' + b"x" * 200_000, b"\0",
    )  # fmt: skip
    outcomes = set()
    for number in range(600):
        path = shutil.copytree(whole, tmp_path / str(number))
        file = path / rng.choice(names)
        content = file.read_bytes()
        spot = rng.choice(list(re.finditer(rb'[\d.]+|"[^"]*"|\[', content)))
        file.write_bytes(
            rng.choice(
                (
                    content[: rng.randrange(len(content))],
                    content[: spot.start()] + rng.choice(wrong) + content[spot.end() :],
                    content[: spot.start()] + rng.randbytes(3) + content[spot.end() :],
                )
            )
        )
        try:
            run = read_run(path)
            curves = curves_of([run])
            FORMATS["csv"](reached(curves))
            ends_section(curves)
            times_section(curves, [])
            for curve in curves:
                assert not (rows := ranks_of(curve)) or straggler(rows) != ""
            graph_section([run], [PICTURE])
            outcomes.add("read")
        except UserError as error:
            outcomes.add("told" if str(path) in str(error) else f"no path: {error}")
    assert outcomes == {"read", "told"}


@pytest.mark.parametrize("name", ["summary.json", "meta.json", "ranks.csv"])
def test_nobody_waits_at_a_pipe(whole, name):
    (whole / name).unlink()
    os.mkfifo(whole / name)
    assert complaint(whole) == f"cannot read RUN/{name}: it is no plain file"


def test_metrics_that_end_before_the_summary_does(whole):
    lines = (whole / "metrics.jsonl").read_text().splitlines(keepends=True)
    for kept, last in ((lines[:1] + lines[2:], "step 0"), (lines[2:], "step none")):
        (whole / "metrics.jsonl").write_text("".join(kept))
        text = complaint(whole)
        assert f"its last record of one is that of {last}, but summary.json" in text


@pytest.mark.parametrize("schema", [1, 99])
def test_a_folder_of_another_version(whole, schema):
    meta = json.loads((whole / "meta.json").read_text())
    (whole / "meta.json").write_text(json.dumps({**meta, "schema": schema}))
    told = f"was written by another version of pmgt_mpi (schema {schema}, and this one"
    assert told in complaint(whole)
