"""A manifest comes back as it was written, or is known to be damaged."""

from __future__ import annotations

import json

import pytest

from pmgt_mpi.checkpoints.manifest import MANIFEST, Manifest, _digest
from pmgt_mpi.checkpoints.statefile import DamagedError, Seal

SEAL = Seal("agent-0.state", 3, "ab")


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "000007"
    path.mkdir()
    return path


@pytest.fixture
def manifest(folder):
    facts, machines = {"agents": 1, "engine": "python"}, [{"CPU": "Z80"}]
    written = Manifest(7, 0, 20, (100, "cd"), [SEAL], [], facts, machines)
    written.write(folder)
    return written


def test_it_comes_back(folder, manifest):
    assert Manifest.read(folder) == manifest


@pytest.mark.usefixtures("manifest")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("number", 8), ("number", 7.0), ("algorithm", "a"), ("algorithm", -1),
        ("step", "x"), ("step", True), ("step", -5), ("metrics", []),
        ("metrics", [1e9, "cd"]), ("metrics", [-1, "cd"]), ("metrics", ["a", "cd"]),
        ("agents", 3), ("agents", [3]), ("agents", [{"file": "x"}]),
        ("agents", [{"file": 3, "bytes": 1, "blake2b": "a"}]), ("finished", [[]]),
        ("facts", 3), ("facts", {}), ("facts", {"agents": "x"}),
        ("machines", 3), ("machines", [3]),
    ],
)  # fmt: skip
def test_a_part_of_another_kind_is_damage_although_the_checksum_is_right(
    folder, key, value
):
    content = json.loads((folder / MANIFEST).read_text())["content"] | {key: value}
    text = json.dumps({"content": content, "blake2b": _digest(content)})
    (folder / MANIFEST).write_text(text)
    with pytest.raises(DamagedError, match="is not what was written"):
        Manifest.read(folder)
