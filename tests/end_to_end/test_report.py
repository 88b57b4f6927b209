"""Reports of real runs, opened in a real browser."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import sys
import time

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from pmgt_mpi.output.runs import COSTS
from tests.launcher import run, start, start_mpirun
from tests.support.browser import dump_dom, needs_chromium
from tests.support.running import SMALL, Left, run_config

PROBE = r"""
<script>
const text = element => element.textContent.trim();
const panels = [...document.querySelectorAll("figure[data-axes]")];
// Where the first curve's records are, from the data that the page shows its tips with.
const columns = data.curves[0].columns, last = columns.step.length - 1;
function place(figure, record) {
  const axes = JSON.parse(figure.dataset.axes);
  const [left, top_, right, bottom] = axes.frame;
  return [left + part(columns[axes.x.key][record], axes.x) * (right - left),
          bottom - part(columns[axes.y.key][record], axes.y) * (bottom - top_)];
}
function tip(figure, record) {
  const svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
  const scale = box.width / svg.viewBox.baseVal.width, [x, y] = place(figure, record);
  figure.dispatchEvent(new PointerEvent("pointermove", {
    clientX: box.left + scale * x, clientY: box.top + scale * y,
  }));
  return [...figure.querySelectorAll(".tip div")].map(text);
}
function drawn(figure) {  // the first corner of the first curve, as the picture has it
  const curve = figure.querySelector('path[style*="stroke-width: 1.8"][clip-path]');
  return curve.getAttribute("d").match(/^M (\S+) (\S+)/).slice(1).map(Number);
}
const found = {
  data: data,
  costs: [...document.querySelectorAll("#cost-table tbody")].map(group => ({
    target: text(group.querySelector("th[scope=rowgroup]")),
    rows: [...group.rows].map(row => ({
      name: text(row.querySelector("th[scope=row]")),
      words: [...row.querySelectorAll("td")].map(text),
      values: [...row.querySelectorAll("td")].map(
        cell => "value" in cell.dataset ? Number(cell.dataset.value) : null),
    })),
  })),
  ends: [...document.querySelectorAll("#end-table tbody tr")].map(row => text(row)),
  tip: tip(panels[0], last),
  starts: panels.map(figure => ({
    tip: tip(figure, 0), place: place(figure, 0), drawn: drawn(figure),
    axes: JSON.parse(figure.dataset.axes),
  })),
  drawn: [...document.querySelectorAll("figure > svg")].map(
    svg => svg.getBoundingClientRect().height > 50),
  wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  requests: performance.getEntriesByType("resource").map(entry => entry.name),
};
const told = document.createElement("pre");
told.id = "probe";
told.textContent = JSON.stringify(found);
document.body.append(told);
</script>
</body>
"""
"""Says what a reader of the page sees, once its own scripts have run."""


def report(*arguments):
    command = [sys.executable, "-m", "pmgt_mpi.report", *map(str, arguments)]
    return run(command, timeout=120)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run to 1e-4 or better, and what the browser finds in its report."""
    needs_chromium()
    folder = tmp_path_factory.mktemp("run")
    run_config(folder, set=("stop.steps=60",)).expect(0)
    report(folder / "out").expect(0)
    text = (folder / "out" / "report" / "report.html").read_text(encoding="utf-8")
    probed = folder / "probed.html"
    probed.write_text(text.replace("</body>\n", PROBE), encoding="utf-8")
    dom = dump_dom(probed, folder / "profile")
    told = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.DOTALL)
    assert told, "the page's scripts have failed"
    return Left(folder / "out"), json.loads(html.unescape(told[1]))


def test_the_browser_holds_the_very_values_of_metrics_jsonl(finished):
    left, seen = finished
    records = [
        {
            "algorithm": curve["algorithm"],
            **dict(zip(curve["columns"], row, strict=True)),
        }
        for curve in seen["data"]["curves"]
        for row in zip(*curve["columns"].values(), strict=True)
    ]
    assert records == left.metrics
    assert len(records) == 4 * 61


def test_the_table_that_it_shows_is_that_of_the_first_records_below(finished):
    left, seen = finished
    assert [group["target"] for group in seen["costs"]][:2] == ["≤ 1e-2", "≤ 1e-4"]
    for group in seen["costs"]:
        target = float(group["target"].removeprefix("≤ "))
        assert [row["name"] for row in group["rows"]] == list(
            dict.fromkeys(record["algorithm"] for record in left.metrics)
        )
        for row in group["rows"]:
            trace = [r for r in left.metrics if r["algorithm"] == row["name"]]
            below = [r for r in trace if r["relative_suboptimality"] <= target]
            if not below:
                assert row["words"] == ["–"] * 6
                continue
            assert row["values"] == [below[0][key] for key in ("step", *COSTS)]
            assert row["words"][2] == f"{below[0]['rounds']:,}"
    for summary, words in zip(left.summary, seen["ends"], strict=True):
        assert words.startswith(f"{summary['algorithm']}budget60")


def test_pointing_at_a_curve_shows_its_record(finished):
    left, seen = finished
    first = [r for r in left.metrics if r["algorithm"] == "pmgt-katyushax"][-1]
    name, step, gradients, relative = seen["tip"]
    assert (name, step) == ("pmgt-katyushax", "step 60")
    assert gradients == f"component gradients per agent: {first['gradients']:,.0f}"
    told = float(relative.removeprefix("relative suboptimality: "))
    assert told == pytest.approx(first["relative_suboptimality"], rel=1e-3)


def test_every_panel_has_the_start_and_tells_of_it(finished):
    _, seen = finished
    assert len(seen["starts"]) == 6
    assert any("zero_to" in panel["axes"]["x"] for panel in seen["starts"])
    for panel in seen["starts"]:
        assert panel["place"] == pytest.approx(panel["drawn"], abs=0.01)
        assert panel["tip"][:2] == ["pmgt-katyushax", "step 0"]


def test_all_pictures_are_drawn_nothing_is_asked_for_and_nothing_sticks_out(finished):
    _, seen = finished
    assert seen["drawn"] == [True] * 11
    assert seen["requests"] == []
    assert seen["wider"] == 0


def test_a_run_is_followed_to_its_end(tmp_path):
    (tmp_path / "config.toml").write_text(SMALL)
    arguments = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", "out"]
    longer = ["--set", "stop.steps=100000", "--set", "stop.seconds=1"]
    longer += ["--set", "evaluate.every=50"]
    env = {"PMGT_CACHE": str(tmp_path / "cache")}
    with start_mpirun(2, [*arguments, *longer], cwd=tmp_path, env=env) as job:
        metrics = tmp_path / "out" / "metrics.jsonl"
        deadline = time.monotonic() + 60
        while not metrics.exists() or not metrics.stat().st_size:
            assert job.running(), job.wait()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        command = [sys.executable, "-m", "pmgt_mpi.report", "out", "--follow"]
        with start([*command, "--every", "0.2"], cwd=tmp_path) as follower:
            page = tmp_path / "out" / "report" / "report.html"
            while not page.exists():
                assert follower.running(), follower.wait()
                assert time.monotonic() < deadline
                time.sleep(0.02)
            early = page.read_text(encoding="utf-8")
            job.wait(timeout=120).expect(0)
            told = follower.wait(timeout=120).expect(0).stdout
    assert "still running" in early
    assert 'http-equiv="refresh"' in early
    late = page.read_text(encoding="utf-8")
    assert "still running" not in late
    assert 'http-equiv="refresh"' not in late
    assert late.count("<figure") == 11
    assert told.splitlines()[-1] == "report: out/report/report.html"


def test_a_run_that_is_killed_can_be_reported(tmp_path):
    (tmp_path / "config.toml").write_text(SMALL)
    arguments = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", "out"]
    longer = ["--set", "stop.steps=1000000"]
    env = {"PMGT_CACHE": str(tmp_path / "cache")}
    with start_mpirun(2, [*arguments, *longer], cwd=tmp_path, env=env) as job:
        metrics = tmp_path / "out" / "metrics.jsonl"
        deadline = time.monotonic() + 60
        while not metrics.exists() or metrics.stat().st_size < 5000:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        for pid in job.processes():  # a softer end would be an interruption
            os.kill(pid, signal.SIGKILL)
        job.kill()
    result = report(tmp_path / "out", "--format", "csv").expect(0)
    assert ",pmgt-katyushax,killed," in result.stdout
    report(tmp_path / "out", "--follow").expect(0)


def test_what_is_no_run_folder_is_told_without_a_traceback(tmp_path):
    result = report(tmp_path).expect(2)
    assert result.stdout == ""
    assert result.stderr == (
        f"pmgt_mpi: error: {tmp_path} is not a run folder: it has no metrics.jsonl; "
        "name a folder that python -m pmgt_mpi.run has made\n"
    )


def test_labels_that_look_like_formulas_and_markup_are_printed(tmp_path):
    labels = ["$\\frac{$", "$x$ | <b> & _y_", "_hidden"]
    sections = [f"[[algorithm]]\nname = 'nids'\nlabel = '{label}'" for label in labels]
    text = SMALL.partition("[[algorithm]]")[0] + "\n".join(sections)
    done = run_config(tmp_path, text, ranks=2).expect(0)
    assert (tmp_path / "out" / "convergence.png").exists()
    report(tmp_path / "out").expect(0)
    page = (tmp_path / "out" / "report" / "report.html").read_text(encoding="utf-8")
    for label in labels:
        assert label in done.stdout
        assert html.escape(label) in page
    assert "Traceback" not in done.stderr
