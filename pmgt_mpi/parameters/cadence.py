"""How often a run is looked at, where its config leaves that open."""

from __future__ import annotations

from math import ceil

from pmgt_mpi.algorithms.base import Algorithm
from pmgt_mpi.algorithms.traits import step_cost
from pmgt_mpi.config.sections import StopSection
from pmgt_mpi.parameters.facts import RunFacts

SHARE = 0.1
"""Of what steps read of the rows, for records where the cadence is automatic."""


def cadence(facts: RunFacts, stop: StopSection, method: Algorithm) -> int:
    """Steps between records that read the rows at most a tenth as often as steps do.

    A component gradient reads its row twice, for ⟨a, x⟩ and for the sum, and so does
    the difference of two where the problem is quadratic; elsewhere it reads it once
    more. A method that does not tell its cost is evaluated at every step.
    """
    if not hasattr(method, "traits"):
        return 1
    reads = facts.n * record_reads(facts, stop)
    read = step_cost(method, facts.n).paper  # none where all is read at the start
    return ceil(reads / (SHARE * 2 * read)) if read else 1


def tells_mapping(stop: StopSection, facts: RunFacts) -> bool:
    """Whether records tell the gradient mapping: to stop by it, or for want of F*."""
    return stop.gradient_mapping is not None or facts.reference is None


def record_reads(facts: RunFacts, stop: StopSection) -> int:
    """How often a record reads all rows: for F, F − F* and the gradient mapping."""
    excess = 0
    if facts.reference is not None:
        excess = 2 if hasattr(facts.measured, "bregman") else 1
    mapping = 2 if tells_mapping(stop, facts) else 0
    return getattr(facts.measured, "value_reads", 1) + excess + mapping
