"""A study on real ranks: the bits of single runs, whatever has been interrupted."""

from __future__ import annotations

import json
import signal
import time
from math import log2

import pytest

from tests.launcher import mpirun, start_mpirun
from tests.support.running import SMALL, Left, run_config

CONFIG = SMALL.partition("[[algorithm]]")[0]

TWO = CONFIG + '[[algorithm]]\nname = "pmgt-svrg"\n\n[[algorithm]]\nname = "nids"\n'

TIMES = ("seconds", "compute_seconds", "comm_seconds")

FRAGILE = """
import os
import sys
import time
from math import log2
from dataclasses import dataclass
from pathlib import Path

from pmgt_mpi.algorithms.nids import NIDS
from pmgt_mpi.options import AUTO, StepSize


@dataclass(frozen=True, kw_only=True)
class Fragile(NIDS):
    '''NIDS, which one agent cannot do on some rows while there is a file.'''

    step_size: StepSize = AUTO

    def step(self, agent, s):
        if Path("slow").exists():
            time.sleep(0.05)
        if Path("broken").exists() and agent.grad(s.x)[0] > 0 and s.k == 2:
            raise ZeroDivisionError("no run today")
        return super().step(agent, s)
"""

THREE = TWO + '\n[[algorithm]]\nname = "fragile:Fragile"\nlabel = "fragile"\n'


def study(folder, *arguments, ranks=2, **options):
    args = ["-m", "pmgt_mpi.study", "--config", "config.toml", "--out", "out"]
    env = {"PMGT_CACHE": str(folder / "cache")}
    return mpirun(ranks, [*args, *arguments], cwd=folder, env=env, **options)


def results(folder):
    """End of every run without its times, and columns without theirs."""
    found = {}
    for line in (folder / "out" / "runs.jsonl").read_text().splitlines():
        record = json.loads(line)
        if "end" in record:
            result = record["result"]
            for part in (result["end"], result["trace"]):
                for name in TIMES:
                    part.pop(name, None)
            found[record["end"]] = result
    return found


def begun(folder):
    lines = (folder / "out" / "runs.jsonl").read_text().splitlines()
    return [json.loads(line)["begin"] for line in lines if '"begin"' in line]


def test_its_runs_have_the_bits_of_single_runs(tmp_path):
    (tmp_path / "config.toml").write_text(TWO)
    done = study(tmp_path, "--seeds", "2", "--grid", "network.topology=ring,star",
                 ranks=3)  # fmt: skip
    done.expect(0)
    told = done.stdout.count("pmgt-svrg")
    assert told == 2 * (2 + 1) + 1  # the runs and the table; the title of the ratios
    found = results(tmp_path)
    assert len(found) == 8
    single = run_config(tmp_path, TWO, ranks=3, out="single",
                        set=("run.seed=2", "network.topology=star"))  # fmt: skip
    single.expect(0)
    for summary in Left(tmp_path / "single").summary:
        label = summary["algorithm"]
        result = found[f"draw 2, network.topology=star, {label}"]
        shared = set(result["end"]) - {"algorithm"}
        assert {"objective", "gradients", "rounds", "bytes"} < shared
        for name in shared:
            assert result["end"][name] == summary[name], (label, name)
        assert result["parameters"] == summary["parameters"]
    assert len((tmp_path / "out" / "runs.csv").read_text().splitlines()) == 9
    report(tmp_path)


def report(folder):
    """The report takes the study as one thing."""
    from pmgt_mpi.report.__main__ import main

    out = folder / "report"
    assert main([str(folder / "out"), "--out", str(out)]) == 0
    page = (out / "report.html").read_text()
    assert page.count("<svg") == 2 * 3
    assert "no verdict from 2 independent draws" in page
    assert page.count('<tr><th class="word" scope="row">pmgt-svrg') == 2 + 4
    assert (out / "bands-2-rounds.png").exists()


@pytest.fixture
def fragile(tmp_path):
    (tmp_path / "config.toml").write_text(THREE)
    (tmp_path / "fragile.py").write_text(FRAGILE)
    return tmp_path


MORE = ("--seeds", "2", "--allow-plugins")


def test_a_study_is_resumed_and_left_without_a_run_that_ends_the_job(fragile):
    (fragile / "broken").touch()
    assert study(fragile, *MORE).returncode == 1
    first = results(fragile)
    assert 0 < len(first) < 6
    assert study(fragile, *MORE).returncode == 1
    bad = begun(fragile)[-1]
    assert begun(fragile).count(bad) == 2
    assert "fragile" in bad
    (fragile / "broken").unlink()
    done = study(fragile, *MORE)
    done.expect(0)
    assert "1 failed" in done.stdout
    left = results(fragile)
    assert len(left) == 5
    assert bad not in left
    assert all(left[key] == result for key, result in first.items())
    assert begun(fragile).count(next(iter(first))) == 1  # it was not run again
    # The same runs, had nothing happened.
    (fragile / "out").rename(fragile / "earlier")
    study(fragile, *MORE).expect(0)
    unbroken = results(fragile)
    assert len(unbroken) == 6
    assert {key: unbroken[key] for key in left} == left


def test_a_signal_ends_it_and_the_same_command_continues(fragile):
    (fragile / "slow").touch()
    args = ["-m", "pmgt_mpi.study", "--config", "config.toml", "--out", "out", *MORE]
    env = {"PMGT_CACHE": str(fragile / "cache")}
    with start_mpirun(2, args, cwd=fragile, env=env) as job:
        lines = fragile / "out" / "runs.jsonl"
        while job.running() and not (lines.exists() and "fragile" in lines.read_text()):
            time.sleep(0.05)
        time.sleep(0.1)
        job.signal(signal.SIGUSR1)
        result = job.wait(timeout=60)
    result.expect(75)
    assert "to continue give the same command with --out out" in result.stdout
    (fragile / "slow").unlink()
    study(fragile, *MORE).expect(0)
    assert len(results(fragile)) == 6


def test_a_run_that_cannot_be_done_is_told_and_the_others_are_done(tmp_path):
    (tmp_path / "config.toml").write_text(TWO)
    done = study(tmp_path, "--seeds", "1", "--grid", "algorithm.0.batch_size=5,5000",
                 ranks=1)  # fmt: skip
    assert done.returncode == 2
    assert "batch_size = 5000 is more than the 600 rows" in done.stderr
    assert len(results(tmp_path)) == 2


def test_what_a_round_costs_is_measured_once_for_all_runs(tmp_path):
    measured = TWO.replace("round_in_gradients = 100", 'round_in_gradients = "auto"')
    (tmp_path / "config.toml").write_text(measured)
    study(tmp_path, "--seeds", "1").expect(0)
    study(tmp_path, "--seeds", "3").expect(0)
    costs = {
        key: result["round_in_gradients"] for key, result in results(tmp_path).items()
    }
    assert len(costs) == 6
    of_svrg = {cost for key, cost in costs.items() if "pmgt-svrg" in key}
    assert len(of_svrg) == 1
    assert log2(of_svrg.pop()).is_integer()


def test_a_study_that_is_refused_leaves_no_folder(tmp_path):
    (tmp_path / "config.toml").write_text(TWO)
    done = study(tmp_path, "--seeds", "1", "--set", "data.shares=[1, 2, 3]", ranks=1)
    assert done.returncode == 2
    assert "shares" in done.stderr
    assert not (tmp_path / "out").exists()
