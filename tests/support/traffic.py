"""What a job sends, counted inside of MPI by a library that is preloaded."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "count_messages.c"
GOSSIP, SUMS = 0, 1
"""Tags: of what algorithms send, and of sums outside of them."""


@dataclass
class Traffic:
    """Messages and bytes of all ranks.

    `messages[tag]` and `bytes[tag]` have them for each (from, to), `collective` the
    bytes that collectives give to each rank.
    """

    messages: dict[int, Counter] = field(default_factory=dict)
    bytes: dict[int, Counter] = field(default_factory=dict)
    collective: dict[int, int] = field(default_factory=dict)


class Counting:
    """How to start a job whose messages are counted, and what was counted."""

    def __init__(self, folder: Path) -> None:
        self._name = folder / "traffic"
        library = folder / "count_messages.so"
        compiler = shutil.which("cc") or shutil.which("gcc")
        include, libraries = Path(sys.prefix) / "include", Path(sys.prefix) / "lib"
        if compiler is None:
            pytest.skip("no C compiler (cc or gcc) to build the profiling shim")
        if not (include / "mpi.h").exists():
            pytest.skip("no mpi.h in the environment; the wheel of Open MPI has one")
        link = [f"-I{include}", f"-L{libraries}", "-lmpi", f"-Wl,-rpath,{libraries}"]
        command = [compiler, "-shared", "-fPIC", "-O2", SOURCE, "-o", library, *link]
        subprocess.run(command, check=True, timeout=60)
        self.env = {"COUNT_FILE": str(self._name)}
        self.mpirun_args = ("-x", f"LD_PRELOAD={library}")

    def read(self) -> Traffic:
        traffic = Traffic()
        for tag in (GOSSIP, SUMS):
            traffic.messages[tag], traffic.bytes[tag] = Counter(), Counter()
        for file in self._name.parent.glob(f"{self._name.name}.*"):
            rank = int(file.suffix[1:])
            for line in file.read_text().splitlines():
                kind, *numbers = line.split()
                if kind == "collective":
                    traffic.collective[rank] = int(numbers[1])
                    continue
                tag, dest, messages, nbytes = map(int, numbers)
                traffic.messages[tag][rank, dest] = messages
                traffic.bytes[tag][rank, dest] = nbytes
        return traffic
