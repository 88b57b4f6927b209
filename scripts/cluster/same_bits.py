"""Hold two run folders against each other: all but clocks and hosts, bit for bit."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.resuming import essence


def told(folder: Path) -> dict[str, object]:
    """Return what a run left, apart from where it ran."""
    left = essence(folder)
    left["ranks"] = [
        {key: value for key, value in row.items() if key != "host"}
        for row in left["ranks"]
    ]
    return left


def main() -> int:
    """Compare; say what differs."""
    first, second = (told(Path(name)) for name in sys.argv[1:])
    differ = [name for name in first if first[name] != second[name]]
    if differ:
        print(f"differ: {', '.join(differ)} of {' and '.join(sys.argv[1:])}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
