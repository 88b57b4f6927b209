"""(1) One gossip round of both engines against the same round in C, on these ranks.

Usage, under mpirun: python rounds.py FOLDER [REPEATS [D...]]
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

from pmgt_mpi.environment import prepare

prepare()

import ctypes  # noqa: E402

import numpy as np  # noqa: E402
from contenders import load, pointer  # noqa: E402
from engines import engines  # noqa: E402
from mpi4py import MPI  # noqa: E402
from ratios import compare, fastest, interleave, tell  # noqa: E402
from targets import SIZES  # noqa: E402

from pmgt_mpi.gossip.gossip import Gossip  # noqa: E402
from pmgt_mpi.gossip.polynomials import chebyshev  # noqa: E402
from pmgt_mpi.graphs.build import build_network  # noqa: E402

MIXES = (4, 20)
"""Rounds in one mix: few, and so many that the call itself no longer counts."""
SECONDS = 0.02
"""About how long one measurement takes."""


def measure(comm, program, both, neighbourhood, d, rounds, repeats):
    """Compare rounds of one size of vector, so many to a mix."""
    x = np.random.default_rng(comm.rank).normal(size=d)
    gossips = {
        name: Gossip(comm, neighbourhood, chebyshev, engine.exchange("persistent"))
        for name, engine in both.items()
    }
    expected = gossips["python"].mix(x, rounds)
    start = perf_counter()
    for _ in range(20):
        gossips["python"].mix(x, rounds)
    one = max(comm.allgather(perf_counter() - start)) / 20
    mixes = comm.bcast(max(3, int(SECONDS / one)))

    def ours(gossip):
        def run():
            start = perf_counter()
            for _ in range(mixes):
                gossip.mix(x, rounds)
            return perf_counter() - start

        return run

    contenders = {}
    if program is not None:
        program.time_rounds.restype = ctypes.c_double
        ids = np.array(neighbourhood.neighbours, np.int32)
        weights = gossips["python"]._weights(rounds)
        out = np.zeros(d)

        def in_c(form):
            def run():
                return program.time_rounds(
                    comm.py2f(), form, len(ids), pointer(ids), d, pointer(x),
                    pointer(weights), rounds, mixes, pointer(out),
                )  # fmt: skip

            return run

        contenders = {"C isend": in_c(0), "C persistent": in_c(1)}
        for run in contenders.values():
            run()
            error = np.abs(out - expected).max()
            assert max(comm.allgather(error)) < 1e-12, f"C differs by {error}"
    contenders |= {name: ours(gossip) for name, gossip in gossips.items()}
    for gossip in gossips.values():
        error = np.abs(gossip.mix(x, rounds) - expected).max()
        assert max(comm.allgather(error)) < 1e-12, f"engines differ by {error}"
    seconds = interleave(comm, contenders, repeats)
    for gossip in gossips.values():
        gossip.close()
    result = compare(seconds, fastest(seconds, "C "), mixes * rounds)
    return {"ranks": comm.size, "d": d, "rounds_of_a_mix": rounds, **result}


def main() -> None:
    """Measure every size."""
    comm = MPI.COMM_WORLD
    program = load(Path(sys.argv[1]), "round")
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    sizes = [int(size) for size in sys.argv[3:]] or SIZES
    network = build_network(comm.size, np.random.default_rng(1), topology="ring")
    here = network.neighbourhood(comm.rank)
    both = engines(comm)
    results = [
        measure(comm, program, both, here, d, rounds, repeats)
        for d in sizes
        for rounds in MIXES
    ]
    tell(comm, results)


main()
