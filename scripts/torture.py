"""Kill runs at random moments, resume them, and compare the bits at the end.

Usage: python scripts/torture.py [--seconds 600] [--ranks 4] [--seed 1]

For the given time: start a run, kill one of its ranks or the whole job (SIGKILL) at a
random moment, ``--resume auto`` it, kill it again …, let it finish after some
kills, and hold all that it leaves against a run that was never interrupted: solution,
counts and metrics, bit for bit, clocks aside. After every kill all files that are there
under their own names must be whole. The exit code is 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.launcher import Job  # noqa: E402
from tests.support.resuming import assert_same, begin, manifests, ranks_of  # noqa: E402
from tests.support.running import SMALL  # noqa: E402

TEXT = SMALL.replace(
    "steps = 8",
    """steps = 100
[evaluate]
every = 10
[checkpoint]
steps = 5
[mixing]
rounds = 3""",
)
LEAST = 2
"""Kills, however short the time is."""

LIMIT = 60.0
"""Seconds in which a run must end by itself, and ten of them for a killed one."""


@dataclass
class Tally:
    """What has happened so far."""

    finished: int = 0
    kills: int = 0
    ranks: int = 0
    in_setup: int = 0
    after_checkpoint: int = 0
    during_write: int = 0
    slowest_end: float = 0.0

    def lines(self) -> list[str]:
        """What is printed at the end."""
        return [
            "runs finished, all with the bits of the uninterrupted one: "
            f"{self.finished}",
            f"kills: {self.kills} ({self.ranks} of one rank, "
            f"{self.kills - self.ranks} of the whole job)",
            f"  before the run folder was there: {self.in_setup}",
            f"  after the first checkpoint: {self.after_checkpoint}",
            f"  during the write of a checkpoint: {self.during_write}",
            f"slowest end of a killed job: {self.slowest_end:.1f} s",
        ]


def last_number(run: Path) -> int:
    """Number of the newest checkpoint, complete or not; 0 if there is none."""
    folders = (run / "checkpoint").glob("[0-9]*")
    return max((int(folder.name) for folder in folders), default=0)


def writing(run: Path, before: int) -> bool:
    """Whether a checkpoint with a higher number has been begun and not ended."""
    number = last_number(run)
    manifest = run / "checkpoint" / f"{number:06d}" / "manifest.json"
    return number > before and not manifest.exists()


def check_whole(run: Path) -> None:
    """Fail if a file has its own name and not its whole content."""
    for path in [*run.glob("*.json"), *run.glob("checkpoint/*/manifest.json")]:
        json.loads(path.read_text())
    metrics = run / "metrics.jsonl"
    if metrics.exists():
        text = metrics.read_text()
        assert text == "" or text.endswith("\n"), "metrics.jsonl ends in half a line"
        for line in text.splitlines():
            json.loads(line)


def kill(
    job: Job, folder: Path, before: int, chance: random.Random, tally: Tally
) -> None:
    """Kill a rank or everything, and see that everything is gone soon."""
    run = folder / "out"
    ranks = ranks_of(job)
    if not job.running() or not ranks:
        return
    one = chance.random() < 0.5
    had_checkpoint = bool(manifests(folder))
    victims = [chance.choice(list(ranks.values()))] if one else list(job.processes())
    for pid in victims:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    start = time.monotonic()
    result = job.wait(10)
    if result.returncode == 0:
        return  # it was done before the blow fell
    assert not result.survivors, result
    tally.slowest_end = max(tally.slowest_end, time.monotonic() - start)
    tally.kills += 1
    tally.ranks += one
    tally.in_setup += not run.exists()
    tally.after_checkpoint += had_checkpoint
    tally.during_write += writing(run, before)
    check_whole(run)


def await_moment(job: Job, run: Path, before: int, chance: random.Random) -> None:
    """Wait for a random moment: by the clock, or so many checkpoints further on.

    By the clock it is often in the set-up. Half of the others are in a write.
    """
    if chance.random() < 0.25:
        moment = time.monotonic() + chance.uniform(0.2, 2.0)
        while job.running() and time.monotonic() < moment:
            time.sleep(0.002)
        return
    number = before + chance.randint(1, 20)
    aim = chance.random() < 0.5
    while job.running() and (
        last_number(run) < number or (aim and not writing(run, before))
    ):
        time.sleep(0.002)
    if not aim:
        time.sleep(chance.uniform(0, 0.1))


def one_run(
    whole: Path, ranks: int, kills: int, chance: random.Random, tally: Tally, end: float
) -> None:
    """Kill a run so often, let it finish, and compare."""
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        folder = Path(name)
        for _ in range(kills):
            if time.monotonic() > end and tally.kills >= LEAST:
                break
            run = folder / "out"
            before = last_number(run)
            with begin(folder, "--resume", "auto", text=TEXT, ranks=ranks) as job:
                await_moment(job, run, before, chance)
                kill(job, folder, before, chance, tally)
            if (run / "summary.json").exists():
                break
        with begin(folder, "--resume", "auto", text=TEXT, ranks=ranks) as job:
            job.wait(LIMIT).expect(0)
        try:
            assert_same(whole, folder / "out")
        except AssertionError:
            print("kept:", shutil.copytree(folder, Path(tempfile.mkdtemp()) / "lost"))
            raise
        tally.finished += 1


def main() -> int:
    """Torture for the given time, and print what has happened."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        folder = Path(name)
        more = ("--set", "checkpoint.steps=0")
        with begin(folder, *more, text=TEXT, ranks=options.ranks) as job:
            job.wait(LIMIT).expect(0)
        end = time.monotonic() + options.seconds
        try:
            while tally.finished == 0 or time.monotonic() < end:
                kills = chance.randint(LEAST, 10)
                one_run(folder / "out", options.ranks, kills, chance, tally, end)
        except AssertionError as error:
            print(*tally.lines(), "LOST:", error, sep="\n")
            return 1
    print(*tally.lines(), "nothing lost", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
