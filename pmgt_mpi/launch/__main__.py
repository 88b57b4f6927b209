"""The command: ``python -m pmgt_mpi.launch slurm --ranks 64 --config FILE``."""

from pmgt_mpi.launch.command import main
from pmgt_mpi.terminal import command

if __name__ == "__main__":
    command(main)
