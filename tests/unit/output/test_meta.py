"""meta.json: versions and circumstances, and the commit that is checked out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import pmgt_mpi
from pmgt_mpi.output.meta import circumstances, commit

SHA = "0123456789abcdef0123456789abcdef01234567"
OTHER = "f" * 40


@pytest.fixture
def git(tmp_path):
    """A .git folder on the branch main, of which nothing else is known."""
    folder = tmp_path / ".git"
    (folder / "refs" / "heads").mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    return folder


def test_a_branch(git):
    (git / "refs" / "heads" / "main").write_text(f"{SHA}\n")
    (git / "packed-refs").write_text(f"{OTHER} refs/heads/main\n")
    assert commit(git.parent) == SHA


def test_a_detached_head(git):
    (git / "HEAD").write_text(f"{SHA}\n")
    assert commit(git.parent) == SHA


def test_packed_refs(git):
    (git / "packed-refs").write_text(
        "# pack-refs with: peeled fully-peeled sorted\n"
        f"{OTHER} refs/heads/not/refs/heads/main\n"
        f"{OTHER} refs/heads/main2\n"
        f"{SHA} refs/heads/main\n"
        f"{OTHER} refs/tags/v1\n^{OTHER}\n"
    )
    assert commit(git.parent) == SHA


def test_no_commit(git, tmp_path):
    assert commit(git.parent) is None, "a branch without a commit"
    (git / "packed-refs").write_text(f"{OTHER} refs/heads/other\n")
    assert commit(git.parent) is None
    assert commit(tmp_path / "elsewhere") is None
    file = tmp_path / "copy" / ".git"
    file.parent.mkdir()
    file.write_text("gitdir: elsewhere\n")
    assert commit(file.parent) is None


def test_a_head_that_is_no_text(git):
    (git / "HEAD").write_bytes(b"\xff\xfe\x00")
    assert commit(git.parent) is None


def test_circumstances(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("OMPI_MCA_btl", "self")
    monkeypatch.setenv("MPIR_CVAR_ENABLE_HEAVY_YIELD", "1")
    monkeypatch.setenv("SECRET", "hush")
    facts = json.loads(json.dumps(circumstances("Open MPI")))
    assert facts["schema"] == 2
    assert facts["pmgt_mpi"] == pmgt_mpi.__version__
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["environment"]["OMP_NUM_THREADS"] == "3"
    assert facts["environment"]["OMPI_MCA_btl"] == "self"
    assert facts["environment"]["MPIR_CVAR_ENABLE_HEAVY_YIELD"] == "1"
    assert "SECRET" not in facts["environment"]
    assert "\n" not in facts["mpi"]
    assert facts["started"].endswith("+00:00")
