"""Running one algorithm on a stage, and gathering what it cost."""

from __future__ import annotations

import platform
import resource
from collections.abc import Callable
from dataclasses import asdict
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Algorithm, Setting
from pmgt_mpi.algorithms.costs import step_cost
from pmgt_mpi.checkpoints.keeping import Keeping
from pmgt_mpi.clock import Clock
from pmgt_mpi.config.plan import AlgorithmPlan, Part, Stop
from pmgt_mpi.execution.advice import advice
from pmgt_mpi.execution.engine import Engine
from pmgt_mpi.execution.evaluation import Evaluator
from pmgt_mpi.execution.loop import run_loop
from pmgt_mpi.execution.requirements import notes, refuse_unmet
from pmgt_mpi.execution.stage import Stage
from pmgt_mpi.execution.theory_bound import theory_bound
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import Mixing, contraction, rounds_for
from pmgt_mpi.output.results import Finished, Record

Array = NDArray[Any]

SHARE = 0.1
"""Of what steps read of the rows, for records where the cadence is automatic."""

GRADIENT_READS, RECORD_READS = 2, 3


def setting_of(stage: Stage, plan: AlgorithmPlan) -> Setting:
    """Return what the parameters of an algorithm may depend on."""
    facts = stage.network
    mixing: Mixing = plan.mixing.load()
    return Setting(
        agents=stage.collective.agents,
        n=stage.n,
        least_rows=min(stage.rows),
        constants=stage.constants,
        sigma_psi=stage.regularizer.sigma,
        lambda_2=facts.lambda_2,
        lambda_min=facts.lambda_min,
        psd=facts.psd,
        steps=plan.steps,
        mix_rounds=plan.mix_rounds,
        rounds_for=lambda rho: rounds_for(
            mixing, rho, facts.lambda_2, facts.lambda_min
        ),
        contraction=lambda M: contraction(mixing, M, facts.lambda_2, facts.lambda_min),
    )


def resolved(stage: Stage, plan: AlgorithmPlan) -> AlgorithmPlan:
    """Make every word of an algorithm's section a number; collective.

    A method that cannot do what is asked is refused here, before anything runs.
    """
    collective = stage.collective
    made: AlgorithmPlan | None = None
    with collective.agreed():
        if collective.agent == 0:
            method = plan.method.make()
            refuse_unmet(plan.method.name, method, stage)
            method = method.resolve(setting_of(stage, plan))
            every = plan.evaluate_every
            made = plan._replace(
                method=plan.method._replace(options=asdict(method)),
                evaluate_every=cadence(stage, method) if every == "auto" else every,
            )
    made = collective.from_first(made)
    assert made is not None
    return made


def cadence(stage: Stage, method: Algorithm) -> int:
    """Steps between records that read the rows at most a tenth as often as steps do.

    A component gradient reads its row twice, for ⟨a, x⟩ and for the sum. A record reads
    all rows once for F, and twice more for F − F* or for the gradient mapping. A method
    that does not tell its cost is evaluated at every step.
    """
    if not hasattr(method, "traits"):
        return 1
    gradients = step_cost(method, stage.n).gradients
    return ceil(stage.n * RECORD_READS / (SHARE * gradients * GRADIENT_READS))


def execute(
    stage: Stage,
    plan: AlgorithmPlan,
    *,
    seed: int,
    stop: Stop,
    exchange: Part,
    engine: Engine,
    watch: Callable[[int, Record | None], None],
    tell: Callable[[str], None],
    with_bound: bool = False,
    keeping: Keeping | None = None,
) -> Finished:
    """Run one algorithm of a plan on a stage.

    Parameters
    ----------
    stage, plan
        What is solved, and how: `resolved`.
    seed
        Of the run; the streams come from it and the method's name.
    stop
        Reasons to stop beside the steps.
    exchange
        The form of the exchange with the neighbours.
    engine
        What runs the rounds and the minibatch products.
    watch
        Told of every record.
    tell
        Told what the user should know before it starts.
    with_bound
        Whether the records tell what the method's theorem promises.
    keeping
        Of checkpoints and interruptions; None for neither.
    """
    keeping = keeping or Keeping()
    setting = setting_of(stage, plan)
    if keeping.parameters is None:
        keeping.parameters = plan.method.options
    # As they were, although "theory" may depend on a budget that is longer now.
    algorithm: Algorithm = plan.method._replace(options=keeping.parameters).make()
    told = notes(plan.method.name, algorithm, stage)
    for note in told:
        tell(note)
    collective = stage.collective
    comm = stage.comm.Dup()
    gossip = Gossip(
        comm, stage.neighbourhood, plan.mixing.load(), engine.exchange(exchange.name)
    )
    agent = Agent(
        engine.problem(stage.problem),
        stage.regularizer,
        gossip,
        weight=stage.weight,
        n=stage.n,
        seed=seed,
        stream_name=plan.stream,
        agent_id=collective.agent,
    )
    clock, wall = Clock(), Clock()
    bound = theory_bound(stage, algorithm, setting) if with_bound else None
    evaluator = Evaluator(
        plan.label,
        stage.objective(),
        stage.x0,
        agent,
        gossip,
        clock,
        bound,
        with_mapping=stop.gradient_mapping is not None or stage.reference is None,
    )
    keeping.attend(agent, gossip, (clock, evaluator.evaluation, wall))
    collective.barrier()
    outcome = run_loop(
        algorithm,
        agent,
        stage.x0,
        clock=clock,
        wall=wall,
        evaluator=evaluator,
        collective=collective,
        steps=plan.steps,
        every=int(plan.evaluate_every),
        stop=stop,
        watch=watch,
        keeping=keeping,
    )
    x = outcome.solution
    ranks, edges = _bills(stage, plan.label, agent, gossip, clock, evaluator)
    finished = Finished(
        label=plan.label,
        name=plan.method.name,
        status=outcome.status,
        steps=outcome.steps,
        notes=told,
        parameters=asdict(algorithm),  # type: ignore[call-overload]
        records=outcome.records,
        x=collective.sum(x) / collective.agents,
        x_local=x,
        x_agents=_stacked(stage, x),
        ranks=ranks,
        edges=edges,
        advice=(
            advice(plan.label, algorithm, setting)
            if outcome.status == "diverged"
            else None
        ),
    )
    gossip.close()
    comm.Free()
    return finished


def _stacked(stage: Stage, x: Array) -> Array | None:
    """All agents' iterates, on agent 0."""
    collective = stage.collective
    rows = None
    if collective.agent == 0:
        rows = np.empty((collective.agents, *x.shape), x.dtype)
    collective.comm.Gather(np.ascontiguousarray(x), rows, root=0)
    return rows


def _bills(
    stage: Stage,
    label: str,
    agent: Agent,
    gossip: Gossip,
    clock: Clock,
    evaluator: Evaluator,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What each agent spent, and what went over each edge."""
    collective, sent = stage.collective, gossip.sent
    bill = {
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
        "rows": stage.problem.rows,
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
    words = collective.gather_to_first((bill, edges))
    return [word[0] for word in words], [edge for word in words for edge in word[1]]
