"""An agent reads its own part and holds its own part, by the kernel's own count.

Started by mpirun this file is also the program that is measured.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

AGENTS = 4
FILE_BYTES, TEXT_BYTES = 400_000_000, 200_000_000
COLUMNS = 50
READ = 1.2
"""Bytes read, at most, as a multiple of the agent's share of the file."""
MEMORY = 120_000_000
"""Memory, at most, beyond the shard and a bare process with mpi4py and numpy."""


def write_npy(path: Path) -> None:
    rows = FILE_BYTES // (8 * COLUMNS)
    block = np.random.default_rng(0).standard_normal((10_000, COLUMNS))
    array = np.lib.format.open_memmap(
        path, mode="w+", dtype=np.float64, shape=(rows, COLUMNS)
    )
    for start in range(0, rows, len(block)):
        array[start : start + len(block)] = block[: rows - start]
    array.flush()


def write_text(path: Path, line: str) -> None:
    numbers = np.random.default_rng(0).standard_normal((2000, COLUMNS))
    block = "".join(line.format(*row) for row in numbers).encode()
    with path.open("wb") as file:
        for _ in range(-(-TEXT_BYTES // len(block))):
            file.write(block)


def write_csv(path: Path) -> None:
    write_text(path, ",".join(["{:.5g}"] * COLUMNS) + "\n")


def write_libsvm(path: Path) -> None:
    items = " ".join(f"{3 * j + 1}:{{:.5g}}" for j in range(COLUMNS))
    write_text(path, f"+1 {items}\n")


WRITERS: dict[str, Callable[[Path], None]] = {
    "npy": write_npy,
    "csv": write_csv,
    "libsvm": write_libsvm,
}


@pytest.fixture(scope="module")
def big_file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("big") / f"big.{request.param}"
    WRITERS[request.param](path)
    yield path
    path.unlink()


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="needs /proc/self/io")
@pytest.mark.parametrize(
    ("big_file", "partition"),
    [
        ("npy", "contiguous"),
        ("npy", "shuffled"),
        ("csv", "contiguous"),
        ("libsvm", "shuffled"),
    ],
    indirect=["big_file"],
)
def test_bytes_read_and_peak_memory(big_file: Path, partition: str) -> None:
    from tests.launcher import mpirun

    evict(big_file)
    result = mpirun(AGENTS, [__file__, big_file, partition], timeout=200)
    assert result.returncode == 0, result
    agents = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(agents) == AGENTS
    size = big_file.stat().st_size
    share = size / AGENTS
    for agent in agents:
        assert agent["memory"] < agent["shard"] + MEMORY, agents
        assert agent["rchar"] < READ * share, agents
        assert agent["mapped"] < READ * share, agents
    if sum(agent["read_bytes"] for agent in agents) > size / 2:
        # The file system counts what is read by mapping too, and the file was evicted.
        assert all(agent["read_bytes"] < READ * share for agent in agents), agents
    if big_file.suffix == ".npy":
        assert sum(agent["shard"] for agent in agents) == size - 128
        if partition == "contiguous":
            assert all(agent["mapped"] > 0.9 * share for agent in agents), agents
    else:
        assert all(agent["rchar"] > 0.9 * share for agent in agents), agents


def evict(path: Path) -> None:
    """Have the kernel forget the pages of a file, so that the disk must be read."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(path: Path, partition: str) -> dict[str, int]:
    """Load this agent's part of a file and say what that took."""
    from mpi4py import MPI

    bare = peak_memory()
    before = bytes_read()

    from pmgt_mpi.data import SOURCES
    from pmgt_mpi.data.loading import load_shard
    from pmgt_mpi.mpi.collective import Collective

    source = SOURCES.load(path.suffix[1:])(path=str(path))
    shard = load_shard(Collective(MPI.COMM_WORLD), source, partition=partition)
    read = {name: count - before[name] for name, count in bytes_read().items()}
    return {
        "shard": shard.nbytes,
        "memory": peak_memory() - bare,
        "mapped": mapped_bytes(path),
        **read,
    }


def peak_memory() -> int:
    """Return the largest resident memory that this process has had."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def bytes_read() -> dict[str, int]:
    """`rchar`: taken from the kernel by reading; `read_bytes`: fetched from a disk."""
    lines = Path("/proc/self/io").read_text().splitlines()
    counts = dict(line.split(": ") for line in lines)
    return {name: int(counts[name]) for name in ("rchar", "read_bytes")}


def mapped_bytes(path: Path) -> int:
    """Count the bytes of a file that this process has touched by mapping it."""
    total, here = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        word = line.split()[0]
        if not word.endswith(":"):
            here = line.endswith(str(path))
        elif here and word == "Rss:":
            total += int(line.split()[1]) * 1024
    return total


if __name__ == "__main__":
    found = measure(Path(sys.argv[1]), sys.argv[2])
    sys.stdout.write(json.dumps(found) + "\n")
