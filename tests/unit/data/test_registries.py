from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

from pmgt_mpi.data import PARTITIONS, SCALINGS, SOURCES
from pmgt_mpi.registry import Registry


@pytest.mark.parametrize("registry", [SOURCES, PARTITIONS, SCALINGS])
def test_every_name_can_be_loaded_and_says_what_it_is(registry: Registry) -> None:
    for name in registry:
        assert callable(registry.load(name))
        assert registry.summary(name).endswith((".", ":"))


def test_options_of_a_source_are_keywords_with_annotations() -> None:
    for name in SOURCES:
        for parameter in inspect.signature(SOURCES.load(name)).parameters.values():
            assert parameter.kind is parameter.KEYWORD_ONLY
            assert parameter.annotation is not parameter.empty


HEAVY = """
import sys
from mpi4py import MPI
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.data import SOURCES
from pmgt_mpi.data.loading import load_shard
options = {"rows": 50, "columns": 3}
source = SOURCES.load("gaussian")(**options, labels="sign")
load_shard(Collective(MPI.COMM_SELF), source, partition="by-label", scale="standard")
for name in ("npy", "csv", "libsvm"):
    SOURCES.load(name)
print([m for m in ("scipy", "sklearn", "networkx", "pydantic") if m in sys.modules])
"""


def test_a_dense_run_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HEAVY], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
