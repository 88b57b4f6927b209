"""What a run is to do: the config after it has been checked, as plain values.

Agent 0 reads and checks the config; the others get a `Plan`, and import neither a TOML
reader nor a config library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pmgt_mpi.registry import import_object

if TYPE_CHECKING:
    from pmgt_mpi.optimum.general_convex import Accuracy


class Part(NamedTuple):
    """Something registered, and its options: ``kind = "ring"`` and what belongs to it.

    Attributes
    ----------
    name
        As in the config.
    address
        ``module:object`` that the name stands for.
    options
        Its keyword arguments, checked, defaults filled in.
    """

    name: str
    address: str
    options: dict[str, Any] = {}  # noqa: RUF012 (nobody changes it)

    def load(self) -> Any:
        """Import what the name stands for."""
        return import_object(self.address)

    def make(self, *arguments: Any) -> Any:
        """Call it with its options."""
        return self.load()(*arguments, **self.options)


class NetworkPlan(NamedTuple):
    """Section [network]: a topology or a file; weights or a matrix in a file.

    Without a seed of its own it has the run's.
    """

    topology: Part | None
    file: str | None
    weights: Part | None
    weights_file: str | None
    exchange: Part
    placement: str | list[int] = "auto"
    seed: int | None = None


class DataPlan(NamedTuple):
    """Section [data]; without a seed of its own it has the run's."""

    source: Part
    partition: Literal["contiguous", "shuffled", "by-label"]
    scale: Literal["none", "minmax", "standard", "unit"]
    layout: Literal["auto", "dense", "sparse"]
    shares: list[float] | None
    seed: int | None = None


class AlgorithmPlan(NamedTuple):
    """One of [[algorithm]].

    Attributes
    ----------
    label
        Name in the log.
    stream
        What the random streams are derived from: the method's name, if not given.
    method
        The algorithm and its options.
    mixing, mix_rounds
        Polynomial and M, which the method's own `mix_rounds` overrides.
    steps, evaluate_every
        Budget and cadence of this algorithm.
    own
        Which of mixing, steps and evaluate_every its section gives; the others are
        those of [mixing], [stop] and [evaluate].
    """

    label: str
    stream: str
    method: Part
    mixing: Part
    mix_rounds: int | str
    steps: int
    evaluate_every: int | Literal["auto"]
    own: tuple[str, ...] = ()


class Common(NamedTuple):
    """What [mixing], [stop] and [evaluate] say for algorithms without own values."""

    mixing: Part
    mix_rounds: int | str
    steps: int
    evaluate_every: int | Literal["auto"]


class Stop(NamedTuple):
    """Section [stop], without the steps, which each algorithm may have of its own.

    Attributes
    ----------
    relative_suboptimality, epsilon, gradient_mapping
        Values at which an algorithm has converged: of (F − F*) / (F at the start − F*),
        of F − F*, and of ‖x − prox(x − ∇f(x))‖, at the average.
    seconds, wall_seconds
        Limits of the algorithm's clock, and of all time that it takes: with
        evaluations, agreements and checkpoints.
    """

    relative_suboptimality: float | None = None
    epsilon: float | None = None
    gradient_mapping: float | None = None
    seconds: float | None = None
    wall_seconds: float | None = None


NEEDS_REFERENCE = ("relative_suboptimality", "epsilon")
"""Keys of [stop] that cannot act without F*."""


class CheckpointPlan(NamedTuple):
    """Section [checkpoint]: a checkpoint after so many steps, or so many minutes."""

    steps: int = 0
    minutes: float = 10.0


class Plan(NamedTuple):
    """A whole run."""

    name: str
    seed: int
    dtype: str
    engine: Literal["auto", "python", "compiled"]
    folder: str
    network: NetworkPlan
    data: DataPlan
    problem: Part
    regularizer: Part
    stop: Stop
    reference: bool
    common: Common
    algorithms: list[AlgorithmPlan]
    accuracy: Accuracy | None = None
    theory_bound: bool = False
    checkpoint: CheckpointPlan = CheckpointPlan()
    timeout: float = 600.0
