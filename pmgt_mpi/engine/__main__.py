"""``python -m pmgt_mpi.engine``: tell of the compiled engine, or build it."""

from __future__ import annotations

import argparse
import sys

from pmgt_mpi.engine.build import build
from pmgt_mpi.engine.library import Library
from pmgt_mpi.engine.variants import HERE, BuildError
from pmgt_mpi.terminal import complain, say


def main() -> int:
    """Build the engine if that is asked for, and say which build this machine runs."""
    parser = argparse.ArgumentParser(
        prog="python -m pmgt_mpi.engine",
        description="Say whether the compiled engine runs here, and which build of it.",
    )
    parser.add_argument(
        "--build",
        action="store_true",
        help="first build it in the installed package, with CC, cc, gcc, clang or zig",
    )
    options = parser.parse_args()
    try:
        if options.build:
            build()
        variant = Library().variant
    except BuildError as error:
        complain(error)
        return 2
    say(f"engine: compiled ({variant}), in {HERE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
