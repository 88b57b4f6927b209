"""A small problem on all ranks: as an agent of the package, and in matrix form."""

from __future__ import annotations

import numpy as np

from pmgt_mpi.agent import Agent
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.execution.engine import PYTHON
from pmgt_mpi.gossip import MIXINGS
from pmgt_mpi.gossip.server import gossip_for
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.regularizers.shrinkage import L1
from tests.reference.chance import Chance
from tests.reference.world import World

D = 5
KINDS = {
    "pca": ("shift-invert-pca", {"ratio": 2.0}),
    "ridge": ("ridge", {"l2": 0.1}),
    "logistic": ("logistic", {"l2": 0.1}),
}


def kinds_for(traits) -> list[str]:
    """The problems that a method runs on."""
    return [kind for kind in KINDS if kind != "pca" or not traits.linear]


class RecordingAgent(Agent):
    """An agent that remembers what chance gave it."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.T: list[int] = []
        self.coins: list[bool] = []
        self.own_coins: list[bool] = []
        self.batches: list[np.ndarray] = []

    def geometric(self, p):
        self.T.append(super().geometric(p))
        return self.T[-1]

    def coin(self, p):
        self.coins.append(super().coin(p))
        return self.coins[-1]

    def own_coin(self, p):
        self.own_coins.append(super().own_coin(p))
        return self.own_coins[-1]

    def minibatch(self, b):
        self.batches.append(super().minibatch(b).copy())
        return self.batches[-1]

    def choose(self, cumulative):
        self.batches.append(super().choose(cumulative))
        return self.batches[-1]


def shards(m: int, equal: bool) -> list[Shard]:
    """The rows of all agents; agents' distributions differ."""
    rng = np.random.default_rng(11)
    sizes = [12] * m if equal else [9 + (5 * i) % 8 for i in range(m)]
    parts = []
    for i, n in enumerate(sizes):
        A = rng.normal(size=(n, D)) * (1 + np.arange(D)) / 3 + 0.3 * i
        y = np.sign(A @ rng.normal(size=D) + 0.1)
        parts.append(Shard(A, y, sum(sizes), m))
    return parts


def vectors(state) -> dict[str, np.ndarray]:
    """Copies of the variables of a state that have the shape of x."""
    return {
        name: value.copy()
        for name, value in vars(state).items()
        if isinstance(value, np.ndarray) and value.shape == (D,)
    }


class Case:
    """One agent of the package, and all agents of the matrix form.

    `engine` runs rounds and minibatches; `wire` is the communicator of the gossip, if
    it is not to be `comm`; `wrap` takes the agent's f_i and gives what it sees instead.
    With `alike` all agents have the rows, and the chance, of the first.
    """

    def __init__(
        self,
        comm,
        kind,
        *,
        equal=True,
        l1=0.0,
        mixing="chebyshev",
        exchange="persistent",
        engine=PYTHON,
        wire=None,
        wrap=None,
        alike=False,
    ):
        m = comm.size
        parts = shards(m, equal)
        if alike:
            parts = parts[:1] * m
        shard = parts[comm.rank]
        collective = Collective(comm)
        name, options = KINDS[kind]
        problem = PROBLEMS.load(name)(shard, collective, **options)
        self.problem = engine.problem(problem) if wrap is None else wrap(problem)
        network = build_network(m, np.random.default_rng(2), topology="ring")
        self.comm = comm
        self.gossip = gossip_for(
            comm if wire is None else wire,
            network.neighbourhood(comm.rank),
            MIXINGS.load(mixing),
            engine.exchange(exchange),
        )
        self.agent = RecordingAgent(
            self.problem,
            L1(strength=l1) if l1 else NoRegularizer(),
            self.gossip,
            weight=shard.weight,
            n=-(-shard.total_rows // m),
            seed=5,
            stream_name="exactness",
            agent_id=0 if alike else comm.rank,
        )
        A, y = [part.A for part in parts], [part.labels for part in parts]
        c, b = options.get("l2", 0.0), np.zeros(D)
        if kind == "pca":
            # The shift from the paper's definition, not from the package.
            rows = np.concatenate(A)
            top = np.linalg.eigvalsh(rows.T @ rows / len(rows))
            c, b = top[-1] + (top[-1] - top[-2]) / 2.0, problem.b
        W = np.full((m, m), 1 / m) if mixing == "server" else network.W.toarray()
        self.world = World(W, A, y, kind, c, b, l1, mixing)

    def states(self, algorithm, steps: int) -> list[dict[str, np.ndarray]]:
        """All agents' vectors after each step, on rank 0; elsewhere an empty list."""
        state = algorithm.init(self.agent, np.full(D, 0.3))
        states = [vectors(state)]
        for _ in range(steps):
            state = algorithm.step(self.agent, state)
            states.append(vectors(state))
        gathered = self.comm.gather(states) or []
        return [
            {name: np.array([part[name] for part in parts]) for name in parts[0]}
            for parts in zip(*gathered, strict=True)
        ]

    def chance(self) -> Chance:
        """All that was drawn, on rank 0; what all agents share is the same on each."""
        shared = self.comm.allgather((self.agent.T, self.agent.coins))
        assert all(other == shared[0] for other in shared)
        own = self.comm.gather((self.agent.batches, self.agent.own_coins)) or []
        return Chance(
            T=iter(shared[0][0]),
            coins=iter(shared[0][1]),
            batches=[iter(batches) for batches, _ in own],
            own_coins=[iter(coins) for _, coins in own],
        )

    def close(self):
        self.gossip.close()
