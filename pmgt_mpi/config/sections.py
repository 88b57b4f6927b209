"""The keys that each section of a config has, whatever else it holds."""

from __future__ import annotations

from typing import Annotated, Literal

from pmgt_mpi.config.checking import Section
from pmgt_mpi.options import Count, NonNegative, Positive, Rounds, Within

Cadence = Annotated[int, Within(ge=0)] | Literal["auto"]
"""Steps between evaluations."""


class RunSection(Section):
    """[run]."""

    name: str = "run"
    seed: Annotated[int, Within(ge=0)] = 1
    dtype: Literal["float64", "float32"] = "float64"
    timeout: Positive = 600.0
    engine: Literal["auto", "python", "compiled"] = "auto"


class NetworkSection(Section):
    """[network], beside the options of the topology."""

    topology: str | None = None
    file: str | None = None
    weights: str | None = None
    weights_file: str | None = None
    exchange: str = "persistent"
    placement: Literal["auto", "none"] | list[int] = "auto"
    seed: Annotated[int, Within(ge=0)] | None = None


class MixingSection(Section):
    """[mixing]."""

    method: str = "chebyshev"
    rounds: Rounds | Literal["auto", "theory"] = "auto"


class DataSection(Section):
    """[data], beside the options of the source."""

    source: str
    partition: str = "contiguous"
    scale: str = "none"
    layout: Literal["auto", "dense", "sparse"] = "auto"
    shares: list[Positive] | None = None
    seed: Annotated[int, Within(ge=0)] | None = None


class ProblemSection(Section):
    """[problem], beside the options of the kind."""

    kind: str
    epsilon: Positive | None = None
    radius: Positive | None = None


class RegularizerSection(Section):
    """[regularizer], beside the options of the kind."""

    kind: str


class StopSection(Section):
    """[stop]."""

    steps: Count = 1000
    relative_suboptimality: Positive | None = None
    epsilon: Positive | None = None
    gradient_mapping: Positive | None = None
    seconds: Positive | None = None
    wall_seconds: Positive | None = None


class EvaluateSection(Section):
    """[evaluate]."""

    every: Cadence = 1
    reference: bool = True
    theory_bound: bool = False


class CheckpointSection(Section):
    """[checkpoint]."""

    steps: Annotated[int, Within(ge=0)] = 0
    minutes: NonNegative = 10.0


class AlgorithmSection(Section):
    """[[algorithm]], beside the options of the method."""

    name: str
    label: str | None = None
    stream: str | None = None
    mixing: str | None = None
    steps: Count | None = None
    evaluate_every: Cadence | None = None
