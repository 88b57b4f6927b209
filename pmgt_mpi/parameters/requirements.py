"""Whether a method fits what it is given: what is refused, and what is only told.

A user's own method may have no `traits`: then nothing is known of it, and nothing is
checked.
"""

from __future__ import annotations

from pmgt_mpi.algorithms import EIGENVECTORS
from pmgt_mpi.algorithms.base import Algorithm
from pmgt_mpi.algorithms.traits import Traits
from pmgt_mpi.config.sections import NEEDS_REFERENCE, StopSection
from pmgt_mpi.errors import UserError
from pmgt_mpi.parameters.facts import RunFacts
from pmgt_mpi.problems.components import has_convex_components
from pmgt_mpi.problems.gradient_table import gradient_table
from pmgt_mpi.regularizers.none import NoRegularizer


def traits_of(method: Algorithm) -> Traits | None:
    """Return what a method says of itself, if it says anything."""
    return getattr(method, "traits", None)


def refuse_unmet(name: str, method: Algorithm, facts: RunFacts) -> None:
    """Refuse a method that cannot do what is asked: a prox, more than one agent."""
    traits = traits_of(method)
    if traits is None:
        return
    _refuse_another_aim(name, traits, facts)
    agents = len(facts.rows)
    if traits.alone and agents > 1:
        raise UserError(
            f"{name} is a method for one machine, and there are {agents} agents; take "
            f"{traits.instead}, which is the same method on a network, or start one "
            "rank"
        )
    psi = type(facts.regularizer)
    if not traits.proximal and psi is not NoRegularizer:
        raise UserError(
            f"{name} has no proximal step, which the regularizer {psi.__name__} needs; "
            f"take {traits.instead}, or the regularizer 'none' (a smooth l2 term is an "
            "option of the problem)"
        )

    kind = type(facts.problem).__name__
    if traits.linear and not has_convex_components(facts.problem):
        raise UserError(
            f"{name} steps along single rows and needs a linear model with a convex "
            f"loss, as ridge and logistic have, and {kind} has none; take "
            f"{traits.instead}"
        )
    if traits.square and not facts.problem.c > 0:  # type: ignore[attr-defined]
        raise UserError(
            f"{name} divides by the strength of the problem's l2 term, and there is "
            f"none; set [problem] l2, or take {traits.instead}"
        )


def _refuse_another_aim(name: str, traits: Traits, facts: RunFacts) -> None:
    """Refuse a minimiser for eigenvectors, and the other way round."""
    asked = "eigenvectors" if hasattr(facts.problem, "product") else "minimiser"
    if traits.finds == "minimiser" and asked == "eigenvectors":
        raise UserError(
            f"{name} looks for a minimiser, and the problem asks for eigenvectors; "
            f"take one of {', '.join(EIGENVECTORS)}"
        )
    if traits.finds == "eigenvectors" and asked == "minimiser":
        raise UserError(
            f"{name} looks for eigenvectors, and the problem asks for a minimiser; "
            "take [problem] kind = 'pca', or a method that minimises"
        )
    if traits.single and facts.x0.shape[1] > 1:
        raise UserError(
            f"{name} finds one component, and {facts.x0.shape[1]} are asked for; take "
            f"{traits.instead}, which finds one after the other"
        )
    psi = type(facts.regularizer)
    if asked == "eigenvectors" and psi is not NoRegularizer:
        raise UserError(
            f"{name} looks for eigenvectors, which no regularizer changes, and there "
            f"is {psi.__name__}; take the regularizer 'none'"
        )


def refuse_idle(stop: StopSection, facts: RunFacts) -> None:
    """Refuse a reason to stop that can never come: it needs F*, which nobody knows."""
    for key in NEEDS_REFERENCE:
        target = getattr(stop, key)
        if target is not None and facts.reference is None:
            raise UserError(
                f"{key} = {target:g} needs the minimiser, and none is found here (the "
                "problem gives no constants or no hessian, or reference = false); stop "
                "by gradient_mapping, steps, seconds or wall_seconds"
            )


def notes(name: str, method: Algorithm, facts: RunFacts) -> list[str]:
    """Say which assumptions of its proof do not hold, and what memory it will take."""
    traits = traits_of(method)
    if traits is None:
        return []
    remarks = []
    c = facts.constants
    if c is not None and c.estimated:
        remarks.append(
            f"{name}: the problem gives no constants; these are estimates, of which "
            f"parameters that are 'auto' are made: L = {c.L:.3g}, sigma = "
            f"{c.sigma:.3g}, l1 = {c.l1:.3g}, nu = {c.nu:.3g}, zeta = {c.zeta:.3g}"
        )
    known = c is not None and not c.estimated
    if c is not None and known and traits.convex == "components" and not c.convex:
        remarks.append(
            f"{name}: its proof assumes convex components, which these are not"
        )
    if c is not None and traits.convex == "agents" and c.mu_local < 0:
        remarks.append(
            f"{name}: its proof assumes that every agent's f_i is convex, and one has "
            f"curvature {c.mu_local:.2g}"
        )
    if traits.psd and not facts.network.psd:
        remarks.append(
            f"{name}: its proof assumes 0 ⪯ W, and lambda_min is "
            f"{facts.network.lambda_min:.3g}"
        )
    if traits.remembers:
        numbers = gradient_table(facts.problem).numbers
        rows = max(facts.rows)
        size = rows * numbers * facts.x0.dtype.itemsize
        what = "one number" if numbers == 1 else f"{numbers:,} numbers"
        memory = f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size:,} bytes"
        remarks.append(
            f"{name} remembers {what} a row: {memory} for the {rows:,} rows of the "
            "largest shard"
        )
    return remarks
