"""Thousands of mangled configs, graphs and data files: success, or one clear error."""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import monotonic

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.config.read import read_config
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.algorithm import run_algorithm
from pmgt_mpi.execution.engine import PYTHON
from pmgt_mpi.execution.network import network_of
from pmgt_mpi.execution.run import set_up
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.parameters.resolve import resolve
from tests.support.mangling import case_of

EXAMPLES = 2000

SECONDS = 5
"""Of a case."""

AGENTS = 4
"""Of the graphs; the rest is loaded by one agent."""

seen: Counter[tuple[str, str]] = Counter()


def outcome(folder: Path, kind: str) -> str:
    """How far a case comes; anything but a `UserError` passes through."""
    try:
        config = read_config(folder / "config.toml")
    except UserError as error:
        check_message(error)
        return "refused by the config"
    try:
        if kind == "graph":
            network_of(config, AGENTS)
            return "ran"
        with ExitStack() as opened:
            setup = set_up(config, Collective(MPI.COMM_SELF), None, opened)
            first = config.algorithm[0]
            first = replace(first, steps=min(config.steps(first), 2))
            config = resolve(replace(config, algorithm=(first,)), setup, PYTHON)
            run_algorithm(setup, config, config.algorithm[0], PYTHON)
        return "ran"
    except UserError as error:
        check_message(error)
        return "refused by the set-up"
    except MemoryError:
        return "refused for want of memory"


def check_message(error: UserError) -> None:
    text = str(error)
    assert len(text) > 10
    assert "Traceback" not in text
    assert text.count("\n") <= 1


def place(error: BaseException) -> str:
    """Where in the package an exception came from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/pmgt_mpi/" in f.filename] or frames
    return f"{type(error).__name__} at {own[-1].filename}:{own[-1].lineno}"


@pytest.mark.timeout(240)
def test_each_ends_in_success_or_in_one_clear_error(tmp_path_factory, capfd):
    failures: dict[str, str] = {}

    def check(number):
        case = case_of(number, AGENTS)
        folder = base / str(number)
        folder.mkdir()
        for name, content in case.files.items():
            (folder / name).write_bytes(content)
        start = monotonic()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                seen[case.kind, outcome(folder, case.kind)] += 1
            except Exception as error:
                seen[case.kind, "FAILED"] += 1
                failures.setdefault(place(error), f"{error!r} for {case}")
        assert monotonic() - start < SECONDS, case

    base = tmp_path_factory.mktemp("mangled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PMGT_CACHE", str(base / "cache"))
        patch.chdir(base)
        for number in range(EXAMPLES):
            check(number)
    total = sum(seen.values())
    past = total - sum(n for (_, how), n in seen.items() if how.endswith("config"))
    ran = sum(n for (_, how), n in seen.items() if how == "ran")
    with capfd.disabled():
        print(f"\n{total} mangled cases:")  # noqa: T201
        for (kind, how), n in sorted(seen.items()):
            print(f"  {kind:8} {how:28} {n:5} ({n / total:.0%})")  # noqa: T201
    assert not failures, "\n".join(f"{at}: {how}" for at, how in failures.items())
    assert past >= 0.3 * total
    assert ran >= 0.1 * total
