"""The setting with a server: a round is the exact mean of all agents, through agent 0.

What decentralized methods are compared with: every method runs on it, as on a graph
whose W is 11ᵀ/m. In a round every other agent sends one vector to agent 0 and then gets
one from it, so that agent 0 sends and receives m − 1 messages.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pmgt_mpi.clock import seconds_since
from pmgt_mpi.gossip.exchange import Exchange, Rounds, aligned_rows
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import Mixing, server
from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.mpi.library import MPI

Array = NDArray[Any]

SERVER = 0
"""Id of the agent that takes the mean."""


def spectrum_of(
    mixing: Mixing, lambda_2: float, lambda_min: float
) -> tuple[float, float]:
    """λ_2 and λ_min of the W that a mixing works on: those of the graph, or 0."""
    return (0.0, 0.0) if mixing is server else (lambda_2, lambda_min)


def gossip_for(
    comm: Any,
    neighbourhood: Neighbourhood,
    mixing: Mixing,
    exchange: Callable[[Any, Neighbourhood, int, DTypeLike], Exchange],
) -> Gossip:
    """Return the agent's gossip: on its graph, or by way of the server."""
    if mixing is server:
        return ServerGossip(comm, with_server(neighbourhood), mixing, ServerExchange)
    return Gossip(comm, neighbourhood, mixing, exchange)


def with_server(here: Neighbourhood) -> Neighbourhood:
    """Return the agent's place in a star: what it takes is what agent 0 sends."""
    if here.agents == 1:
        return here
    if here.agent == SERVER:
        others = tuple(i for i in range(here.agents) if i != SERVER)
        share = 1 / here.agents
        weights, own = np.full(len(others), share), share
    else:
        others, weights, own = (SERVER,), np.ones(1), 0.0
    return here._replace(
        neighbours=others, weights=weights, own_weight=own, lambda_2=0.0, lambda_min=0.0
    )


class ServerExchange(Exchange):
    """Means of all agents, with nonblocking messages to agent 0 and back.

    The mean is x_0 + (1/m) Σ_i (x_i − x_0), in order of id: exactly x where all agents
    agree.
    """

    def __init__(
        self, comm: Any, neighbourhood: Neighbourhood, size: int, dtype: DTypeLike
    ) -> None:
        super().__init__(comm, neighbourhood, size, dtype)
        self._serves = neighbourhood.agent == SERVER
        self._agents = neighbourhood.agents
        self._own = aligned_rows(1, size, dtype)[0]
        self.received = aligned_rows(len(self.neighbours), size, dtype)
        self._requests: list[Any] = []
        self._calls = 0

    def rounds_of(self, weights: Array, shape: tuple[int, ...]) -> Rounds:
        """Return the functions that take the mean as often as there are weights."""

        def run(x: Array) -> Array:
            self._begin(x)
            return finish()

        def finish() -> Array:
            for left in reversed(range(len(weights))):
                mean = self._mean()
                self.rounds += 1
                if left:
                    self._begin(mean)
            return mean.reshape(shape)

        return Rounds(run, self._begin, finish)

    def _begin(self, x: Array) -> None:
        """Post the receives, and what goes to the server."""
        self._own[...] = x.reshape(-1)
        pairs = zip(self.received, self.neighbours, strict=True)
        self._requests = [self.comm.Irecv(row, source) for row, source in pairs]
        if not self._serves:
            self._requests.append(self.comm.Isend(self._own, SERVER))

    def _mean(self) -> Array:
        """Wait for what was posted; the server then sends what it has summed up."""
        MPI.Request.Waitall(self._requests)
        self._calls += 1
        if not self._serves:
            sent: Array = self.received[0].copy()
            return sent
        mean: Array = self._own + (self.received - self._own).sum(axis=0) / self._agents
        MPI.Request.Waitall([self.comm.Isend(mean, dest) for dest in self.neighbours])
        self._calls += 1
        return mean

    def largest(self, value: float) -> float:
        """Take the largest number of all in place of the mean, in one round."""
        self._begin(np.array([value], self._own.dtype))
        MPI.Request.Waitall(self._requests)
        self._calls += 1
        if self._serves:
            found = np.maximum(self.received.max(axis=0), self._own)
            MPI.Request.Waitall([self.comm.Isend(found, at) for at in self.neighbours])
            self._calls += 1
        else:
            found = self.received[0]
        self.rounds += 1
        return float(found[0])

    def progress(self) -> int:
        """Return how often messages were waited for."""
        return self._calls


class ServerGossip(Gossip):
    """All that an agent can do where there is a server."""

    def largest(self, value: float, rounds: int) -> float:  # noqa: ARG002
        """Return the largest value of all: the server knows it after one round."""
        if self.alone:
            return value
        exchange = self._exchange(1, np.dtype(np.float64))
        assert isinstance(exchange, ServerExchange)
        self.entered = start = perf_counter()
        found = exchange.largest(value)
        self.seconds += seconds_since(start)
        self.entered = 0.0
        return found
