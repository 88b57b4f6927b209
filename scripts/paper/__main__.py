"""The paper's experiments: parameters, pictures and document.

Usage:
    python scripts/paper sweep [PROBLEM...]     best parameters, and the configs
    python scripts/paper draw RUNS --out DIR    pictures and page of finished runs

`bash scripts/reproduce.sh` runs the experiments themselves, and then draws them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pmgt_mpi.environment as environment

environment.prepare()
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "search"))


def main() -> int:
    """Read the command line and do what it asks for."""
    parser = argparse.ArgumentParser(
        prog="python scripts/paper", description=(__doc__ or "").split("\n")[0]
    )
    parts = parser.add_subparsers(dest="part", required=True)
    sweep = parts.add_parser("sweep", help="best parameters, and the configs")
    draw = parts.add_parser("draw", help="pictures and page of finished runs")
    import draw_command
    import sweep_command

    sweep_command.add_options(sweep)
    draw_command.add_options(draw)
    options = parser.parse_args()
    return {"sweep": sweep_command.run, "draw": draw_command.run}[options.part](options)


if __name__ == "__main__":
    sys.exit(main())
