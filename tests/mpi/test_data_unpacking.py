"""Packed files on several agents: unpacked once for each host, the others asleep."""

from __future__ import annotations

import gzip
import logging
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pmgt_mpi.data import archive
from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.sources.csv import Csv
from pmgt_mpi.mpi.collective import Collective
from tests.support.verdicts import Together

A = np.arange(61.0 * 3).reshape(61, 3)


@pytest.fixture
def folder(collective: Collective, tmp_path: Path) -> Path:
    """Return one folder for all agents, with a packed file in it."""
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


def test_one_agent_of_a_host_sees_that_it_is_whole(
    collective: Collective,
    folder: Path,
    together: Together,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    host = f"host {collective.agent % 2}"
    monkeypatch.setattr("pmgt_mpi.data.archive.host", lambda: host)
    monkeypatch.setenv("PMGT_CACHE", str(folder / host))
    load_shard(collective, Csv(path="a.csv.gz"), base=folder)
    (entry,) = (folder / host / "data").iterdir()
    collective.barrier()
    if collective.agent == collective.agents - 1:
        content = bytearray((entry / "dense.npy").read_bytes())
        content[-1] ^= 0x80
        (entry / "dense.npy").write_bytes(content)
    collective.barrier()
    read = []
    real = archive.checksum
    monkeypatch.setattr(
        archive, "checksum", lambda path: read.append(path.name) or real(path)
    )
    for times in (2, 3):  # once as it was found, once as it was made again; then once
        shard = load_shard(collective, Csv(path="a.csv.gz"), base=folder)
        parts = collective.gather(shard.A)
        hosts, damaged = min(2, collective.agents), (collective.agents - 1) % 2
        expected = [0] * collective.agents
        for first in range(hosts):
            expected[first] = times if first == damaged else times - 1
        with together:
            assert_array_equal(np.concatenate(parts), A)
            assert read == ["dense.npy"] * expected[collective.agent]


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
