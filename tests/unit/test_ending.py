"""How the job ends: which rank waits for which."""

from __future__ import annotations

import subprocess
import sys

from pmgt_mpi.mpi.ending import _is_there


def test_a_rank_that_has_ended_counts_only_where_its_launcher_reaps_it_at_once():
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE
    ) as process:
        pid = process.pid
        assert _is_there(pid, reaps=True)
        assert _is_there(pid, reaps=False)
        assert process.stdin is not None
        process.stdin.close()
        while _is_there(pid, reaps=False):  # until it has ended; nobody reaps it
            pass
        assert _is_there(pid, reaps=True)
    assert not _is_there(pid, reaps=True)
    assert not _is_there(pid, reaps=False)
