"""A small problem of eigenvectors on all ranks, and the same in matrix form."""

from __future__ import annotations

from math import inf

import numpy as np

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms import EIGENVECTORS
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.execution.engine import PYTHON
from pmgt_mpi.gossip import MIXINGS
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import contraction, rounds_for
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers.none import NoRegularizer
from tests.reference.world import World

D = 12


def parts(m: int, skewed: bool) -> list[np.ndarray]:
    """The rows of all agents, whose means and directions differ.

    Skewed, the last of them has one row in a hundred.
    """
    rng = np.random.default_rng(3)
    sizes = [20 + (7 * i) % 11 for i in range(m)]
    if skewed and m > 1:
        sizes = [300] * (m - 1) + [max(1, 3 * (m - 1))]
    shape = 0.75 ** np.arange(D)
    turn = np.linalg.qr(rng.normal(size=(D, D)))[0]
    found = []
    for i, n in enumerate(sizes):
        A = rng.normal(size=(n, D)) * shape * (1 + 0.3 * rng.normal(size=D))
        found.append((A + 0.2 * i) @ turn)
    return found


class EigenCase:
    """One agent of the package, and all agents of the matrix form."""

    def __init__(self, comm, *, k=2, skewed=False, wire=None, engine=PYTHON):
        m = comm.size
        A = parts(m, skewed)
        N = sum(map(len, A))
        shard = Shard(A[comm.rank], None, N, m)
        collective = Collective(comm)
        self.comm = comm
        self.problem = PROBLEMS.load("pca")(shard, collective, components=k)
        network = build_network(m, np.random.default_rng(2), topology="ring")
        mixing = MIXINGS.load("chebyshev")
        self.gossip = Gossip(
            comm if wire is None else wire,
            network.neighbourhood(comm.rank),
            mixing,
            engine.exchange("persistent"),
        )
        self.agent = Agent(
            self.problem,
            NoRegularizer(),
            self.gossip,
            weight=shard.weight,
            n=-(-N // m),
            seed=5,
            stream_name="eigenvectors",
            agent_id=comm.rank,
        )
        spectrum = network.lambda_2, network.lambda_min
        self.setting = Setting(
            agents=m,
            n=-(-N // m),
            least_rows=min(map(len, A)),
            constants=None,
            sigma_psi=0.0,
            lambda_2=network.lambda_2,
            lambda_min=network.lambda_min,
            psd=network.psd,
            own_weight=network.largest_own_weight,
            steps=1000,
            mix_rounds="auto",
            rounds_for=lambda rho: rounds_for(mixing, rho, *spectrum),
            contraction=lambda M: contraction(mixing, M, *spectrum),
            round_cost=lambda: inf,
        )
        zeros = [np.zeros(len(a)) for a in A]
        W = network.W.toarray()
        self.world = World(W, A, zeros, "pca", 0.0, np.zeros(D), 0.0, "chebyshev")
        rows = np.concatenate(A)
        values, V = np.linalg.eigh(np.cov(rows.T, bias=True))
        self.values, self.V = values[::-1], V[:, ::-1]

    def method(self, name, **options):
        return EIGENVECTORS.load(name)(**options).resolve(self.setting)

    def close(self):
        self.gossip.close()
