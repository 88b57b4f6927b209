"""One agent's steps: what they cost here, and what they would send.

A method asks its agent for gradients and mixes. Here one agent stands for all the
neighbours: itself, without a network, or one on another rank. Rounds are done with the
exchange and the engine of a run. What a method does next never depends on values, and
the streams of chance are those of the run, so the counts are exactly those of any agent
in the run.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Algorithm
from pmgt_mpi.checkpoints.statefile import flatten
from pmgt_mpi.execution.engine import Engine
from pmgt_mpi.execution.setup import Setup
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import Mixing
from pmgt_mpi.graphs.neighbourhood import Neighbourhood

Array = NDArray[Any]

ONE_NUMBER = 8
"""Bytes of the message of a guard's question."""

FEW = 64
"""Rounds of a mix that are done; the others cost the same, and are only counted."""

MOST_STEPS = 5000

FITTED = 300
"""Steps, of all that were rehearsed, through which the line is laid: by all pairs."""


class Done(NamedTuple):
    """In the place of a mix under way, one that is over."""

    result: Array

    def wait(self) -> Array:
        """Return the result."""
        return self.result


class FewRounds:
    """In the place of the network: does some rounds of a mix, and counts all.

    Attributes
    ----------
    rounds, bytes
        So far: rounds, and bytes of one edge.
    done
        Rounds that were done, in `seconds`.
    """

    def __init__(self, gossip: Gossip) -> None:
        self._gossip = gossip
        self.rounds = 0
        self.bytes = 0
        self.done = 0

    @property
    def seconds(self) -> float:
        """Spent in the rounds that were done."""
        return self._gossip.seconds

    def mix(self, x: Array, rounds: int) -> Array:
        """Count the rounds of a mix, and do a few."""
        self.rounds += rounds
        self.bytes += rounds * x.nbytes
        self.done += min(rounds, FEW)
        return self._gossip.mix(x, min(rounds, FEW))

    def gossip(self, *arrays: Array) -> tuple[Array, ...]:
        """Do and count a plain round: the arrays share a message."""
        self.rounds += 1
        self.bytes += sum(array.nbytes for array in arrays)
        self.done += 1
        return self._gossip.gossip(*arrays)

    def mix_together(self, rounds: int, *arrays: Array) -> tuple[Array, ...]:
        """Count the rounds of a mix of several arrays, and do a few."""
        self.rounds += rounds
        self.bytes += rounds * sum(array.nbytes for array in arrays)
        self.done += min(rounds, FEW)
        return self._gossip.mix_together(min(rounds, FEW), *arrays)

    def disagreement(self, x: Array) -> Array:
        """Do and count a plain round of one array."""
        self.rounds += 1
        self.bytes += x.nbytes
        self.done += 1
        return self._gossip.disagreement(x)

    def largest(self, value: float, rounds: int) -> float:  # noqa: ARG002
        """Count the rounds of a guard's question; nothing grows in a rehearsal."""
        self.rounds += rounds
        self.bytes += rounds * ONE_NUMBER
        return 0.0

    def start_mix(self, x: Array, rounds: int) -> Done:
        """Do it at once: what a round costs here is not to be hidden."""
        return Done(self.mix(x, rounds))

    def start_gossip(self, x: Array) -> Done:
        """Likewise."""
        return Done(self.gossip(x)[0])


def one_for_all(
    comm: Any, degree: int, spectrum: tuple[float, float], mixing: Mixing, make: Any
) -> Gossip:
    """Return the gossip of an agent whose neighbours are all one, itself if alone."""
    other, share = comm.size - 1 - comm.rank, 1 / (degree + 1)
    weights = np.full(degree, share)
    here = Neighbourhood(
        comm.rank, comm.size, (other,) * degree, weights, share, *spectrum
    )
    return Gossip(comm, here, mixing, make)


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
        self,
        setup: Setup,
        method: Algorithm,
        network: FewRounds,
        engine: Engine,
        *,
        n: int,
        seed: int,
        stream_name: str,
    ) -> None:
        self._network = network
        self._method = method
        self._agent = Agent(
            engine.problem(setup.problem), setup.regularizer, network,
            weight=1.0, n=n, seed=seed, stream_name=stream_name,
            agent_id=setup.comm.rank,
        )  # fmt: skip
        self.rounds: list[int] = []
        self.bytes: list[int] = []
        self.gradients: list[int] = []
        self._done: list[int] = []
        self._seconds: list[float] = []
        self._mixing: list[float] = []
        self._comm, self._x0 = setup.comm, setup.x0

    def run(self, steps: int, least: float, limit: float) -> None:
        """Take the first steps of the run; collective.

        As many as asked, but three or more within `limit` seconds; and more of them as
        long as they take less than `least` seconds.
        """
        with np.errstate(all="ignore"):
            self._comm.barrier()
            start = perf_counter()
            state = self._method.init(self._agent, self._x0)
            self._note(start)
            count, wanted = 0, 3
            while count < wanted:
                start = perf_counter()
                state = self._method.step(self._agent, state)
                self._note(start)
                count += 1
                if count == 3:
                    usual = float(np.median(self._seconds[1:]))
                    fit = max(min(steps, int(limit / usual)), int(least / usual))
                    wanted = self._comm.bcast(min(fit, MOST_STEPS))
        self.state_bytes = sum(array.nbytes for array in flatten(state)[1].values())

    def _note(self, start: float) -> None:
        self._seconds.append(perf_counter() - start)
        self._mixing.append(self._network.seconds)
        self._done.append(self._network.done)
        self.rounds.append(self._network.rounds)
        self.bytes.append(self._network.bytes)
        self.gradients.append(self._agent.gradients)

    def compute_model(self) -> tuple[float, float]:
        """Seconds of a step, and of each of its component gradients, beside.

        The line through the rehearsed steps by Theil and Sen (medians): steps that
        were disturbed do not move it. Where all steps cost the same there is no slope.
        """
        counts = np.diff(self.gradients)
        seconds = np.array(self._seconds[1:]) - np.diff(self._mixing)
        some = np.linspace(0, len(counts) - 1, min(len(counts), FITTED)).astype(int)
        counts, seconds = counts[some], seconds[some]
        i, j = np.triu_indices(len(counts), 1)
        differ = counts[i] != counts[j]
        i, j = i[differ], j[differ]
        slope = 0.0
        if i.size:
            slopes = (seconds[j] - seconds[i]) / (counts[j] - counts[i])
            slope = max(0.0, float(np.median(slopes)))
        return float(np.median(seconds - slope * counts)), slope

    def round_seconds(self) -> float:
        """Seconds of a round here, with its share of what a mix costs and waits."""
        done, seconds = np.diff(self._done), np.diff(self._mixing)
        some = done > 0
        return float(np.median(seconds[some] / done[some])) if some.any() else 0.0
