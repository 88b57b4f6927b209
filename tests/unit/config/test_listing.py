"""What --list prints: every name of every registry, in columns."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pmgt_mpi.config.listing import CHAPTERS, listing

CASES = [
    pytest.param(registry, name, id=f"{title}-{name}")
    for title, _, registry in CHAPTERS
    for name in registry
]


def paragraphs() -> dict[str, list[str]]:
    """The lines under each title."""
    blocks = [block.splitlines() for block in listing().rstrip("\n").split("\n\n")]
    return {lines[0]: lines[1:] for lines in blocks}


@pytest.mark.parametrize(("registry", "name"), CASES)
def test_a_name_stands_before_its_sentence(registry, name):
    words = [line.split(maxsplit=1) for line in listing().splitlines()]
    assert [name, registry.summary(name)] in words


def test_the_sentences_begin_in_one_column():
    lines = [line for block in paragraphs().values() for line in block]
    starts = {line.index(line.split(maxsplit=1)[1]) for line in lines}
    assert len(starts) == 1
    assert all(line.endswith(".") for line in lines)
    assert max(map(len, lines)) <= 110


def test_a_title_tells_the_key_of_the_config():
    found = paragraphs()
    assert list(found) == [f"{title} ({key})" for title, key, _ in CHAPTERS]
    assert [len(lines) for lines in found.values()] == [
        len(registry) for _, _, registry in CHAPTERS
    ]


def test_it_starts_no_mpi():
    """Under mpirun one rank alone reads the registries: it must not wait for others."""
    code = (
        "import sys; from pmgt_mpi.config.listing import listing; listing();"
        "assert 'mpi4py.MPI' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
