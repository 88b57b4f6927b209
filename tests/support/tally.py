"""How many tests met a real MPI, for the last lines of the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree


@dataclass
class Suite:
    """What ran inside one communicator, read from pytest's JUnit file.

    Attributes
    ----------
    ran, failed
        Ids of the tests.
    skipped
        Id and reason.
    """

    ran: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    skipped: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Suite:
        """Read the file that ``pytest --junitxml`` wrote."""
        suite = cls()
        for case in ElementTree.parse(path).iter("testcase"):
            name = f"{case.get('classname')}.{case.get('name')}"
            skip = case.find("skipped")
            if skip is not None and skip.get("type") == "pytest.skip":
                suite.skipped[name] = skip.get("message") or "no reason given"
                continue
            suite.ran.add(name)
            if case.find("failure") is not None or case.find("error") is not None:
                suite.failed.add(name)
        return suite


suites: dict[int, Suite] = {}
"""The suites that ran, by their number of ranks."""


def never_ran() -> dict[str, str]:
    """Tests inside a communicator that were skipped at every number of ranks."""
    ran = {name for suite in suites.values() for name in suite.ran}
    return {
        name: reason
        for suite in suites.values()
        for name, reason in suite.skipped.items()
        if name not in ran
    }


def last_lines(started: set[str], skipped: dict[str, str]) -> list[str]:
    """Say how many tests met MPI, and which were skipped for want of what.

    Parameters
    ----------
    started
        Ids of the tests that started mpirun.
    skipped
        Id and reason of the tests outside a communicator that were skipped.
    """
    skipped = {**skipped, **never_ran()}
    if not (suites or started or skipped):
        return []
    inside = sum(len(suite.ran) for suite in suites.values())
    ranks = f" ({', '.join(map(str, sorted(suites)))} ranks)" if suites else ""
    lines = [
        f"MPI: {inside} tests ran inside a communicator{ranks}, "
        f"{len(started)} tests started mpirun themselves; {len(skipped)} tests skipped"
    ]
    if skipped:
        lines[0] += ":"
    return lines + [f"  {name}: {reason}" for name, reason in sorted(skipped.items())]
