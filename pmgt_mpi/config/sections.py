"""The sections of a config: one frozen type each, whose fields are the keys.

What a key is for stands in the docstring of its section, and in the tables of
docs/configuration.md, which are made from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pmgt_mpi.algorithms import METHODS
from pmgt_mpi.data import PARTITIONS, SCALINGS, SOURCES
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.options import (
    OF_NAMED,
    Cadence,
    Count,
    FilePath,
    NonNegative,
    Options,
    Positive,
    Rounds,
    Seed,
    Within,
)
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers import REGULARIZERS


@dataclass(frozen=True, kw_only=True)
class RunSection:
    """[run]: a name, the seed, and how the work is done.

    Attributes
    ----------
    name
        Of the run folder, ``runs/NAME-DATE-TIME``; without ``/``.
    seed
        Of everything random.
    dtype
        Of rows, iterates and messages.
    timeout
        Seconds that an agent may wait for another before the job is ended.
    engine
        What runs gossip rounds and minibatch gradients; ``auto`` is the compiled one
        where it was built with the package (``python -m pmgt_mpi.engine`` tells).
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
        Instead of ``topology``: an edge list or GraphML.
    weights
        How W is made of the graph; ``laplacian`` without a ``weights_file``.
    weights_file
        Instead of ``weights``: W itself; without a graph its nonzeros are the edges.
    exchange
        Form of the messages; the same bits.
    placement
        Which agent each rank is: neighbours on one host where they can, or as listed.
    seed
        Of a graph that is drawn; without it that of the run.
    """

    topology: Annotated[str | None, TOPOLOGIES] = None
    options: Options = field(default_factory=dict)
    file: FilePath | None = None
    weights: Annotated[str | None, WEIGHTS] = None
    weights_file: FilePath | None = None
    exchange: Annotated[str, EXCHANGES] = "persistent"
    placement: Literal["auto", "none"] | list[int] = "auto"
    seed: Seed | None = None


@dataclass(frozen=True, kw_only=True)
class MixingSection:
    """[mixing]: the polynomial of W, and its rounds M, for methods without their own.

    Attributes
    ----------
    method
        The polynomial of W.
    rounds
        M, the gossip rounds of one mix; a method may have its own as ``mix_rounds``.
    """

    method: Annotated[str, MIXINGS] = "chebyshev"
    rounds: Rounds | Literal["auto", "theory"] = "auto"


@dataclass(frozen=True, kw_only=True)
class DataSection:
    """[data]: a source of rows with its options, and who gets which.

    Attributes
    ----------
    source
        Where rows come from: a reader, or data that are drawn.
    partition
        Which row goes to which agent.
    scale
        Of the features; labels are left as they are.
    layout
        How rows are kept; ``auto`` is as the source has them.
    shares
        Unequal shards, in proportion to these; one number for each agent.
    seed
        Of rows that are drawn, and of their order; without it that of the run.
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
    epsilon
        F(x) − F* ≤ epsilon is wanted of an F that is convex but not strongly: see
        above.
    radius
        A bound on ‖x*‖, where one is known; with ``epsilon``.
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
    """[regularizer]: the kind of psi, with its options.

    Attributes
    ----------
    kind
        Of psi.
    """

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
    relative_suboptimality
        Goal for (F − F*) / (F at the start − F*), at the average iterate.
    epsilon
        Goal for F − F*.
    gradient_mapping
        Goal for ‖x − prox(x − ∇f(x))‖; needs no minimiser.
    seconds
        Limit of each algorithm's clock, which stands still during evaluations.
    wall_seconds
        Limit of all its time: with evaluations, agreements and checkpoints.
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
        Steps between evaluations, 0 for one at the start and one at the end; ``auto``:
        so that they read the rows at most a tenth as often as the steps do.
    reference
        Whether the minimiser is found first (and kept in the cache), for F − F*.
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
    steps
        Between checkpoints; 0 is never.
    minutes
        Between checkpoints, 0 is never; there is one at the end of an algorithm too,
        where not both are 0.
    """

    steps: Annotated[int, Within(ge=0)] = 0
    minutes: NonNegative = 10.0


@dataclass(frozen=True, kw_only=True)
class CostSection:
    """[cost]: what is expensive here, for parameters that are chosen by their cost.

    Attributes
    ----------
    round_in_gradients
        What one gossip round costs, in component gradients of one agent; ``auto``: as
        measured at set-up, a power of two.
    """

    round_in_gradients: Positive | Literal["auto"] = "auto"


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
        What it is called in the log; empty for its name. Two entries need two.
    stream
        What the random streams are derived from beside the seed; empty for its name,
        so that entries of one method share theirs.
    mixing
        In place of ``method`` of [mixing].
    steps
        In place of ``steps`` of [stop].
    evaluate_every
        In place of ``every`` of [evaluate].
    guard
        Parameters that are made gentler where the run grows; ``auto``: those that were
        chosen by ``"auto"`` and that the method can change under way; ``[]`` for none.
    """

    name: Annotated[str, METHODS]
    method: Annotated[Any, OF_NAMED]
    label: str = ""
    stream: str = ""
    mixing: Annotated[str | None, MIXINGS] = None
    steps: Count | None = None
    evaluate_every: Cadence | None = None
    guard: list[str] | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        """Label and stream are the method's name, if nothing else."""
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "stream", self.stream or self.name)
