"""The phases of the set-up: rows, functions, constants and minimiser."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.config.schema import Config
from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.shard import Shard, check_magnitude
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.evaluation import Objective
from pmgt_mpi.execution.given import Given
from pmgt_mpi.execution.network import Place
from pmgt_mpi.graphs.neighbourhood import Neighbourhood, NetworkFacts
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.accuracy import accuracy_of
from pmgt_mpi.optimum.cache import cached_minimise
from pmgt_mpi.optimum.eigenvectors import leading_eigenvectors
from pmgt_mpi.optimum.reference import Reference, minimise
from pmgt_mpi.parameters.estimates import asks_for_constants, estimated_constants
from pmgt_mpi.problems.base import Constants, Problem
from pmgt_mpi.regularizers.base import Regularizer
from pmgt_mpi.streams import seed_sequence

Array = NDArray[Any]


class Loaded(NamedTuple):
    """The agent's rows, where the problem needs any.

    Attributes
    ----------
    shard
        The rows.
    digest, nbytes
        Their fingerprint, if they are those of [data], and their size.
    """

    shard: Shard | None
    digest: str = ""
    nbytes: int = 0


class Setup(NamedTuple):
    """One agent's view of a run before any algorithm starts.

    Attributes
    ----------
    comm, collective, neighbourhood, network
        As in `Place`.
    problem, regularizer, constants, reference
        f_i and psi as the algorithms see them, the constants, and the minimiser of the
        F that is reported, the latter two where they are known.
    rows
        n_i of every agent.
    x0
        Where every algorithm starts, on every agent.
    measured
        The f_i of the F that is reported, without the term of epsilon.
    epsilon_f
        The factor of that term, where there is one.
    digest, nbytes
        Fingerprint and size of this agent's rows, if they are those of [data].
    constants_seconds
        What measuring the constants took.
    """

    comm: Any
    collective: Collective
    neighbourhood: Neighbourhood
    network: NetworkFacts
    problem: Problem
    regularizer: Regularizer
    constants: Constants | None
    reference: Reference | None
    rows: list[int]
    x0: Array
    measured: Problem
    epsilon_f: float | None
    digest: str = ""
    nbytes: int = 0
    constants_seconds: float = 0.0

    @property
    def n(self) -> int:
        """n = ⌈N / m⌉, which all agents share."""
        return -(-sum(self.rows) // len(self.rows))

    @property
    def weight(self) -> float:
        """m n_i / N."""
        return shard_weight(self.rows, self.collective.agent)

    def objective(self) -> Objective:
        """F, for evaluation."""
        return Objective(
            self.collective,
            self.measured,
            self.regularizer,
            self.weight,
            self.reference,
        )


def shard_weight(rows: list[int], agent: int) -> float:
    """m n_i / N: exactly 1 for equal shards."""
    return len(rows) * rows[agent] / sum(rows)


def load_rows(config: Config, given: Given, collective: Collective) -> Loaded:
    """Load this agent's rows, on all agents together."""
    if config.data is None:
        return Loaded(_given_rows(given, collective))
    with collective.agreed():
        shard = shard_of(config, collective, given.source)
    with collective.agreed():  # by itself: it may fail on one agent alone
        check_magnitude(shard)
    return Loaded(shard, shard.digest(), shard.nbytes)


def shard_of(config: Config, collective: Collective, source: Any = None) -> Shard:
    """Load this agent's rows as [data] says, perhaps from another source."""
    data = config.data
    assert data is not None
    return load_shard(
        collective,
        source or data.make_source(),
        base=Path(config.folder),
        partition=data.partition,
        scale=data.scale,
        layout=data.layout,
        shares=data.shares,
        seed=seed_sequence(config.run.seed if data.seed is None else data.seed, "data"),
        dtype=config.run.dtype,
    )


def _given_rows(given: Given, collective: Collective) -> Shard | None:
    """The rows that a program has given; an f_i of its own needs none."""
    own = given.problem is not None and not isinstance(given.problem, type)
    if own:
        return None
    with collective.agreed():
        if given.rows is None:
            raise UserError(
                "solve: this problem needs data; give rows= (and labels=), this "
                "agent's own"
            )
        sparse = hasattr(given.rows, "indptr")
        A = given.rows if sparse else np.ascontiguousarray(given.rows, float)
        if A.dtype.kind != "f":
            A = A.astype(float)
        y = None if given.labels is None else np.asarray(given.labels, float)
    total = sum(collective.gather(int(A.shape[0])))
    shard = Shard(A, y, total, collective.agents)
    with collective.agreed():  # by itself: it may fail on one agent alone
        check_magnitude(shard, given=True)
    return shard


def make_functions(
    config: Config, given: Given, shard: Shard | None, collective: Collective
) -> tuple[Problem, Regularizer, Array]:
    """Make f_i and psi, and the point x^0 where every algorithm starts.

    That is zero, if the problem has no start of its own, nothing else is wanted and
    psi allows it.
    """
    problem: Problem = given.problem
    if isinstance(given.problem, type):
        problem = given.problem(shard, collective)
    with collective.agreed():
        if given.problem is None:
            problem = config.problem.make(shard, collective)
        regularizer = given.regularizer or config.regularizer.make()
    x0 = np.zeros(problem.shape, config.run.dtype)
    if given.x0 is not None:
        with collective.agreed():
            x0 += _given_start(given.x0, x0.shape)
    elif hasattr(problem, "start"):
        x0 += problem.start
    elif np.isinf(regularizer.value(x0)):
        x0 = regularizer.prox(x0, 1.0)  # a box that does not hold zero
    return problem, regularizer, x0


def _given_start(given: Any, shape: tuple[int, ...]) -> Array:
    """Return the x^0 of a program, which is one point of the problem's space."""
    try:
        start = np.asarray(given, float)
    except (TypeError, ValueError):
        raise UserError("solve: x0: expected an array of numbers") from None
    if start.shape != shape:
        raise UserError(
            f"solve: x0 has shape {start.shape}: expected {shape}, which is that of "
            "the problem's x"
        )
    if not np.isfinite(start).all():
        raise UserError("solve: x0 has an entry that is not finite: expected numbers")
    return start


def measure(
    config: Config,
    place: Place,
    loaded: Loaded,
    problem: Problem,
    regularizer: Regularizer,
    x0: Array,
) -> Setup:
    """Measure the constants and find the minimiser, where they are wanted."""
    collective = place.collective
    rows = collective.gather(int(problem.rows))
    weight = shard_weight(rows, collective.agent)
    start = perf_counter()
    constants = _constants(problem, collective)
    constants_seconds = perf_counter() - start
    reference = None
    if config.evaluate.reference:
        f = (problem, regularizer, collective)
        if hasattr(problem, "product"):
            reference = leading_eigenvectors(problem, collective, weight)
        elif config.data is None or loaded.shard is None:
            reference = minimise(*f, weight, constants)
        else:
            options = config.problem.options
            reference = cached_minimise(*f, loaded.shard, constants, options)
    measured, epsilon_f = problem, None
    accuracy = accuracy_of(config.problem.epsilon, config.problem.radius)
    if accuracy is not None:
        from pmgt_mpi.optimum.general_convex import strongly_convex

        with collective.agreed():
            problem, epsilon_f = strongly_convex(
                accuracy, measured, regularizer, collective, weight, constants,
                reference,
            )  # fmt: skip
        constants = _constants(problem, collective)
    if hasattr(problem, "prepare"):
        problem.prepare()
    if constants is None and asks_for_constants(config):
        start = perf_counter()
        constants = estimated_constants(
            problem, regularizer, collective, weight, x0, config.run.seed
        )
        with collective.agreed():
            constants.checked()
        constants_seconds = perf_counter() - start
    return Setup(
        *place,
        problem=problem,
        regularizer=regularizer,
        constants=constants,
        reference=reference,
        rows=rows,
        x0=x0,
        measured=measured,
        epsilon_f=epsilon_f,
        digest=loaded.digest,
        nbytes=loaded.nbytes,
        constants_seconds=constants_seconds,
    )


def _constants(problem: Problem, collective: Collective) -> Constants | None:
    if not hasattr(problem, "constants"):
        return None
    constants: Constants = problem.constants(collective)
    with collective.agreed():
        return constants.checked()
