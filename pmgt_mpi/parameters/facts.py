"""What parameters may depend on, of all that the set-up of a run has found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

from pmgt_mpi.graphs.neighbourhood import Neighbourhood, NetworkFacts
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.reference import Reference
from pmgt_mpi.problems.base import Constants, Problem
from pmgt_mpi.regularizers.base import Regularizer

Array = NDArray[Any]


class RunFacts(Protocol):
    """One agent's view of a run before any algorithm starts; a `Setup` is one.

    Attributes
    ----------
    comm, collective, neighbourhood, network
        The agent's place among the others.
    problem, regularizer, constants, reference
        f_i, psi, and what is known of their sum.
    measured
        The f_i of the F that is reported.
    rows
        n_i of every agent.
    n
        ⌈N / m⌉.
    x0
        Where every algorithm starts.
    """

    @property
    def comm(self) -> Any: ...  # noqa: D102

    @property
    def collective(self) -> Collective: ...  # noqa: D102

    @property
    def neighbourhood(self) -> Neighbourhood: ...  # noqa: D102

    @property
    def network(self) -> NetworkFacts: ...  # noqa: D102

    @property
    def problem(self) -> Problem: ...  # noqa: D102

    @property
    def regularizer(self) -> Regularizer: ...  # noqa: D102

    @property
    def constants(self) -> Constants | None: ...  # noqa: D102

    @property
    def reference(self) -> Reference | None: ...  # noqa: D102

    @property
    def measured(self) -> Problem: ...  # noqa: D102

    @property
    def rows(self) -> list[int]: ...  # noqa: D102

    @property
    def n(self) -> int: ...  # noqa: D102

    @property
    def x0(self) -> Array: ...  # noqa: D102


class Engine(Protocol):
    """What runs the rounds and the minibatch products of a run."""

    @property
    def name(self) -> Literal["python", "compiled"]: ...  # noqa: D102

    def exchange(self, form: str) -> Callable[..., Any]:
        """What makes the exchanges, in one of the forms."""
        ...

    def problem(self, problem: Problem) -> Problem:
        """The same f_i, its minibatch products as the engine has them."""
        ...
