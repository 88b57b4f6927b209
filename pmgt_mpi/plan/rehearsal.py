"""One agent's steps without a network: what they cost here, and what they would send.

A method asks its agent for gradients and mixes. Here every mix gives back what it gets
and is counted. What a method does next never depends on values, and the streams of
chance are those of the run, so the counts are exactly those of any agent in the run.
"""

from __future__ import annotations

from dataclasses import fields
from time import perf_counter
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Algorithm
from pmgt_mpi.gossip.exchange import Exchange, Rounds
from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.runtime.stage import Stage

Array = NDArray[Any]

REPEATS = 5


class Counting:
    """In the place of the gossip: counts rounds, and the bytes of a message."""

    def __init__(self) -> None:
        self.rounds = 0
        self.bytes = 0

    def mix(self, x: Array, rounds: int) -> Array:
        """Count the rounds of a mix."""
        self.rounds += rounds
        self.bytes += rounds * x.nbytes
        return x.copy()

    def gossip(self, *arrays: Array) -> tuple[Array, ...]:
        """Count a plain round: the arrays share a message."""
        self.rounds += 1
        self.bytes += sum(array.nbytes for array in arrays)
        return tuple(array.copy() for array in arrays)


class Rehearsal:
    """Steps of a method on one agent's rows.

    Attributes
    ----------
    rounds, bytes
        After the start and after each step: rounds so far, and bytes of one edge.
    gradients
        Likewise, of this agent.
    state_bytes
        Of the arrays in the method's state.
    """

    def __init__(
        self, stage: Stage, method: Algorithm, *, n: int, seed: int, label: str
    ) -> None:
        self._network = Counting()
        self._method = method
        self._agent = Agent(
            stage.problem, stage.regularizer, self._network,
            weight=1.0, n=n, seed=seed, label=label, agent_id=0,
        )  # fmt: skip
        self.rounds: list[int] = []
        self.bytes: list[int] = []
        self.gradients: list[int] = []
        self._seconds: list[float] = []
        self._x0 = stage.x0

    def run(self, steps: int, limit: float) -> None:
        """Take the first steps of the run, three or more within `limit` seconds."""
        end = perf_counter() + limit
        with np.errstate(all="ignore"):
            state = self._method.init(self._agent, self._x0)
            self._note()
            for step in range(steps):
                start = perf_counter()
                if step >= 3 and start > end:
                    break
                state = self._method.step(self._agent, state)
                self._seconds.append(perf_counter() - start)
                self._note()
        arrays = [getattr(state, field.name) for field in fields(state)]
        self.state_bytes = sum(getattr(array, "nbytes", 0) for array in arrays)

    def _note(self) -> None:
        self.rounds.append(self._network.rounds)
        self.bytes.append(self._network.bytes)
        self.gradients.append(self._agent.gradients)

    def compute_model(self) -> tuple[float, float]:
        """Seconds of a step, and of each of its component gradients, beside.

        The line through the rehearsed steps by Theil and Sen (medians): steps that
        were disturbed do not move it. Where all steps cost the same there is no slope.
        """
        counts, seconds = np.diff(self.gradients), np.array(self._seconds)
        i, j = np.triu_indices(len(counts), 1)
        differ = counts[i] != counts[j]
        i, j = i[differ], j[differ]
        slope = 0.0
        if i.size:
            slopes = (seconds[j] - seconds[i]) / (counts[j] - counts[i])
            slope = max(0.0, float(np.median(slopes)))
        return float(np.median(seconds - slope * counts)), slope


def round_seconds(make: type[Exchange], degree: int, size: int, dtype: Any) -> float:
    """Cost of a gossip round without a network: an agent that is its own neighbours."""
    own = np.full(degree, 1 / (degree + 1))
    here = Neighbourhood(0, 1, (0,) * degree, own, 1 / (degree + 1), 0.0, 0.0)
    return timed_rounds(make(MPI.COMM_SELF, here, size, dtype), size, degree, dtype)


def timed_rounds(exchange: Exchange, size: int, degree: int, dtype: Any) -> float:
    """Seconds of a round of an exchange, the best of a few mixes."""
    rounds = 50
    weights = np.full((rounds, degree + 2), 1 / (degree + 1), dtype)
    weights[:, 0] = 0.0
    run, x = exchange.rounds_of(weights), np.ones(size, dtype)
    best = min(_timed(run, x) for _ in range(REPEATS))
    exchange.close()
    return best / rounds


def _timed(run: Rounds, x: Array) -> float:
    start = perf_counter()
    run(x)
    return perf_counter() - start


def measured_link(make: type[Exchange], world: Any) -> tuple[float, float]:
    """Latency (s) and bandwidth (bytes/s) between ranks 0 and 1, from gossip rounds."""
    pair = world.Split(0 if world.rank < 2 else MPI.UNDEFINED)
    told = None
    if world.rank < 2:
        beyond = []
        for size in (16, 65536):
            here = Neighbourhood(
                pair.rank, 2, (1 - pair.rank,), np.array([0.5]), 0.5, 0.0, 0.0
            )
            both = timed_rounds(make(pair, here, size, float), size, 1, float)
            beyond.append(both - round_seconds(make, 1, size, float))
        latency = max(beyond[0], 1e-8)
        told = latency, 8 * 65536 / max(beyond[1] - latency, 1e-7)
        pair.Free()
    latency, bandwidth = world.bcast(told, root=0)
    return float(latency), float(bandwidth)
