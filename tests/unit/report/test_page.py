"""The page, and the command that writes it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from pmgt_mpi.report.__main__ import main
from pmgt_mpi.report.sections import RANKS_TOLD
from tests.support.run_folders import trace, write_run

EVIL = '</script><script>alert("x")</script>'


def data_of(page):
    text = page.read_text(encoding="utf-8")
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text)
    return json.loads(found[1])


def cells(page, table):
    """Rows of a table, each cell with its text and its exact number."""
    text = page.read_text(encoding="utf-8")
    body = re.search(rf'<table id="{table}">(.*?)</table>', text, re.DOTALL)[1]
    rows = []
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL):
        found = re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", row, re.DOTALL)
        rows.append(
            [
                (
                    unescape(re.sub("<.*?>", "", word)),
                    re.search('data-value="(.*?)"', a),
                )
                for a, word in found
            ]
        )
    return rows


def make_run(path):
    return write_run(
        path,
        trace("one", [1.0, 0.1, 1e-3]),
        trace(EVIL, [1.0, None]),
        name="small & <b>",
        statuses={"one": "converged", EVIL: "diverged"},
        slow=1,
    )


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "run")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    run = make_run(tmp_path_factory.mktemp("shared") / "run")
    assert main([str(run)]) == 0
    return run / "report" / "report.html"


def test_the_page_holds_every_number_of_metrics_jsonl(page):
    metrics = page.parent.parent / "metrics.jsonl"
    lines = [json.loads(line) for line in metrics.read_text().splitlines()]
    found = [
        {
            "algorithm": curve["algorithm"],
            **dict(zip(curve["columns"], row, strict=True)),
        }
        for curve in data_of(page)["curves"]
        for row in zip(*curve["columns"].values(), strict=True)
    ]
    assert found == lines


def test_tables_of_the_page(page):
    record = trace("one", [1.0, 0.1, 1e-3])[2]
    rows = cells(page, "cost-table")
    assert [word for word, _ in rows[1]] == [
        "≤ 1e-2", "one", "2", "302", "7", "56", "3,584", "0.767",
    ]  # fmt: skip
    keys = ("step", "gradients", "rounds", "messages", "bytes", "seconds")
    exact = [json.loads(value[1]) for _, value in rows[1][2:]]
    assert exact == [record[key] for key in keys]
    assert [word for word, _ in rows[2]] == [EVIL, *["–"] * 6]
    ends = cells(page, "end-table")
    assert [row[1][0] for row in ends[1:]] == ["converged", "diverged"]
    assert cells(page, "parameters")[1][1][0] == "0.123457"


def test_the_page_tells_every_ranks_seconds(page):
    rows = cells(page, "rank-table")
    assert [word for word, _ in rows[0][-1:]] == ["share of communication"]
    told = [[word for word, _ in row] for row in rows[1:] if row[0][0] == "one"]
    assert told[:2] == [
        ["one", "0", "one", "1.000", "3.000", "0.250", "75%"],
        ["one", "1", "one", "3.000", "1.000", "0.250", "25%"],
    ]
    assert [json.loads(value[1]) for _, value in rows[1][3:]] == [1.0, 3.0, 0.25, 0.75]
    assert len(told) == 4


def test_of_many_ranks_those_that_communicate_most_are_told(tmp_path):
    hosts = [f"n{agent}" for agent in range(RANKS_TOLD + 5)]
    run = write_run(tmp_path / "run", trace("one", [1.0]), hosts=hosts, slow=3)
    assert main([str(run)]) == 0
    rows = cells(run / "report" / "report.html", "rank-table")[1:]
    assert len(rows) == RANKS_TOLD
    assert "n3" not in [row[2][0] for row in rows]


def test_the_page_is_whole_and_asks_for_nothing(page):
    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert text.count("<script") == 2
    assert "small &amp; &lt;b&gt;" in text
    assert not re.search(r'(?:src|href)="(?!#)', text)
    assert "default-src 'none'" in text
    assert 'http-equiv="refresh"' not in text
    for words in (
        "λ₂ = 0.5", "Agent 1 on one computes 3.0 times as long", "0123abc", "3.12.1",
        "numpy 2.0.0", "Open MPI v5", "150 to 151", "one (2 ranks), two (2 ranks)",
        "--config &lt;b&gt;.toml", "[run]",
    ):  # fmt: skip
        assert words in text
    assert text.count("<svg role") == 9


def test_several_runs_are_compared(run, tmp_path, monkeypatch):
    other = write_run(tmp_path / "other", trace("one", [1.0, 1e-5]), name="second")
    monkeypatch.chdir(tmp_path)
    assert main([str(run), str(other)]) == 0
    page = tmp_path / "report" / "report.html"
    names = [row[-7][0] for row in cells(page, "cost-table")[1:]]
    assert names == ["one · small & <b>", EVIL, "one · second"] * 2
    words = [[word for word, _ in row] for row in cells(page, "differences")]
    assert ["run.name", "small & <b>", "second"] in words
    for name in ("graph-1-small-b.png", "graph-2-second.svg"):
        assert (tmp_path / "report" / name).exists()


def test_a_run_that_continues_has_a_page(tmp_path, capsys):
    path = write_run(
        tmp_path / "run", trace("one", [1.0, 0.5]), ended=False, coming=("two",)
    )
    assert main([str(path), "--out", str(tmp_path / "out")]) == 0
    page = tmp_path / "out" / "report.html"
    assert capsys.readouterr().out == f"report: {page}\n"
    text = page.read_text(encoding="utf-8")
    assert "still running; still to come: two; " in text
    assert "The time split of each rank is written when a run ends." in text
    assert "λ₂ = 0.5" in text


def test_without_a_minimiser_the_objective_is_shown(tmp_path):
    records = [{**r, "objective": 3.0 - r["step"]} for r in trace("one", [None] * 3)]
    path = write_run(tmp_path / "run", records)
    assert main([str(path)]) == 0
    assert (path / "report" / "objective-rounds.png").exists()
    assert "F* is not known" in (path / "report" / "report.html").read_text("utf-8")


def test_the_table_alone(run, capsys):
    assert main([str(run), "--format", "csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("target,run,algorithm,status,steps,gradients")
    assert len(lines) == 3
    assert not (run / "report").exists()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["{}/none"], "no run folder {}/none; correct the path"),
        (["{}/run", "{}/run/../run"], "{}/run and {}/run/../run are the same run fold"),
        (["{}/empty"], "{}/empty is not a run folder: it has no metrics.jsonl"),
        (
            ["{}/run", "--out", "{}/run/meta.json"],
            "cannot write the report to {}/run/m",
        ),
    ],
)
@pytest.mark.usefixtures("run")
def test_wrong_input(tmp_path, capsys, arguments, expected):
    (tmp_path / "empty").mkdir()
    assert main([word.replace("{}", str(tmp_path)) for word in arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("pmgt_mpi: error: ")
    assert error.count("\n") == 1
    assert expected.replace("{}", str(tmp_path)) in error


@pytest.mark.parametrize(
    "arguments", [["--every", "0"], ["--every", "nan"], ["--follow", "--format", "csv"]]
)
def test_wrong_options(run, arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(run), *arguments])
    assert ended.value.code == 2


def test_the_command_needs_no_mpi_and_says_that_matplotlib_is_missing(run):
    program = (
        "import sys\n"
        "for name in sys.argv[1].split(','): sys.modules[name] = None\n"
        "from pmgt_mpi.report.__main__ import main\n"
        "sys.exit(main(sys.argv[2:]))"
    )

    def without(modules, *arguments):
        command = [sys.executable, "-c", program, modules, str(run), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert without("mpi4py").returncode == 0
    assert without("mpi4py,matplotlib", "--format", "latex").returncode == 0
    refused = without("matplotlib")
    assert refused.returncode == 2
    assert refused.stderr == (
        "pmgt_mpi: error: matplotlib is missing; install it (pip install "
        "'pmgt_mpi[report]'), or take the table alone with --format\n"
    )
