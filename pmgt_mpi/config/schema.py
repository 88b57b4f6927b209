"""The config: one frozen type, whose fields are the sections of the TOML file.

A `Config` is what is read, checked, sent to the ranks, written, read again, and
compared when a run is resumed. A run has two of them: one as asked, which keeps the
user's words ("auto"), in asked.toml, and one resolved, with numbers in their place, in
config.toml.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from pmgt_mpi.config.sections import (
    AlgorithmSection,
    CheckpointSection,
    CostSection,
    DataSection,
    EvaluateSection,
    MixingSection,
    NetworkSection,
    ProblemSection,
    RegularizerSection,
    RunSection,
    StopSection,
)
from pmgt_mpi.gossip import MIXINGS


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

    run: RunSection = field(default_factory=RunSection)
    network: NetworkSection = field(default_factory=NetworkSection)
    mixing: MixingSection = field(default_factory=MixingSection)
    data: DataSection | None = None
    problem: ProblemSection
    regularizer: RegularizerSection = field(
        default_factory=lambda: RegularizerSection(kind="none")
    )
    stop: StopSection = field(default_factory=StopSection)
    evaluate: EvaluateSection = field(default_factory=EvaluateSection)
    checkpoint: CheckpointSection = field(default_factory=CheckpointSection)
    cost: CostSection = field(default_factory=CostSection)
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
