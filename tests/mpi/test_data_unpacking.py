"""Packed files on several agents: unpacked once for each host, the others asleep."""

from __future__ import annotations

import gzip
import logging
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pmgt_mpi.collective import Collective
from pmgt_mpi.data.archive import wait_idle
from pmgt_mpi.data.csv import Csv
from pmgt_mpi.data.loading import load_shard
from tests.support.verdicts import Together

A = np.arange(61.0 * 3).reshape(61, 3)


@pytest.fixture
def folder(collective: Collective, tmp_path: Path) -> Path:
    """Give one folder for all agents, with a packed file in it."""
    base = Path(collective.from_first(str(tmp_path)))
    if collective.agent == 0:
        text = "".join(",".join(map(repr, row)) + "\n" for row in A.tolist())
        (base / "a.csv.gz").write_bytes(gzip.compress(text.encode()))
    collective.comm.Barrier()
    return base


def test_a_file_is_unpacked_by_one_agent_of_a_host(
    collective: Collective,
    folder: Path,
    together: Together,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "pmgt_mpi")
    # Agents of odd number are on another host, which has a cache of its own.
    host = f"host {collective.agent % 2}"
    monkeypatch.setattr("pmgt_mpi.data.archive.host", lambda: host)
    monkeypatch.setenv("PMGT_CACHE", str(folder / host))
    load_shard(collective, Csv(path="a.csv.gz"), base=folder)
    made = collective.gather(len(caplog.records))
    load_shard(collective, Csv(path="a.csv.gz"), base=folder)
    again = collective.gather(len(caplog.records))
    with together:
        assert made == [int(agent < 2) for agent in range(collective.agents)]
        assert again == made


def test_hosts_of_one_name_may_have_two_caches(
    collective: Collective,
    folder: Path,
    together: Together,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pmgt_mpi.data.archive.host", lambda: "localhost")
    monkeypatch.setenv("PMGT_CACHE", str(folder / f"cache {collective.agent % 2}"))
    shard = load_shard(collective, Csv(path="a.csv.gz"), base=folder)
    parts = collective.gather(shard.A)
    with together:
        assert_array_equal(np.concatenate(parts), A)


@pytest.mark.mpi(min_size=2)
def test_who_waits_leaves_the_core_to_who_works(
    collective: Collective, together: Together
) -> None:
    before = time.process_time()
    if collective.agent == 0:
        time.sleep(0.5)
    wait_idle(collective)
    spent = time.process_time() - before
    with together:
        assert spent < 0.05
