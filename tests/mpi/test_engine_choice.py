"""Choosing the engine: what is wrong on one agent is told on all."""

from __future__ import annotations

import os

import pytest

from pmgt_mpi.execution.engine import choose_engine
from pmgt_mpi.mpi.collective import AgreedError

ENGINES = ("compiled", "python", "auto")


def refusal(collective, asked) -> str:
    """What the agents are told if the engine is refused on this one."""
    with pytest.raises(AgreedError) as error:
        choose_engine(collective, asked)
    return str(error.value)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize(
    ("first", "last"),
    [("auto", "python"), ("python", "compiled"), ("auto", "fortran"), ("fortran", "c")],
)
def test_agents_that_ask_for_different_engines(collective, together, first, last):
    end = collective.agents - 1
    told = refusal(collective, last if collective.agent == end else first)
    with together:
        assert told == (
            f"agents ask for different engines: agent 0 for '{first}', agent {end} for "
            f"'{last}'; expected the same of all"
        )


@pytest.mark.parametrize("asked", ["fortran", None, 3])
def test_an_engine_of_no_name(collective, together, asked):
    told = refusal(collective, asked)
    with together:
        assert told.startswith(f"unknown engine '{asked}'; ")


@pytest.fixture
def unreadable(monkeypatch):
    """Sources of the engine that cannot be read."""
    from pmgt_mpi.engine import variants

    monkeypatch.setattr(variants, "SOURCES", ("gone.c",))


def test_a_source_that_is_gone(collective, together, unreadable):  # noqa: ARG001
    engine = choose_engine(collective, "auto")
    with together:
        assert engine.name == "python"
        assert "gone.c" in engine.why
        assert f"(agent 0 on {os.uname().nodename})" in engine.why
    told = refusal(collective, "compiled")
    with together:
        assert told.startswith("engine 'compiled' cannot be used: cannot read ")


@pytest.mark.mpi(min_size=2)
def test_an_engine_that_one_agent_lacks_runs_on_none(collective, together, monkeypatch):
    from pmgt_mpi.engine import variants

    last = collective.agents - 1
    if collective.agent == last:
        monkeypatch.setattr(variants, "SOURCES", ("gone.c",))
    engine = choose_engine(collective, "auto")
    with together:
        assert engine.name == "python"
        assert f"(agent {last} on " in engine.why
