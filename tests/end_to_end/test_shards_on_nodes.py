"""Shards that lie on the nodes: no rank opens another agent's file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.running import SMALL, run_config

HOOK = """
import os, sys
rank = os.environ.get("OMPI_COMM_WORLD_RANK")
log = None if rank is None else os.open(f"opened-{rank}", os.O_CREAT | os.O_WRONLY)
def hook(event, arguments):
    if log is not None and event == "open" and "part-" in str(arguments[0]):
        os.write(log, f"{arguments[0]}\\n".encode())
sys.addaudithook(hook)
"""
"""Python itself tells of every file that a process opens."""


def write_npy(path, rows):
    np.save(path, rows)


def write_csv(path, rows):
    np.savetxt(path, rows, delimiter=",")


@pytest.mark.parametrize("placement", [[0, 1, 2, 3], [0, 3, 1, 2]])
@pytest.mark.parametrize(("source", "write"), [("npy", write_npy), ("csv", write_csv)])
def test_a_rank_opens_its_own_agents_file_and_no_other(
    tmp_path, source, write, placement
):
    A = np.random.default_rng(0).choice([-1.0, 1.0], size=(600, 8))
    for agent, rows in enumerate(np.split(A, 4)):
        write(tmp_path / f"part-{agent}.{source}", rows)
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    path = f'path = "part-{{agent}}.{source}"\n'
    text = SMALL.replace("rows = 600\ncolumns = 8\n", path)
    text = text.replace('source = "bernoulli"', f'source = "{source}"')
    env = {"PYTHONPATH": str(tmp_path)}
    set_ = ("stop.steps=2", f"network.placement={placement}")
    run_config(tmp_path, text, set=set_, env=env).expect(0)
    for rank, agent in enumerate(placement):
        opened = set((tmp_path / f"opened-{rank}").read_text().split())
        assert {Path(name).name for name in opened} == {f"part-{agent}.{source}"}
