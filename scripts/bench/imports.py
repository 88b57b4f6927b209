"""A run, and then what each of its ranks had imported when the pictures began.

Usage, under mpirun: python imports.py FOLDER ARGUMENT...     arguments of pmgt_mpi.run

Rank r writes the names, in the order of their import, to rank-r.json in FOLDER.
"""

from __future__ import annotations

import json
import sys
from itertools import takewhile
from pathlib import Path

from pmgt_mpi.environment import launched
from pmgt_mpi.run import main


def is_of_the_start(name: str) -> bool:
    """Whether a module comes before those that draw."""
    return not name.startswith("pmgt_mpi.pictures")


code = main(sys.argv[2:])
names = [name for name in takewhile(is_of_the_start, sys.modules) if name != "__main__"]
file = Path(sys.argv[1]) / f"rank-{launched()[1]}.json"
file.write_text(json.dumps(names))
sys.exit(code)
