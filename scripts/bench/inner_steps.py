"""(3) The minibatch of an inner step, dense and CSR, as the shard grows.

Usage: python inner_steps.py FOLDER [REPEATS]
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

from pmgt_mpi.environment import prepare

prepare()

import ctypes  # noqa: E402

import numpy as np  # noqa: E402
from contenders import load, numpy_blas, pointer  # noqa: E402
from engines import engines  # noqa: E402
from mpi4py import MPI  # noqa: E402
from ratios import compare, fastest, interleave, spread, tell  # noqa: E402
from scipy.sparse import csr_array  # noqa: E402

from pmgt_mpi.agent import Agent  # noqa: E402
from pmgt_mpi.data.shard import Shard  # noqa: E402
from pmgt_mpi.mpi.collective import Collective  # noqa: E402
from pmgt_mpi.problems.ridge import Ridge  # noqa: E402
from pmgt_mpi.regularizers.none import NoRegularizer  # noqa: E402

ROWS = (3_000, 30_000, 300_000)
B, STEPS = 173, 200
DENSE_COLUMNS = 50
CSR_COLUMNS, CSR_ENTRIES = 1_000, 50
"""As many numbers in a row as the dense rows have, spread over more columns."""


def make_rows(n, sparse):
    """Rows of a shard."""
    rng = np.random.default_rng(n)
    if not sparse:
        return rng.standard_normal((n, DENSE_COLUMNS))
    start = rng.integers(0, CSR_COLUMNS, (n, 1))
    stride = CSR_COLUMNS // CSR_ENTRIES
    columns = np.sort((start + stride * np.arange(CSR_ENTRIES)) % CSR_COLUMNS)
    entries = rng.standard_normal(columns.size)
    starts = np.arange(n + 1) * CSR_ENTRIES
    return csr_array(
        (entries, columns.ravel().astype(np.int32), starts.astype(np.int32)),
        (n, CSR_COLUMNS),
    )


def contenders_of(comm, program, both, n, sparse):
    """For one size of shard: both engines, and the same gather in C."""
    A = make_rows(n, sparse)
    shard = Shard(A, np.zeros(n), n, 1)
    problem = Ridge(shard, Collective(comm), l2=0.1)
    d = shard.columns
    w, w0 = np.random.default_rng(1).standard_normal((2, d))
    delta = w - w0
    agents = {
        name: Agent(
            engine.problem(problem), NoRegularizer(), None,
            weight=1.0, n=n, seed=1, stream_name="bench", agent_id=0,
        )
        for name, engine in both.items()
    }  # fmt: skip

    def ours(agent):
        def run():
            start = perf_counter()
            for _ in range(STEPS):
                agent.grad_difference(w, w0, agent.minibatch(B))
            return perf_counter() - start

        return run

    runs = {name: ours(agent) for name, agent in agents.items()}
    blas = numpy_blas()
    if program is None or blas is None:
        return runs
    rng = np.random.default_rng(2)
    rows, out = rng.integers(0, n, (STEPS, B)), np.zeros(d)
    for function in (program.time_dense, program.time_csr):
        function.restype = ctypes.c_double
    size = ctypes.c_int64
    end = (pointer(delta), ctypes.c_double(1 / B), pointer(out))
    middle = (size(d), pointer(rows), size(B), size(STEPS))
    starts = A.indptr.astype(np.int64) if sparse else None
    kept = (A, rows, delta, out, starts)

    def in_c(copied):
        def run():
            assert kept
            if sparse:
                arrays = map(pointer, (A.data, starts, A.indices))
                return program.time_csr(*arrays, *middle, *end)
            begin = (ctypes.byref(blas), copied, pointer(A))
            return program.time_dense(*begin, *middle, *end)

        return run

    in_c(1)()
    for agent in agents.values():
        result = agent.grad_difference(w, w0, rows[-1]) - problem.c * delta
        assert np.abs(result - out).max() < 1e-12 * np.abs(out).max()
    forms = {"C": 1} if sparse else {"C gemv": 1, "C dot and axpy": 0}
    return {name: in_c(copied) for name, copied in forms.items()} | runs


def main() -> None:
    """Measure both layouts, all sizes of the shard interleaved."""
    comm = MPI.COMM_WORLD
    program = load(Path(sys.argv[1]), "gather")
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    both = engines(comm)
    results = []
    for sparse in (False, True):
        runs = {
            (n, name): run
            for n in ROWS
            for name, run in contenders_of(comm, program, both, n, sparse).items()
        }
        seconds = interleave(comm, runs, repeats)
        first = {name: np.array(s) for (n, name), s in seconds.items() if n == ROWS[0]}
        for n in ROWS:
            here = {name: s for (size, name), s in seconds.items() if size == n}
            result = compare(here, fastest(here, "C"), STEPS)
            growth = {k: spread(np.array(s) / first[k]) for k, s in here.items()}
            layout = "csr" if sparse else "dense"
            results.append({"layout": layout, "n": n, "growth": growth, **result})
    tell(comm, results)


main()
