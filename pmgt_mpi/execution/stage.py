"""The stage: everything that the algorithms of one run share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from pmgt_mpi.execution.evaluation import Objective
from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.reference import Reference
from pmgt_mpi.problems.base import Constants, Problem
from pmgt_mpi.regularizers.base import Regularizer

if TYPE_CHECKING:
    from pmgt_mpi.graphs.network import Network
    from pmgt_mpi.optimum.general_convex import Accuracy

Array = NDArray[Any]


class NetworkFacts(NamedTuple):
    """What the log tells of the network; the matrix itself stays on agent 0."""

    topology: str
    weights: str
    edges: int
    lambda_2: float
    lambda_min: float
    psd: bool
    nonnegative: bool


class Stage(NamedTuple):
    """One agent's view of a run before any algorithm starts.

    Attributes
    ----------
    comm
        Rank and agent id are the same in it; gossip gets duplicates of it.
    collective
        On a duplicate of its own, for set-up and evaluation.
    neighbourhood, network
        This agent's row of W, and what the log tells of the network.
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
    data
        Fingerprint of this agent's rows, where a run may have to be resumed.
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
    data: str = ""

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


def spread_network(
    collective: Collective, build: Callable[[], Network]
) -> tuple[Neighbourhood, NetworkFacts]:
    """Build the network on agent 0; give every agent its own row and no more."""
    neighbourhoods: list[Neighbourhood] | None = None
    facts: NetworkFacts | None = None
    with collective.agreed():
        if collective.agent == 0:
            network = build()
            neighbourhoods = [network.neighbourhood(i) for i in range(network.agents)]
            facts = NetworkFacts(
                topology=network.topology,
                weights=network.weights,
                edges=network.edges,
                lambda_2=network.lambda_2,
                lambda_min=network.lambda_min,
                psd=network.psd,
                nonnegative=network.nonnegative,
            )
    return (
        collective.comm.scatter(neighbourhoods, root=0),
        collective.from_first(facts),
    )


def make_stage(
    comm: Any,
    collective: Collective,
    network: tuple[Neighbourhood, NetworkFacts],
    problem: Problem,
    regularizer: Regularizer,
    x0: Array,
    find_reference: Callable[[float, Constants | None], Reference | None],
    accuracy: Accuracy | None = None,
) -> Stage:
    """Measure the problem, find the minimiser, and put everything together.

    Parameters
    ----------
    find_reference
        Finds it from the agent's weight and the constants, on all agents together.
    accuracy
        The epsilon that makes a convex F strongly convex, where it is wanted.
    """
    rows = collective.gather(int(problem.rows))
    weight = shard_weight(rows, collective.agent)
    constants = _constants(problem, collective)
    reference = find_reference(weight, constants)
    measured, epsilon_f = problem, None
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
    return Stage(
        comm=comm,
        collective=collective,
        neighbourhood=network[0],
        network=network[1],
        problem=problem,
        regularizer=regularizer,
        constants=constants,
        reference=reference,
        rows=rows,
        x0=x0,
        measured=measured,
        epsilon_f=epsilon_f,
    )


def _constants(problem: Problem, collective: Collective) -> Constants | None:
    if not hasattr(problem, "constants"):
        return None
    constants: Constants = problem.constants(collective)
    with collective.agreed():
        return constants.checked()
