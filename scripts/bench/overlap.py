"""(7) Steps whose round travels while the gradient is computed, against rounds first.

Usage, under mpirun: python overlap.py LINK [TURNS]; LINK is told with the figures.
"""

from __future__ import annotations

import sys
from functools import partial
from time import perf_counter, sleep

from pmgt_mpi.environment import prepare

prepare()

import numpy as np  # noqa: E402
from engines import engines  # noqa: E402
from mpi4py import MPI  # noqa: E402
from ratios import interleave, spread, tell  # noqa: E402

from pmgt_mpi.agent import Agent  # noqa: E402
from pmgt_mpi.algorithms.dsa import DSA  # noqa: E402
from pmgt_mpi.algorithms.extra import Extra  # noqa: E402
from pmgt_mpi.algorithms.pg_extra import PGExtra  # noqa: E402
from pmgt_mpi.data.shard import Shard  # noqa: E402
from pmgt_mpi.gossip.gossip import Gossip  # noqa: E402
from pmgt_mpi.gossip.polynomials import chebyshev  # noqa: E402
from pmgt_mpi.graphs.build import build_network  # noqa: E402
from pmgt_mpi.mpi.collective import Collective  # noqa: E402
from pmgt_mpi.problems.logistic import Logistic  # noqa: E402
from pmgt_mpi.problems.pca import ShiftInvertPCA  # noqa: E402
from pmgt_mpi.regularizers.shrinkage import L1  # noqa: E402

SIZES = (50, 5000)
PCA_SIZES = (50, 2000)
"""There is no Gram matrix of more columns than 2,048."""
COSTS = (0.3, 1.0, 3.0)
"""What a gradient costs, in rounds."""
FEW_ROWS, MOST_BYTES = 4, 400_000_000
"""Of an agent."""
ROUNDS = 20
"""In a row, to learn what one takes."""
SECONDS = {True: 0.15, False: 0.002}
"""About how long one measurement takes, if a round takes a millisecond, and if not;
then there are `MORE` times as many, so that other work spoils few of them."""
SLOW, MORE = 1e-3, 20
EXTRA, PG_EXTRA = Extra(step_size=1e-3), PGExtra(step_size=1e-3)


class Over:
    """In the place of a round under way, one that is over."""

    def __init__(self, result):
        self._result = result

    def wait(self):
        """Return the result."""
        return self._result


class InTurn(Agent):
    """An agent that does a round at once when it is to start it."""

    def start_gossip(self, x):
        """Do a plain round."""
        return Over(self.gossip(x))


class Elsewhere:
    """f_i = ‖x‖²/20 whose gradient takes its time, but of no core of this machine."""

    rows = 100

    def __init__(self, d, seconds):
        self.shape, self._seconds = (d,), seconds

    def grad(self, x):
        """∇f_i(x), later."""
        sleep(self._seconds)
        return 0.1 * x


def rows_of(comm, n, d, labels):
    """An agent's rows."""
    rng = np.random.default_rng(comm.rank)
    A = rng.standard_normal((n, d), np.float32).astype(np.float64)
    y = np.where(A[:, 0] > 0, 1.0, -1.0) if labels else None
    return Shard(A, y, n * comm.size, comm.size)


def seconds_of(comm, call, number=1):
    """Median of how long a call takes on the slowest rank, for some in a row."""
    taken = []
    for _ in range(9):
        comm.Barrier()
        start = perf_counter()
        for _ in range(number):
            call()
        taken.append(max(comm.allgather(perf_counter() - start)) / number)
    return float(np.median(taken[2:]))


def agent_of(comm, kind, problem, gossip):
    """An agent of a kind, always with the same chance."""
    return kind(
        problem, L1(strength=1e-4), gossip, weight=1.0, n=problem.rows, seed=1,
        stream_name="overlap", agent_id=comm.rank,
    )  # fmt: skip


def logistic(comm, d, wanted):
    """Logistic regression whose gradient takes about so many seconds."""
    n = 100
    for _ in range(4):
        problem = Logistic(rows_of(comm, n, d, True), Collective(comm), l2=0.1)
        took = seconds_of(comm, partial(problem.grad, np.zeros(d)))
        n = int(min(max(n * wanted / took, FEW_ROWS), MOST_BYTES // (8 * d)))
    return problem


def estimate_of(comm, problem, wanted):
    """Rows of a minibatch for which SAGA's estimate takes about so many seconds."""
    agent, x, b = agent_of(comm, Agent, problem, None), np.zeros(problem.shape), 100
    _, table, mean = agent.remember(x)
    for _ in range(4):
        B = agent.minibatch(b)
        took = seconds_of(comm, lambda B=B: agent.saga(x, B, table, mean))
        b = int(min(max(b * wanted / took, 1), problem.rows))
    return b


def cases(comm, engine, round_of):
    """What a gradient is, the method, the problem."""
    for d in SIZES:
        for cost in COSTS:
            problem = engine.problem(logistic(comm, d, cost * round_of(d)))
            yield f"logistic, {cost:g} rounds", EXTRA, problem
            if cost == 1:
                yield f"logistic, {cost:g} rounds", PG_EXTRA, problem
                b = estimate_of(comm, problem, round_of(d))
                yield (
                    "logistic, b rows in 1 round",
                    DSA(batch_size=b, step_size=1e-4),
                    problem,
                )
                b = round(problem.rows**0.5)
                yield (
                    "logistic, b = √n rows",
                    DSA(batch_size=b, step_size=1e-4),
                    problem,
                )
        if round_of(d) > SLOW:
            yield "elsewhere, 1 rounds", EXTRA, Elsewhere(d, round_of(d))
    for d in PCA_SIZES:
        shard = rows_of(comm, max(500, d + 100), d, False)
        problem = ShiftInvertPCA(shard, Collective(comm))
        problem.prepare()
        yield "PCA, Gram matrix", EXTRA, engine.problem(problem)


def measure(comm, method, problem, gossip, turns, slow):
    """Compare a method whose rounds are started with one whose rounds are over."""
    x0 = np.zeros(problem.shape)
    states = {}

    def steps(name, number, agent):
        start = perf_counter()
        for _ in range(number):
            states[name] = method.step(agent, states[name])
        return perf_counter() - start

    agents = {
        "in turn": agent_of(comm, InTurn, problem, gossip),
        "overlapped": agent_of(comm, Agent, problem, gossip),
    }
    for name, agent in agents.items():
        states[name] = method.init(agent, x0)
        took = max(comm.allgather(steps(name, 5, agent))) / 5
    number = comm.bcast(max(3, int(SECONDS[slow] / took)))
    runs = {name: partial(steps, name, number, one) for name, one in agents.items()}
    seconds = interleave(comm, runs, turns if slow else MORE * turns)
    ends = {method.solution(state).tobytes() for state in states.values()}
    assert len(ends) == 1, "other bits"
    ratio = np.array(seconds["in turn"]) / np.array(seconds["overlapped"])
    return float(np.median(seconds["in turn"])) / number, spread(ratio)


def main() -> None:
    """Measure all cases with both engines."""
    comm = MPI.COMM_WORLD
    link, turns = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15
    network = build_network(comm.size, np.random.default_rng(1), topology="ring")
    here = network.neighbourhood(comm.rank)
    results = []
    for name, engine in engines(comm).items():
        gossip = Gossip(comm, here, chebyshev, engine.exchange("persistent"))
        rounds = {}
        for d in (*SIZES, *PCA_SIZES):
            x = np.ones(d)
            rounds[d] = seconds_of(comm, partial(gossip.gossip, x), ROUNDS)
        slow = rounds[SIZES[0]] > SLOW
        for gradient, method, problem in cases(comm, engine, rounds.get):
            (d,) = problem.shape
            step, ratio = measure(comm, method, problem, gossip, turns, slow)
            result = {
                "link": link, "ranks": comm.size, "engine": name,
                "method": type(method).__name__, "gradient": gradient, "d": d,
                "round_ms": round(1e3 * rounds[d], 4), "step_ms": round(1e3 * step, 4),
                "ratio": ratio,
            }  # fmt: skip
            results.append(result)
            if comm.rank == 0:
                told = " ".join(f"{ratio[key]:.2f}" for key in ratio)
                told = " ".join(map(str, [*result.values()][:-1])) + " " + told
                sys.stderr.write(told + "\n")
        gossip.close()
    tell(comm, results)


main()
