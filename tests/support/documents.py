"""The documents of the repository: their marked blocks, tables, headings and links."""

from __future__ import annotations

import re
from pathlib import Path

from tests.launcher import ROOT

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
]

FENCED = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)


def text_of(document: str) -> str:
    """Return a document's text, by its path in the repository."""
    return (ROOT / document).read_text()


def block(document: str, mark: str) -> str:
    """Return the fenced block after a comment ``<!-- mark -->``."""
    pattern = rf"<!-- {re.escape(mark)} -->\s*```\w+\n(.*?)\n\s*```"
    found = re.findall(pattern, text_of(document), re.DOTALL)
    assert len(found) == 1, f"{document}: {len(found)} blocks are marked '{mark}'"
    return str(found[0])


def table(document: str, mark: str) -> list[list[str]]:
    """Return the rows of the table after a comment ``<!-- mark -->``."""
    _, comment, rest = text_of(document).partition(f"<!-- {mark} -->\n")
    assert comment, f"{document} has no table marked '{mark}'"
    return rows_of(rest.partition("\n\n")[0])


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of a table's rows, without its header."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


def quoted(cell: str) -> list[str]:
    """Return what stands in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def links(path: Path) -> list[str]:
    """Return where the links and pictures of a document lead, but for those outside."""
    prose = FENCED.sub("", path.read_text())
    found = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [target for target in found if "://" not in target]


def anchors(path: Path) -> set[str]:
    """Return what may stand behind ``#``: headings as GitHub makes them addresses."""
    found: set[str] = set()
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", path.read_text()), re.MULTILINE)
    for heading in headings:
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = sum(other == slug for other in found)
        found.add(f"{slug}-{number}" if number else slug)
    return found
