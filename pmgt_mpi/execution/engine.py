"""Which engine a run has: the same on all agents, agreed on before they start."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

from pmgt_mpi.engine import BuildError
from pmgt_mpi.engine.library import Library
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
            "gradients": "compiled" if compiled else "python",
            "why": self.why,
        }


PYTHON = Engine("python")


def choose_engine(collective: Collective, asked: Asked) -> Engine:
    """Return all agents the same engine; collective.

    The object is built by agent 0, then by the first agent of every host that still
    does not see it, and only then loaded by all: no two agents of a host compile.
    """
    agent = collective.agent
    words, hosts = zip(*collective.gather((asked, platform.node())), strict=True)
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
    first = hosts.index(hosts[agent])

    def make() -> Any:
        from pmgt_mpi.engine.compiler import build, object_path

        path = object_path()
        build(path)
        return path

    def attempt(mine: bool, action: Callable[[], Any]) -> tuple[Any, str]:
        """Let some agents do something; give the result and anybody's complaint."""
        result, complaint = None, None
        if mine:
            try:
                result = action()
            except BuildError as error:
                complaint = f"{error} (agent {agent} on {hosts[agent]})"
        return result, collective.first_word(complaint) or ""

    library = None
    _, why = attempt(agent == 0, make)
    if not why:
        path, why = attempt(agent == first, make)
        path = collective.gather(path)[first]
    if not why:
        library, why = attempt(True, lambda: Library(path))
    if why and asked == "compiled":
        raise AgreedError(f"engine 'compiled' cannot be used: {why}; or use 'auto'")
    return Engine("python", why) if why else Engine("compiled", "", library)
