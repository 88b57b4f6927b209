"""The command: ``python -m pmgt_mpi.plan --config FILE --ranks 10000 …``."""

import sys

from pmgt_mpi.runtime.environment import prepare

if __name__ == "__main__":
    prepare()
    # Only now: numpy and MPI look at the environment when they are imported.
    from pmgt_mpi.plan.command import main

    sys.exit(main())
