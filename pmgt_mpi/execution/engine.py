"""Which engine a run has: the same on all agents, agreed on before they start."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

from pmgt_mpi.engine.library import Library
from pmgt_mpi.engine.variants import BuildError
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.problems.base import Problem
from pmgt_mpi.registry import nearest

Asked = Literal["auto", "python", "compiled"]
_NAMES: list[str] = list(get_args(Asked))


class Engine(NamedTuple):
    """What runs the gossip rounds and the minibatch products.

    Attributes
    ----------
    name
        ``python`` or ``compiled``.
    why
        Why it is not the compiled one though that was not ruled out; else nothing.
    library
        The compiled functions.
    """

    name: Literal["python", "compiled"]
    why: str = ""
    library: Library | None = None

    def exchange(self, form: str) -> Callable[..., Any]:
        """What makes the exchanges, in one of the forms of `EXCHANGES`."""
        from pmgt_mpi.gossip import EXCHANGES

        if self.library is None:
            return EXCHANGES.load(form)
        from pmgt_mpi.gossip.compiled import compiled_exchange

        return compiled_exchange(self.library, form)

    def problem(self, problem: Problem) -> Problem:
        """The same f_i, its minibatch products in C where they can be."""
        if self.library is None:
            return problem
        from pmgt_mpi.problems.compiled_rows import with_compiled_rows

        chosen: Problem = with_compiled_rows(problem, self.library)
        return chosen

    def facts(self, problem: Problem) -> dict[str, str]:
        """What the log tells."""
        compiled = self.problem(problem) is not problem
        return {
            "name": self.name,
            "build": "" if self.library is None else self.library.variant,
            "gradients": "compiled" if compiled else "python",
            "why": self.why,
        }


PYTHON = Engine("python")


def choose_engine(collective: Collective, asked: Asked) -> Engine:
    """Return the engine, the same on all agents; collective.

    It is the compiled one if every agent can load it, in whichever build its processor
    takes: all builds give the same bits.
    """
    words = collective.gather(asked)
    for other, word in enumerate(words):
        if word != words[0]:
            raise AgreedError(
                f"agents ask for different engines: agent 0 for '{words[0]}', agent "
                f"{other} for '{word}'; expected the same of all"
            )
    if asked not in _NAMES:
        raise AgreedError(f"unknown engine '{asked}'; {nearest(str(asked), _NAMES)}")
    if asked == "python":
        return PYTHON
    library, complaint = None, None
    try:
        library = Library()
    except BuildError as error:
        complaint = f"{error} (agent {collective.agent} on {platform.node()})"
    why = collective.first_word(complaint) or ""
    if why and asked == "compiled":
        raise AgreedError(f"engine 'compiled' cannot be used: {why}; or use 'auto'")
    return Engine("python", why) if why else Engine("compiled", "", library)
