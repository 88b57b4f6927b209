"""Hold every algorithm's solutions and counts against those of an earlier commit.

Usage: python scripts/same_bits.py COMMIT

Every algorithm is run on three problems, on 1, 2 and 5 ranks, with both engines, by the
code of the commit (in a work tree of git's) and by that of this folder, on one machine:
the bits of all agents' solutions and all counts must be the same, or the refusal. The
exit code is 1 if anything differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from inspect import signature
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

RANKS = (1, 2, 5)
ENGINES = ("python", "compiled")
PROBLEMS: dict[str, tuple[dict[str, Any], Any]] = {
    "pca": ({"kind": "shift-invert-pca", "ratio": 3.0}, "none"),
    "ridge": ({"kind": "ridge", "l2": 0.05}, "none"),
    "logistic with l1": (
        {"kind": "logistic", "l2": 0.05},
        {"kind": "l1", "strength": 0.01},
    ),
}
ROWS, COLUMNS, STEPS = 120, 7, 12
CLOCKS = {"seconds", "compute_seconds", "comm_seconds"}


def record(path: str) -> None:
    """Run everything on the ranks of this job; rank 0 writes what came of it."""
    import numpy as np
    from mpi4py import MPI

    import pmgt_mpi
    from pmgt_mpi.algorithms import ALGORITHMS
    from pmgt_mpi.errors import UserError

    assert Path(pmgt_mpi.__file__).parent.parent == Path.cwd(), "another package"
    comm = MPI.COMM_WORLD
    rng = np.random.default_rng(5)
    A = rng.normal(size=(ROWS, COLUMNS)) * np.linspace(0.5, 2, COLUMNS)
    y = np.sign(A @ rng.normal(size=COLUMNS) + 0.3 * rng.normal(size=ROWS))
    # Unequal shards, so that weights are at work too.
    mine = np.array_split(np.arange(ROWS), comm.size + 1)[comm.rank :: comm.size]
    own = np.concatenate(mine)
    # What a round costs is given, where it would be measured: bits depend on it.
    known = "round_in_gradients" in signature(pmgt_mpi.solve).parameters
    given = {"round_in_gradients": 100.0} if known else {}
    found: dict[str, Any] = {}
    for name in ALGORITHMS:
        for problem, (options, psi) in PROBLEMS.items():
            for engine in ENGINES:
                try:
                    result = pmgt_mpi.solve(
                        options,
                        A[own],
                        y[own],
                        regularizer=psi,
                        algorithm=name,
                        steps=STEPS,
                        engine=engine,
                        seed=3,
                        comm=comm,
                        **given,
                    )
                except UserError as error:
                    found[f"{name}, {problem}, {engine}"] = str(error)
                    continue
                digest = hashlib.blake2b(digest_size=16)
                for x in comm.allgather(result.x_local):
                    digest.update(np.ascontiguousarray(x).data)
                counts = {k: v for k, v in result.counts.items() if k not in CLOCKS}
                found[f"{name}, {problem}, {engine}"] = [digest.hexdigest(), counts]
    if comm.rank == 0:
        Path(path).write_text(json.dumps(found))


def recorded(tree: Path, folder: Path) -> dict[str, Any]:
    """Let the code of a folder run everything; what came of it."""
    sys.path.insert(0, str(ROOT))
    from tests.launcher import mpirun

    found = {}
    for ranks in RANKS:
        path = folder / f"{ranks}.json"
        mpirun(
            ranks,
            [Path(__file__).resolve(), "--record", path],
            cwd=tree,
            env={"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"},
            timeout=600,
        ).expect(0)
        for case, value in json.loads(path.read_text()).items():
            found[f"{ranks} ranks: {case}"] = value
    return found


def build_engine(tree: Path) -> None:
    """Build the compiled engine of a work tree, which 0.1 has built at run time."""
    if (tree / "pmgt_mpi" / "engine" / "__main__.py").exists():
        command = [sys.executable, "-m", "pmgt_mpi.engine", "--build"]
        subprocess.run(command, cwd=tree, stdout=subprocess.DEVNULL, check=True)


def main(commit: str) -> int:
    """Compare; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "-q", "--detach", tree, commit], check=True)
        try:
            build_engine(tree)
            before = recorded(tree, Path(folder))
        finally:
            subprocess.run([*git, "remove", "--force", tree], check=True)
        now = recorded(ROOT, Path(folder))
    differing = [case for case in before | now if before.get(case) != now.get(case)]
    for case in differing:
        print(f"{case}: {before.get(case)} became {now.get(case)}")
    ran = sum(isinstance(value, list) for value in now.values())
    refused = len(now) - ran
    print(f"{len(differing)} of {len(now)} cases differ ({ran} ran, {refused} refused)")
    return 1 if differing else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
    elif len(sys.argv) == 2:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        sys.exit(main(sys.argv[1]))
    else:
        sys.exit(__doc__)
