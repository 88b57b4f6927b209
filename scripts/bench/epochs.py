"""(2) One epoch of PMGT-KatyushaX on both engines against the same in C with BLAS.

Usage, under mpirun: python epochs.py FOLDER [REPEATS]
"""

from __future__ import annotations

import sys
from math import ceil
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

from pmgt_mpi.environment import prepare

prepare()

import ctypes  # noqa: E402

import numpy as np  # noqa: E402
from contenders import load, numpy_blas, pointer  # noqa: E402
from engines import engines  # noqa: E402
from mpi4py import MPI  # noqa: E402
from ratios import compare, fastest, interleave, tell  # noqa: E402

from pmgt_mpi.agent import Agent  # noqa: E402
from pmgt_mpi.algorithms.pmgt_katyushax import PMGTKatyushaX, State  # noqa: E402
from pmgt_mpi.clock import Clock  # noqa: E402
from pmgt_mpi.data.shard import Shard  # noqa: E402
from pmgt_mpi.gossip.gossip import Gossip  # noqa: E402
from pmgt_mpi.gossip.polynomials import chebyshev  # noqa: E402
from pmgt_mpi.graphs.build import build_network  # noqa: E402
from pmgt_mpi.mpi.collective import Collective  # noqa: E402
from pmgt_mpi.problems.pca import ShiftInvertPCA  # noqa: E402
from pmgt_mpi.regularizers.none import NoRegularizer  # noqa: E402

N, D = 30_000, 50
BATCHES = (173, 500)
ROUNDS = (4, 0)
"""Of a mix. Without any an epoch is what each rank does for itself."""
ETA, TAU = 0.05, 0.3

FLOATS = ("eta", "tau", "c", "kappa")
ARRAYS = ("A", "Q", "shift", "y", "q", "s_hat", "grad_x", "rows", "weights")


class EpochStruct(ctypes.Structure):
    """`epoch` of epoch.c."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n", "d", "b", "inner")),
        *((name, ctypes.c_double) for name in FLOATS),
        *((name, ctypes.c_void_p) for name in ARRAYS),
        ("rounds", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("y_out", "q_out", "s_out")),
    )


class SteadyAgent(Agent):
    """An agent whose epochs all have the mean length, so that they can be compared."""

    def geometric(self, p: float) -> int:
        """T + 1 = 1/p."""
        return round(1 / p) - 1


class Switches:
    """How often the system put another process in this one's place, run by run."""

    def __init__(self, run, steps):
        self._run, self._steps = run, steps
        self.in_a_step = []

    def __call__(self):
        """Run, and take the number down."""
        before = self._so_far()
        seconds = self._run()
        self.in_a_step.append((self._so_far() - before) / self._steps)
        return seconds

    def _so_far(self):
        used = getrusage(RUSAGE_SELF)
        return used.ru_nvcsw + used.ru_nivcsw


def measure(comm, program, both, neighbourhood, problem, b, M, repeats):
    """Compare epochs of one batch size and one number of rounds."""
    method = PMGTKatyushaX(batch_size=b, step_size=ETA, momentum=TAU, mix_rounds=M)
    inner = ceil(N / b)

    def agent_of(engine):
        gossip = Gossip(comm, neighbourhood, chebyshev, engine.exchange("persistent"))
        agent = SteadyAgent(
            engine.problem(problem), NoRegularizer(), gossip,
            weight=1.0, n=N, seed=1, stream_name="bench", agent_id=comm.rank,
        )  # fmt: skip
        return agent, gossip

    drawing, first = agent_of(both["python"])
    state = method.step(drawing, method.init(drawing, np.full(D, 0.1)))
    start = perf_counter()
    method.step(drawing, state)
    one = max(comm.allgather(perf_counter() - start))
    epochs = comm.bcast(max(1, int(0.05 / one)))
    results = {}

    def ours(name, engine):
        agent, gossip = agent_of(engine)
        results[name] = method.step(agent, state)
        clock = Clock()

        def run():
            before = clock.seconds
            for _ in range(epochs):
                with clock:
                    method.step(agent, state)
            return clock.seconds - before

        return run, gossip

    made = {name: ours(name, engine) for name, engine in both.items()}
    contenders = {}
    blas = numpy_blas()
    if program is not None and blas is not None:
        drawing, other = agent_of(both["python"])
        rows = np.concatenate([drawing.minibatch(b).copy() for _ in range(inner)])
        out = State(*[np.zeros(D) for _ in range(5)])
        ids = np.array(neighbourhood.neighbours, np.int32)
        arrays = {
            "A": problem.A.A, "Q": problem.Q, "shift": problem.q, "y": state.y,
            "q": state.q, "s_hat": state.s_hat, "grad_x": state.grad_x, "rows": rows,
            "weights": first._weights(M or 1), "y_out": out.y, "q_out": out.q,
            "s_out": out.s_hat,
        }  # fmt: skip
        told = EpochStruct(
            n=N, d=D, b=b, inner=inner, eta=ETA, tau=TAU, c=problem.c,
            kappa=problem.kappa, rounds=M,
            **{name: array.ctypes.data for name, array in arrays.items()},
        )  # fmt: skip
        program.time_epochs.restype = ctypes.c_double

        def in_c(persistent, copied):
            def run():
                assert arrays
                return program.time_epochs(
                    comm.py2f(), persistent, copied, len(ids), pointer(ids),
                    ctypes.byref(blas), ctypes.byref(told), epochs,
                )  # fmt: skip

            return run

        contenders = {
            "C gemv, isend": in_c(0, 1),
            "C gemv, persistent": in_c(1, 1),
            "C dot and axpy, persistent": in_c(1, 0),
        }
        for run in contenders.values():
            run()
            for result in results.values():
                for name in ("y", "q", "s_hat"):
                    x = getattr(result, name)
                    error = np.abs(x - getattr(out, name)).max() / np.abs(x).max()
                    assert max(comm.allgather(error)) < 1e-12, f"{name}: {error}"
        other.close()
    # C runs one epoch more, to be warm, within the call that is timed.
    counted = {
        name: Switches(run, (epochs + 1) * inner) for name, run in contenders.items()
    }
    for name, (run, _) in made.items():
        counted[name] = Switches(run, epochs * inner)
    seconds = interleave(comm, counted, repeats)
    first.close()
    for _, gossip in made.values():
        gossip.close()
    result = compare(seconds, fastest(seconds, "C "), epochs * inner)
    result["switches"] = {
        name: float(np.mean(comm.allgather(np.median(one.in_a_step))))
        for name, one in counted.items()
    }
    return {"ranks": comm.size, "b": b, "M": M, "inner_steps": inner, **result}


def main() -> None:
    """Measure every batch size, with messages and without."""
    comm = MPI.COMM_WORLD
    program = load(Path(sys.argv[1]), "epoch")
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    network = build_network(comm.size, np.random.default_rng(1), topology="ring")
    A = np.random.default_rng(comm.rank).choice([-1.0, 1.0], (N, D))
    A *= np.linspace(0.1, 1.0, D) / np.sqrt(D)
    problem = ShiftInvertPCA(Shard(A, None, N * comm.size, comm.size), Collective(comm))
    here, both = network.neighbourhood(comm.rank), engines(comm)
    tell(
        comm,
        [
            measure(comm, program, both, here, problem, b, M, repeats)
            for b in BATCHES
            for M in ROUNDS
        ],
    )


main()
