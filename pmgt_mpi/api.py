"""The Python interface: `solve`, in a script that mpirun starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.environment import one_blas_thread
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.engine import Asked
from pmgt_mpi.execution.given import Given, check_objects
from pmgt_mpi.execution.run import run
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import agent_communicator, given_or_world
from pmgt_mpi.problems.base import Problem
from pmgt_mpi.registry import address_of, is_named
from pmgt_mpi.regularizers.base import Regularizer
from pmgt_mpi.watchdog.guard import guarded

Array = NDArray[Any]
Named = str | Mapping[str, Any]
"""A registered name, or a mapping with the name and its options."""


@dataclass(frozen=True)
class Result:
    """What `solve` returns on every agent.

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
    algorithm: Named | type | object = "pmgt-katyushax",
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
    round_in_gradients: float | Literal["auto"] = "auto",
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
        A name (``"ridge"``, or ``"module:Class"``), a mapping with its options
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
        A name, a mapping with the keys of an [[algorithm]] of a config, or a class or
        an object of your own.
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
    round_in_gradients
        What a round costs in component gradients, for parameters that are ``"auto"``:
        a number, or ``"auto"`` as measured at set-up, when a parameter depends on it.
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
        or ``auto``, which is the first where it was built with the package.
    timeout
        Seconds that an agent may wait for another; then the job is ended, with code 4,
        and the agent is named that does not come.
    comm
        An mpi4py communicator; the world if not given.

    Names, options and numbers are checked as those of a config are; those of agent 0
    count. BLAS has one thread meanwhile, unless OMP_NUM_THREADS or its like say
    otherwise.

    An error that all ranks come to is raised on all of them, and may be caught. One on
    some ranks alone would leave the others waiting: it ends the job within seconds, and
    the agent is named.
    """
    named = {
        "problem": problem,
        "regularizer": regularizer,
        "network": network,
        "weights": weights,
        "algorithm": algorithm,
    }
    others = {
        "exchange": exchange,
        "epsilon": epsilon,
        "radius": radius,
        "seed": seed,
        "engine": engine,
        "timeout": timeout,
        "mixing": mixing,
        "mix_rounds": mix_rounds,
        "steps": steps,
        "relative_suboptimality": relative_suboptimality,
        "stop_epsilon": stop_epsilon,
        "gradient_mapping": gradient_mapping,
        "seconds": seconds,
        "wall_seconds": wall_seconds,
        "evaluate_every": evaluate_every,
        "reference": reference,
        "theory_bound": theory_bound,
        "round_in_gradients": round_in_gradients,
    }
    with ExitStack() as opened, one_blas_thread():
        everyone = Collective(agent_communicator(given_or_world(comm)))
        opened.callback(everyone.comm.Free)
        with guarded(everyone.comm, _agreed_timeout(everyone, timeout)) as watchdog:
            config = _agreed_config(everyone, named, others)
            given = Given(
                network=None if is_named(network) else network,
                weights=None if isinstance(weights, str) else weights,
                rows=rows,
                labels=labels,
                problem=None if is_named(problem) else problem,
                regularizer=None if is_named(regularizer) else regularizer,  # type: ignore[arg-type]
                x0=x0,
            )
            with everyone.agreed():
                check_objects(given)
            ended = run(config, everyone, watchdog, opened, given=given)
    (finished,), minimiser = ended.done, ended.setup.reference
    last = finished.records[-1]
    return Result(
        x=finished.x,
        x_local=finished.x_local,
        status=finished.status,
        trace=finished.records,
        counts={name: last[name] for name in COUNTS},
        parameters=finished.parameters,
        notes=finished.notes,
        reference=None if minimiser is None else minimiser.x,
        engine=ended.engine,
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


def _agreed_timeout(everyone: Collective, timeout: Any) -> float:
    """Check how long an agent may wait: agent 0's counts for all; collective."""
    with everyone.agreed():
        if everyone.agent == 0:
            from pmgt_mpi.config.arguments import checked_timeout

            timeout = checked_timeout(timeout)
    return float(everyone.from_first(timeout))


def _agreed_config(
    everyone: Collective, named: dict[str, Any], others: dict[str, Any]
) -> Config:
    """Check the arguments on agent 0; collective.

    An algorithm of the program's own stays where it is: it may be of a class that other
    ranks cannot import by name.
    """
    config: Config | None = None
    own = None if is_named(named["algorithm"]) else named["algorithm"]
    with everyone.agreed():
        if isinstance(own, type):
            own = own()
        if own is not None and not is_dataclass(own):
            raise UserError(
                f"solve: algorithm {type(own).__name__} is no dataclass; expected a "
                "frozen one with init, step and solution, whose fields are its "
                "parameters"
            )
    with everyone.agreed():
        if everyone.agent == 0:
            from pmgt_mpi.config.arguments import config_of_arguments

            config = config_of_arguments(named, others)
    config = everyone.from_first(config)
    assert config is not None
    if own is None:
        return config
    section = AlgorithmSection(name=address_of(type(own)), method=own)
    return replace(config, algorithm=(section,))
