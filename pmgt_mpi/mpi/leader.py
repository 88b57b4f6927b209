"""One agent decides, all agents compute.

An iteration that every agent repeats for itself would have to take the same branches
everywhere, though another processor may round in another way. So agent 0 alone runs it,
and the others answer what it asks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pmgt_mpi.mpi.collective import Collective

T = TypeVar("T")


def led_by_first(
    collective: Collective,
    together: Callable[..., Any],
    solve: Callable[[Callable[..., Any]], T],
) -> T:
    """Run ``solve(ask)`` on agent 0 alone; return its result on every agent.

    Parameters
    ----------
    collective
        All agents; every one of them must make this call.
    together
        A function with collectives in it. ``ask(…)`` makes all agents call it with
        agent 0's arguments.
    solve
        An iteration that sees the agents through ``ask`` only. It must not raise
        `UserError`: only agent 0 would know.
    """
    result: T | None = None
    if collective.agent == 0:

        def ask(*arguments: Any) -> Any:
            collective.from_first(arguments)
            return together(*arguments)

        result = solve(ask)
        collective.from_first(None)
    else:
        while (arguments := collective.from_first(None)) is not None:
            together(*arguments)
    return collective.from_first(result)  # type: ignore[no-any-return]
