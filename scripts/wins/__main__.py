"""Search for the parameters at which each method needs the fewest gradients.

Usage:
    mpirun -n 20 python scripts/wins            every trial on 20 ranks
    python scripts/wins [--cases 20:2 4:300]    every trial in one process
    mpirun -n 20 python scripts/wins --confirm  the optima again, on 20 ranks
Add --write docs/wins.md for the document, --quick for a smoke test.

In one process the 20 agents are the 20 rows of an array, and the package's own
algorithms run on it unchanged, with the same streams: the same gradients and rounds as
on ranks. `--confirm` checks just that for the optima. Every trial is a line of the
results file, and a second start runs only what is not there. `--confirmed FILE` takes
the confirmation from the saved output of an earlier `--confirm` instead of running it.

Exit code 1 if a demand is not met or a confirmation differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pmgt_mpi.environment as environment

environment.prepare()
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "search"))

from wins_command import main  # noqa: E402 (numpy and MPI come with it)

if __name__ == "__main__":
    sys.exit(main((__doc__ or "").split("\n")[0]))
