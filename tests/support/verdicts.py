"""How a test went for each agent, and what all of them make of it."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import pytest

from tests.support.meeting import Gone, name_agents

OUTCOMES = (Exception, pytest.fail.Exception, pytest.skip.Exception)
"""What a test may raise and the others must know; an interrupt is not among them."""


class Verdict(NamedTuple):
    """How one phase of a test (set-up, call, teardown) went for one agent."""

    kind: str
    text: str = ""


class AgentsError(AssertionError):
    """Raised by all agents alike; its text names those that failed."""


class Together:
    """``with together:`` local asserts; at the end all agents fail, or none.

    The body must hold no collective: an agent that fails in it would leave the others
    waiting there.
    """

    def __init__(self, meet: Callable[[Any, BaseException | None], list[Any]]) -> None:
        self._meet = meet

    def __enter__(self) -> None:
        return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        __tracebackhide__ = True
        if error is not None and not isinstance(error, OUTCOMES):
            return
        words = self._meet(None if error is None else describe(error), error)
        if any(words):
            raise AgentsError(list_words(words)) from error


def judge(item: pytest.Item, error: BaseException | None) -> Verdict:
    """Put an outcome into words, as pytest would print it."""
    if error is None:
        return Verdict("passed")
    if isinstance(error, AgentsError):
        return Verdict("agreed", str(error))
    if isinstance(error, pytest.skip.Exception):
        return Verdict("skipped", f"skipped: {error}")
    excinfo = pytest.ExceptionInfo.from_exception(error)
    first_line = excinfo.exconly().partition("\n")[0]
    return Verdict("failed", f"{first_line}\n{item.repr_failure(excinfo)}")


def settle(error: BaseException | None, agent: int, verdicts: list[Verdict]) -> None:
    """Raise if any agent has failed, or if some have skipped and others have not."""
    own = verdicts[agent]
    kinds = {verdict.kind for verdict in verdicts}
    if kinds == {"passed"}:
        return
    if kinds == {"skipped"} or own.kind == "agreed":
        assert error is not None
        raise error
    if isinstance(error, Exception):
        error.add_note(list_verdicts(verdicts, own))
        raise error
    pytest.fail(list_verdicts(verdicts, None), pytrace=False)


def list_verdicts(verdicts: list[Verdict], known: Verdict | None) -> str:
    """Tell how it went for whom, each text once and the known one not again."""
    agents: dict[Verdict, list[int]] = {}
    for agent, verdict in enumerate(verdicts):
        agents.setdefault(verdict, []).append(agent)
    failures_first = sorted(agents, key=lambda verdict: verdict.kind == "passed")
    return "\n".join(
        f"{name_agents(agents[verdict])}: "
        + ("this" if verdict == known else verdict.text or verdict.kind)
        for verdict in failures_first
    )


def list_words(words: list[Any]) -> str:
    """Write a line for each agent whose asserts in ``with together`` failed."""
    lines = []
    for agent, word in enumerate(words):
        if isinstance(word, Gone):
            word = f"left the test before this point\n{word.word.text}".rstrip()
        if word is not None:
            lines.append(f"agent {agent}: {word}")
    return "\n".join(lines)


def describe(error: BaseException) -> str:
    """Return the text of an error, with the line of the test that it came from."""
    frame = traceback.extract_tb(error.__traceback__)[0]
    text = f"{Path(frame.filename).name}:{frame.lineno}: {error}"
    if isinstance(error, AssertionError):
        return text
    return f"{text} ({type(error).__name__})"
