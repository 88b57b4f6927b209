"""Running one algorithm, and gathering what it cost."""

from __future__ import annotations

import platform
import resource
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Algorithm
from pmgt_mpi.checkpoints.policy import Unsaved
from pmgt_mpi.clock import Clock
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.execution.advice import advice
from pmgt_mpi.execution.engine import Engine
from pmgt_mpi.execution.evaluation import Evaluator
from pmgt_mpi.execution.loop import run_loop
from pmgt_mpi.execution.setup import Setup
from pmgt_mpi.execution.theory_bound import theory_bound
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.server import gossip_for
from pmgt_mpi.output.results import Finished, Record
from pmgt_mpi.parameters.cadence import tells_mapping
from pmgt_mpi.parameters.guard import guarded
from pmgt_mpi.parameters.requirements import notes
from pmgt_mpi.parameters.resolve import setting_of

Array = NDArray[Any]


def no_record(step: int, record: Record | None) -> None:
    """Show nothing."""


def no_note(note: str) -> None:
    """Say nothing."""


def run_algorithm(
    setup: Setup,
    config: Config,
    section: AlgorithmSection,
    engine: Engine,
    *,
    watch: Callable[[int, Record | None], None] = no_record,
    tell: Callable[[str], None] = no_note,
    hooks: Unsaved | None = None,
) -> Finished:
    """Run one algorithm of a resolved config.

    Parameters
    ----------
    setup, config, section
        What is solved, and how.
    engine
        What runs the rounds and the minibatch products.
    watch
        Told of every record.
    tell
        Told what the user should know before it starts.
    hooks
        Of checkpoints and interruptions; None for neither.
    """
    hooks = hooks or Unsaved()
    method: Algorithm = section.method
    facts = setup.network
    algorithm = guarded(method, section.guard, facts.diameter, setup.n)
    setting = setting_of(setup, config, section)
    remarks = notes(section.name, method, setup)
    for note in remarks:
        tell(note)
    collective = setup.collective
    comm = setup.comm.Dup()
    gossip = gossip_for(
        comm,
        setup.neighbourhood,
        config.mixing_of(section),
        engine.exchange(config.network.exchange),
    )
    agent = Agent(
        engine.problem(setup.problem),
        setup.regularizer,
        gossip,
        weight=setup.weight,
        n=setup.n,
        seed=config.run.seed,
        stream_name=section.stream,
        agent_id=collective.agent,
    )
    clock, wall = Clock(), Clock()
    with_bound = config.evaluate.theory_bound
    bound = theory_bound(setup, method, setting) if with_bound else None
    stop = config.stop
    evaluator = Evaluator(
        section.label,
        setup.objective(),
        setup.x0,
        agent,
        gossip,
        clock,
        bound,
        with_mapping=tells_mapping(stop, setup),
    )
    hooks.attach(agent, gossip, (clock, evaluator.evaluation, wall))
    collective.barrier()
    outcome = run_loop(
        algorithm,
        agent,
        setup.x0,
        clock=clock,
        wall=wall,
        evaluator=evaluator,
        collective=collective,
        steps=config.steps(section),
        every=int(config.every(section)),
        stop=stop,
        watch=watch,
        hooks=hooks,
    )
    if algorithm is not method and (told := algorithm.told(outcome.state)):
        remarks.append(f"{section.label}: {told}")
        tell(remarks[-1])
    x = outcome.solution
    ranks, edges = _costs(setup, section.label, agent, gossip, clock, evaluator)
    finished = Finished(
        label=section.label,
        name=section.name,
        status=outcome.status,
        steps=outcome.steps,
        notes=remarks,
        parameters=asdict(method),  # type: ignore[call-overload]
        records=outcome.records,
        x=collective.sum(x) / collective.agents,
        x_local=x,
        x_agents=_stacked(setup, x),
        ranks=ranks,
        edges=edges,
        advice=(
            advice(section.label, method, setting)
            if outcome.status == "diverged"
            else None
        ),
    )
    gossip.close()
    comm.Free()
    return finished


def _stacked(setup: Setup, x: Array) -> Array | None:
    """All agents' iterates, on agent 0."""
    collective = setup.collective
    rows = None
    if collective.agent == 0:
        rows = np.empty((collective.agents, *x.shape), x.dtype)
    collective.comm.Gather(np.ascontiguousarray(x), rows, root=0)
    return rows


def _costs(
    setup: Setup,
    label: str,
    agent: Agent,
    gossip: Gossip,
    clock: Clock,
    evaluator: Evaluator,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What each agent spent, and what went over each edge."""
    collective, sent = setup.collective, gossip.sent
    costs = {
        "algorithm": label,
        "agent": collective.agent,
        "host": platform.node(),
        "compute_seconds": clock.seconds - gossip.seconds,
        "comm_seconds": gossip.seconds,
        "evaluation_seconds": evaluator.evaluation.seconds,
        "rounds": gossip.rounds,
        "messages": sent.messages,
        "bytes": sent.bytes,
        "gradients": agent.gradients,
        "gradients_paper": agent.gradients_paper,
        "rows": setup.problem.rows,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    edges = [
        {
            "algorithm": label,
            "agent": collective.agent,
            "neighbour": neighbour,
            "messages_sent": out.messages,
            "bytes_sent": out.bytes,
        }
        for neighbour, out in gossip.edges().items()
    ]
    words = collective.gather_to_first((costs, edges))
    return [word[0] for word in words], [edge for word in words for edge in word[1]]
