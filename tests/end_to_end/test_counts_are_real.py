"""Messages and bytes in the log are those that MPI itself sent, edge by edge."""

from __future__ import annotations

import re
from collections import Counter
from math import log2
from pathlib import Path

import pytest

from tests.launcher import mpirun
from tests.support.running import SMALL, Left, run_config
from tests.support.traffic import GOSSIP, SUMS, Counting

EVALUATIONS = Path(__file__).parent.parent / "support" / "ten_evaluations.py"

TREE = {(1, 0), (3, 2), (2, 0)}
"""(from, to) of the sums of four agents, outside of algorithms."""


def logged(left: Left) -> tuple[Counter, Counter]:
    """Messages and bytes for each (from, to), over all algorithms of a run."""
    messages, nbytes = Counter(), Counter()
    for edge in left.table("edges.csv"):
        ends = int(edge["agent"]), int(edge["neighbour"])
        messages[ends] += int(edge["messages_sent"])
        nbytes[ends] += int(edge["bytes_sent"])
    return messages, nbytes


def test_isend_against_open_mpis_own_monitoring(tmp_path):
    (tmp_path / "graph.edgelist").write_text("0 3\n3 1\n1 2\n")  # not those of TREE
    result = run_config(
        tmp_path,
        SMALL.replace('topology = "ring"', 'file = "graph.edgelist"'),
        set=("network.exchange=isend",),
        mpirun_args=(
            "--mca", "pml_monitoring_enable", "2",
            "--mca", "pml_monitoring_enable_output", "3",
            "--mca", "pml_monitoring_filename", str(tmp_path / "traffic"),
        ),
        env={"OMPI_MCA_pml": None},
    )  # fmt: skip
    if not list(tmp_path.glob("traffic*")):
        pytest.skip("this MPI has no pml monitoring component (Open MPI has)")
    result.expect(0)
    messages, nbytes = Counter(), Counter()
    # E: messages of the program; those of collectives are listed apart.
    pattern = re.compile(r"^E\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent", re.M)
    for file in tmp_path.glob("traffic*"):
        for source, dest, size, number in pattern.findall(file.read_text()):
            messages[int(source), int(dest)] += int(number)
            nbytes[int(source), int(dest)] += int(size)
    for ends in TREE:
        assert messages.pop(ends) > 0
        nbytes.pop(ends)
    assert len(messages) == 6
    assert (messages, nbytes) == logged(Left(tmp_path / "out"))


@pytest.mark.parametrize("engine", ["python", "compiled"])
@pytest.mark.parametrize("exchange", ["isend", "persistent"])
def test_every_form_against_the_profiling_interface(tmp_path, exchange, engine):
    counting = Counting(tmp_path)
    run_config(
        tmp_path,
        set=(f"network.exchange={exchange}", f"run.engine={engine}"),
        env=counting.env,
        mpirun_args=counting.mpirun_args,
    ).expect(0)
    traffic = counting.read()
    assert len(traffic.messages[GOSSIP]) == 8
    assert (traffic.messages[GOSSIP], traffic.bytes[GOSSIP]) == logged(
        Left(tmp_path / "out")
    )
    assert set(traffic.messages[SUMS]) == TREE


def test_evaluations_and_agreements_cost_a_rank_log_m(tmp_path):
    counting = Counting(tmp_path)
    worst = {m: evaluation_traffic(counting, tmp_path, m) for m in (4, 8, 16, 32)}
    for m, (messages, nbytes, collective) in worst.items():
        growth = log2(m) / log2(4)
        assert 0 < messages <= worst[4][0] * growth
        assert 0 < nbytes <= worst[4][1] * growth
        assert 0 < collective <= worst[4][2], "what collectives give does not grow"


def evaluation_traffic(counting, folder, m):
    """What the busiest of m ranks sends and receives in ten steps of one run.

    Every step is evaluated, and agreed on.
    """
    for file in folder.glob("traffic.*"):
        file.unlink()
    mpirun(m, [EVALUATIONS], env=counting.env, mpirun_args=counting.mpirun_args).expect(
        0
    )
    traffic = counting.read()
    totals = []
    for counted in (traffic.messages[SUMS], traffic.bytes[SUMS]):
        of_rank = Counter()
        for ends, number in counted.items():
            for rank in ends:
                of_rank[rank] += number
        totals.append(max(of_rank.values()))
    assert not traffic.messages[GOSSIP]
    assert len(traffic.collective) == m
    return (*totals, max(traffic.collective.values()))
