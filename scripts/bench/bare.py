"""What every program of this kind pays: MPI and numpy, and one barrier.

Usage, under mpirun: python bare.py FILE [MODULES]

The first rank writes its peak memory in bytes to FILE. MODULES is a JSON file with two
lists of names to import before the barrier: for the first rank, and for the others.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from importlib import import_module
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMPI_MCA_mpi_yield_when_idle"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

for file in sys.argv[2:]:
    of_first, of_others = json.loads(Path(file).read_text())
    for name in of_others if MPI.COMM_WORLD.rank else of_first:
        import_module(name)
MPI.COMM_WORLD.Barrier()
if MPI.COMM_WORLD.rank == 0:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    path = Path(sys.argv[1])
    path.with_suffix(".part").write_text(f"{np.int64(peak)}\n")
    path.with_suffix(".part").rename(path)
