"""The Python interface: `solve`, in a script that mpirun starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.checkpoints.keeper import Watched
from pmgt_mpi.config.plan import AlgorithmPlan, Part, Stop
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.algorithm import execute, resolved
from pmgt_mpi.execution.engine import Asked, choose_engine
from pmgt_mpi.execution.requirements import refuse_idle
from pmgt_mpi.execution.stage import make_stage, spread_network
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import agent_communicator, world
from pmgt_mpi.optimum.general_convex import accuracy_of
from pmgt_mpi.optimum.reference import Reference, minimise
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.problems.base import Constants, Problem
from pmgt_mpi.registry import Registry
from pmgt_mpi.regularizers import REGULARIZERS
from pmgt_mpi.regularizers.base import Regularizer
from pmgt_mpi.streams import stream
from pmgt_mpi.watchdog.guard import guarded

Array = NDArray[Any]
Named = str | Mapping[str, Any]
"""A registered name, or a mapping with the name and its options."""


@dataclass(frozen=True)
class Result:
    """What `solve` gives on every agent.

    Attributes
    ----------
    x
        The solution: the average of the agents' iterates.
    x_local
        This agent's own iterate.
    status
        ``converged``, ``budget`` or ``diverged``.
    trace
        One record for each evaluation, with the names of metrics.jsonl.
    counts
        The costs of the whole run: the last record's steps, seconds, gradients,
        rounds, messages and bytes.
    parameters
        Of the algorithm, as used.
    notes
        Assumptions of the algorithm's proof that do not hold here, and the memory
        that it takes beside its iterates.
    reference
        The minimiser that was found at set-up, if there is one.
    engine
        ``compiled`` or ``python``.
    """

    x: Array
    x_local: Array
    status: str
    trace: list[dict[str, Any]]
    counts: dict[str, Any]
    parameters: dict[str, Any]
    notes: list[str]
    reference: Array | None
    engine: str


def solve(
    problem: Problem | Named | Callable[..., Problem],
    rows: Any = None,
    labels: ArrayLike | None = None,
    *,
    regularizer: Regularizer | Named = "none",
    network: Any = "ring",
    weights: Any = "laplacian",
    algorithm: Named = "pmgt-katyushax",
    mixing: str = "chebyshev",
    mix_rounds: int | str = "auto",
    steps: int = 1000,
    relative_suboptimality: float | None = None,
    stop_epsilon: float | None = None,
    gradient_mapping: float | None = None,
    seconds: float | None = None,
    wall_seconds: float | None = None,
    evaluate_every: int | Literal["auto"] = 1,
    reference: bool = True,
    theory_bound: bool = False,
    epsilon: float | None = None,
    radius: float | None = None,
    x0: ArrayLike | None = None,
    seed: int = 1,
    exchange: str = "persistent",
    engine: Asked = "auto",
    timeout: float = 600.0,
    comm: Any = None,
) -> Result:
    """Minimise (1/m) Σ_i f_i(x) + psi(x); every rank calls it with its own data.

    Parameters
    ----------
    problem
        A registered name (``"ridge"``), a mapping with its options
        (``{"kind": "ridge", "l2": 0.1}``), a class that is made as
        ``Class(shard, collective)``, or this agent's own object with `value`, `grad`
        and `minibatch_grad` (see `pmgt_mpi.problems.base.Problem`).
    rows, labels
        This agent's data; not needed where `problem` is an object that has its own.
    regularizer
        psi: a name, a mapping with ``kind`` and options, or an object.
    network
        A topology's name, a mapping with ``topology`` and its options, or a networkx
        graph; None if the graph is that of a matrix in `weights`.
    weights
        A name, or the gossip matrix W itself.
    algorithm
        A name, or a mapping with ``name`` and the algorithm's options.
    mixing, mix_rounds
        The polynomial, and its rounds M.
    steps, seconds, wall_seconds
        Limits: of steps, of the algorithm's clock, and of all its time, evaluations
        included.
    relative_suboptimality, stop_epsilon, gradient_mapping
        Values at which it has converged: of (F − F*) / (F at the start − F*), of
        F − F*, and of ‖x − prox(x − ∇f(x))‖ at the average, which needs no minimiser.
    evaluate_every
        Steps between evaluations; 0 is only at the start and the end; ``"auto"`` as
        often as the rows that are read for it are at most a tenth of what steps read.
    reference
        Whether to find the minimiser first, for the suboptimality in the trace.
    theory_bound
        Whether each record tells as ``theory_bound`` what the method's theorem promises
        of the suboptimality: None where it has none, or other parameters are used.
    epsilon, radius
        For an F that is convex but not strongly: the method runs on
        F(x) + (eps_f/2)‖x‖² with the paper's eps_f for the accuracy epsilon, found from
        the minimiser or from the radius, a bound on ‖x*‖. The trace tells F itself.
    x0
        Where to start, the same on every agent; zero if not given.
    seed
        Of all random choices.
    exchange
        Form of the messages: ``persistent`` or ``isend``.
    engine
        What runs the gossip rounds and minibatch gradients: ``compiled``, ``python``,
        or ``auto``, which is the first where there is a C compiler.
    timeout
        Seconds that an agent may wait for another; then the job is ended, with code 4,
        and the agent is named that does not come.
    comm
        An mpi4py communicator; the world if not given.

    An error that all ranks come to is raised on all of them, and may be caught. One on
    some ranks alone would leave the others waiting: it ends the job within seconds, and
    the agent is named.
    """
    if not 0 < timeout < np.inf:
        raise UserError(f"solve: timeout = {timeout}: expected a positive number")
    agents = agent_communicator(world() if comm is None else comm)
    collective = Collective(agents.Dup())
    try:
        with guarded(agents, timeout) as watchdog:
            watchdog.seat(collective)
            method = _part(collective, ALGORITHMS, "name", algorithm)
            psi = _part(collective, REGULARIZERS, "kind", regularizer)
            psi = psi.make() if isinstance(psi, Part) else psi
            chosen = choose_engine(collective, engine)
            row = spread_network(
                collective, lambda: _network(network, weights, collective.agents, seed)
            )
            f = _problem(collective, problem, rows, labels)
            with collective.agreed():
                accuracy = accuracy_of(epsilon, radius)
            start = np.zeros(f.shape)
            start += 0.0 if x0 is None else np.asarray(x0)

            def find_reference(
                weight: float, constants: Constants | None
            ) -> Reference | None:
                if not reference:
                    return None
                return minimise(f, psi, collective, weight, constants)

            stage = make_stage(
                agents, collective, row, f, psi, start, find_reference, accuracy
            )
            stop = Stop(
                relative_suboptimality,
                stop_epsilon,
                gradient_mapping,
                seconds,
                wall_seconds,
            )
            with collective.agreed():
                refuse_idle(stop, stage)
            asked = AlgorithmPlan(
                label=method.name,
                stream=method.name,
                method=method,
                mixing=Part(mixing, MIXINGS.address(mixing)),
                mix_rounds=mix_rounds,
                steps=steps,
                evaluate_every=evaluate_every,
            )
            finished = execute(
                stage,
                resolved(stage, asked),
                seed=seed,
                stop=stop,
                exchange=Part(exchange, EXCHANGES.address(exchange)),
                engine=chosen,
                watch=lambda step, record: None,  # noqa: ARG005
                tell=lambda note: None,  # noqa: ARG005
                with_bound=theory_bound,
                keeping=Watched(watchdog, method.name),
            )
    finally:
        collective.comm.Free()
        agents.Free()
    last = finished.records[-1]
    return Result(
        x=finished.x,
        x_local=finished.x_local,
        status=finished.status,
        trace=finished.records,
        counts={name: last[name] for name in COUNTS},
        parameters=finished.parameters,
        notes=finished.notes,
        reference=None if stage.reference is None else stage.reference.x,
        engine=chosen.name,
    )


COUNTS = (
    "step",
    "seconds",
    "compute_seconds",
    "comm_seconds",
    "gradients",
    "gradients_paper",
    "rounds",
    "messages",
    "bytes",
)


def _part(collective: Collective, registry: Registry, key: str, given: Any) -> Any:
    """Check a name and its options on agent 0; an object is taken as it is."""
    if not isinstance(given, str | Mapping):
        return given
    part: Part | None = None
    with collective.agreed():
        if collective.agent == 0:
            from pydantic import create_model

            from pmgt_mpi.config.checking import Section, check_part

            keys: dict[str, Any] = {key: (str, ...)}
            fixed = create_model(key, __base__=Section, **keys)
            values = {key: given} if isinstance(given, str) else dict(given)
            where = f"solve: {registry.kind}"
            part, _ = check_part(
                registry, key, values, fixed, where, allow_plugins=None
            )
    return collective.from_first(part)


def _network(network: Any, weights: Any, agents: int, seed: int) -> Any:
    """Build the network on agent 0."""
    from pmgt_mpi.graphs.build import build_network

    options: dict[str, Any] = {}
    if isinstance(network, Mapping):
        options = {key: v for key, v in network.items() if key != "topology"}
        network = network.get("topology")
    return build_network(
        agents,
        stream(seed, "graph"),
        topology=network,
        options=options,
        weights=weights,
    )


def _problem(
    collective: Collective, problem: Any, rows: Any, labels: ArrayLike | None
) -> Problem:
    """Make this agent's f_i."""
    part = _part(collective, PROBLEMS, "kind", problem)
    if not isinstance(part, Part) and not isinstance(part, type):
        own: Problem = part
        return own
    with collective.agreed():
        if rows is None:
            raise UserError(
                "solve: this problem needs data; give rows= (and labels=), this "
                "agent's own"
            )
        A = rows if hasattr(rows, "indptr") else np.ascontiguousarray(rows, float)
        y = None if labels is None else np.asarray(labels, float)
    total = sum(collective.gather(int(A.shape[0])))
    shard = Shard(A, y, total, collective.agents)
    made: Problem
    if isinstance(part, Part):
        with collective.agreed():
            made = part.make(shard, collective)
    else:
        made = part(shard, collective)
    return made
