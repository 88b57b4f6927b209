"""What agents agree on: that all input is right, and whether all are done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.mpi.collective import AgreedError, Collective

Array = NDArray[Any]


class InputError(AgreedError, ValueError):
    """Wrong input, told in the same words on every agent."""


@contextmanager
def agreed_input(everyone: Collective) -> Iterator[None]:
    """Let every agent raise what one of them finds wrong; at set-up, collective.

    Where there is one agent alone, it raises what it found.
    """
    problem = None
    try:
        yield
    except (ValueError, TypeError) as error:
        if everyone.agents == 1:
            raise
        problem = f"agent {everyone.agent}: {error}"
    problem = everyone.first_word(problem)
    if problem is not None:
        raise InputError(problem)


def refuse_differing(everyone: Collective, own: dict[str, Any]) -> None:
    """Refuse what all agents must have in common, and have not; collective."""
    words = everyone.gather(own)
    for what, first in words[0].items():
        for agent, word in enumerate(words):
            if word[what] != first:
                raise InputError(
                    f"agent {agent} has {what} {word[what]}, and agent 0 has {first}; "
                    "expected the same of all"
                )


def diameter(everyone: Collective, neighbours: tuple[int, ...]) -> int:
    """Most edges between two agents of the graph; collective, at set-up."""
    graph = everyone.gather_to_first(neighbours)
    longest = 0
    for source in range(len(graph)):
        seen, edge, steps = {source}, {source}, -1
        while edge:
            edge = {other for agent in edge for other in graph[agent]} - seen
            seen |= edge
            steps += 1
        longest = max(longest, steps)
    return int(everyone.from_first(longest))


def anywhere(gossip: Gossip, flags: Array, rounds: int) -> Array:
    """Say which flags are up on any agent, by max-consensus over so many rounds.

    The weights of W are not negative and an agent's own is positive, so that a mean of
    the neighbours' flags is positive where one of theirs is up.
    """
    up = flags.astype(np.float64)
    for _ in range(0 if gossip.alone else rounds):
        up = (gossip.gossip(up)[0] + up > 0).astype(np.float64)
    return up > 0
