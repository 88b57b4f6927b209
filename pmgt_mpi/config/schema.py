"""The config: one frozen type, whose fields are the sections and keys of the TOML file.

A `Config` is what is read, checked, sent to the ranks, written, read again, and
compared when a run is resumed. A run has two of them: one as asked, which keeps the
user's words ("auto"), in asked.toml, and one resolved, with numbers in their place, in
config.toml.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.data import PARTITIONS, SCALINGS, SOURCES
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.options import Count, NonNegative, Positive, Rounds, Seed, Within
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers import REGULARIZERS

Cadence = Annotated[int, Within(ge=0)] | Literal["auto"]
"""Steps between evaluations; 0 is only at the start and the end."""

OF_NAMED = "keys of what the section names"
"""Marks the field of a section that holds these, and is no key itself."""

Options = Annotated[dict[str, Any], OF_NAMED]
"""Keyword arguments of what a section names."""


@dataclass(frozen=True, kw_only=True)
class RunSection:
    """[run]: a name, the seed, and how the work is done.

    Attributes
    ----------
    name
        Of the run folder below ``runs``.
    seed
        Of all random choices.
    dtype
        Of rows and iterates.
    timeout
        Seconds that an agent may wait for another before the job is ended.
    engine
        What runs gossip rounds and minibatch gradients; ``auto`` is the compiled one
        where it can be made.
    """

    name: str = "run"
    seed: Seed = 1
    dtype: Literal["float64", "float32"] = "float64"
    timeout: Positive = 600.0
    engine: Literal["auto", "python", "compiled"] = "auto"


@dataclass(frozen=True, kw_only=True)
class NetworkSection:
    """[network]: a topology with its options, or a file, and the gossip weights.

    Attributes
    ----------
    topology
        Of the graph; ``ring`` where nothing else gives one.
    file
        A graph instead.
    weights, weights_file
        How W is made of the graph (``laplacian``), or a file with W itself.
    exchange
        Form of the messages.
    placement
        Which agent each rank is.
    seed
        Of a graph that is drawn; without it that of the run.
    """

    topology: Annotated[str | None, TOPOLOGIES] = None
    options: Options = field(default_factory=dict)
    file: str | None = None
    weights: Annotated[str | None, WEIGHTS] = None
    weights_file: str | None = None
    exchange: Annotated[str, EXCHANGES] = "persistent"
    placement: Literal["auto", "none"] | list[int] = "auto"
    seed: Seed | None = None


@dataclass(frozen=True, kw_only=True)
class MixingSection:
    """[mixing]: the polynomial of W, and its rounds M, for methods without their own.

    Attributes
    ----------
    method
        The polynomial.
    rounds
        M; a method has its own as `mix_rounds`.
    """

    method: Annotated[str, MIXINGS] = "chebyshev"
    rounds: Rounds | Literal["auto", "theory"] = "auto"


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """[data]: a source of rows with its options, and who gets which.

    Attributes
    ----------
    source
        A reader, or data that are drawn.
    partition, shares
        Which rows an agent gets, and how many in proportion to others.
    scale, layout
        What is done to the rows, and how they are kept.
    seed
        Of data that are drawn, and of the order; without it that of the run.
    """

    source: Annotated[str, SOURCES]
    options: Options = field(default_factory=dict)
    partition: Annotated[str, PARTITIONS] = "contiguous"
    scale: Annotated[str, SCALINGS] = "none"
    layout: Literal["auto", "dense", "sparse"] = "auto"
    shares: list[Positive] | None = None
    seed: Seed | None = None

    def make_source(self) -> Any:
        """Make what the rows come from."""
        return SOURCES.load(self.source)(**self.options)


@dataclass(frozen=True, kw_only=True)
class ProblemSection:
    """[problem]: f_i with its options, and the accuracy for an F that may be flat.

    Attributes
    ----------
    kind
        The problem.
    epsilon, radius
        F(x) − F* ≤ epsilon is wanted of an F that is not strongly convex; ‖x*‖ is at
        most the radius, where that is known.
    """

    kind: Annotated[str, PROBLEMS]
    options: Options = field(default_factory=dict)
    epsilon: Positive | None = None
    radius: Positive | None = None

    def make(self, *arguments: Any) -> Any:
        """Make this agent's f_i."""
        return PROBLEMS.load(self.kind)(*arguments, **self.options)


@dataclass(frozen=True, kw_only=True)
class RegularizerSection:
    """[regularizer]: the kind of psi, with its options."""

    kind: Annotated[str, REGULARIZERS]
    options: Options = field(default_factory=dict)

    def make(self) -> Any:
        """Make psi."""
        return REGULARIZERS.load(self.kind)(**self.options)


@dataclass(frozen=True, kw_only=True)
class StopSection:
    """[stop]: reasons to stop, for every algorithm.

    Attributes
    ----------
    steps
        Budget of an algorithm that has none of its own.
    relative_suboptimality, epsilon, gradient_mapping
        Values at which an algorithm has converged: of (F − F*) / (F at the start − F*),
        of F − F*, and of ‖x − prox(x − ∇f(x))‖, at the average.
    seconds, wall_seconds
        Limits of the algorithm's clock, and of all time that it takes: with
        evaluations, agreements and checkpoints.
    """

    steps: Count = 1000
    relative_suboptimality: Positive | None = None
    epsilon: Positive | None = None
    gradient_mapping: Positive | None = None
    seconds: Positive | None = None
    wall_seconds: Positive | None = None


NEEDS_REFERENCE = ("relative_suboptimality", "epsilon")
"""Keys of [stop] that cannot act without F*."""


@dataclass(frozen=True, kw_only=True)
class EvaluateSection:
    """[evaluate]: how often a run is looked at, and against what.

    Attributes
    ----------
    every
        Steps between evaluations; ``auto``: so that they read the rows at most a tenth
        as often as the steps do.
    reference
        Whether the minimiser is found first, for the suboptimality.
    theory_bound
        Whether records tell what the method's theorem promises.
    """

    every: Cadence = 1
    reference: bool = True
    theory_bound: bool = False


@dataclass(frozen=True, kw_only=True)
class CheckpointSection:
    """[checkpoint]: a checkpoint after so many steps, or so many minutes.

    Attributes
    ----------
    steps, minutes
        0 is never.
    """

    steps: Annotated[int, Within(ge=0)] = 0
    minutes: NonNegative = 10.0


@dataclass(frozen=True, kw_only=True)
class AlgorithmSection:
    """[[algorithm]]: a method, whose parameters are keys of the section, and its name.

    Attributes
    ----------
    name
        The method.
    method
        The method's own dataclass, with the parameters that the section gives.
    label
        In the log.
    stream
        What the random streams are derived from beside the seed.
    mixing, steps, evaluate_every
        In place of those of [mixing], [stop] and [evaluate].
    """

    name: Annotated[str, ALGORITHMS]
    method: Annotated[Any, OF_NAMED]
    label: str = ""
    stream: str = ""
    mixing: Annotated[str | None, MIXINGS] = None
    steps: Count | None = None
    evaluate_every: Cadence | None = None

    def __post_init__(self) -> None:
        """Label and stream are the method's name, if nothing else."""
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "stream", self.stream or self.name)


@dataclass(frozen=True, kw_only=True)
class Config:
    """A whole run.

    Attributes
    ----------
    data
        None where a program hands over its own rows.
    folder
        Where relative paths start.
    """

    run: RunSection = RunSection()
    network: NetworkSection = NetworkSection()
    mixing: MixingSection = MixingSection()
    data: DataSection | None = None
    problem: ProblemSection
    regularizer: RegularizerSection = RegularizerSection(kind="none")
    stop: StopSection = StopSection()
    evaluate: EvaluateSection = EvaluateSection()
    checkpoint: CheckpointSection = CheckpointSection()
    algorithm: tuple[AlgorithmSection, ...]
    folder: str = field(default=".", compare=False)

    def steps(self, algorithm: AlgorithmSection) -> int:
        """Budget of an algorithm: its own, or that of [stop]."""
        return self.stop.steps if algorithm.steps is None else algorithm.steps

    def every(self, algorithm: AlgorithmSection) -> int | Literal["auto"]:
        """Steps between evaluations: its own, or those of [evaluate]."""
        own = algorithm.evaluate_every
        return self.evaluate.every if own is None else own

    def mixing_of(self, algorithm: AlgorithmSection) -> Callable[..., Any]:
        """The polynomial of an algorithm: its own, or that of [mixing]."""
        return MIXINGS.load(algorithm.mixing or self.mixing.method)
