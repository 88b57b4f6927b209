"""The command: ``python -m pmgt_mpi.launch slurm --ranks 64 --config FILE``."""

import sys

from pmgt_mpi.launch.command import main

if __name__ == "__main__":
    sys.exit(main())
