"""Convex F that are not strongly convex: the paper's F_ε = F + (ε_f/2)‖x‖².

The paper (appendix, Extension to General Convex Function) takes
ε_f = min(ε, ε/‖x*_ε‖²), x*_ε the minimiser of F_ε, and bounds F(x*_ε) − F* by ε/2. What
follows from F_ε(x*_ε) ≤ F_ε(x*) is

F(x*_ε) − F* ≤ (ε_f/2)(‖x*‖² − ‖x*_ε‖²),

with ‖x*‖, which can be much larger: along a direction in which F is almost flat x*_ε
stays short while x* is far. So here ε_f is at most what the paper's equation gives, and
such that its conclusion F(x*_ε) − F* ≤ ε/2 is true. The other half of ε is left to the
algorithm.

A radius R that bounds the norm of some minimiser makes ε_f = min(ε, ε/R²) enough, as
‖x*_ε‖ is at most that norm. If F(x*_ε) − F* > ε/2 nevertheless, there is no such one.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.accuracy import Accuracy
from pmgt_mpi.optimum.reference import Reference, minimise, suboptimality
from pmgt_mpi.problems.base import Constants, Problem
from pmgt_mpi.problems.plus_square import plus_square
from pmgt_mpi.regularizers.base import Regularizer

CLOSE = 1.01
"""ε_f is found to within one per cent from below: it is a choice, not a measurement."""

SOLVED = 1e-12
"""Relative residual of an x*_ε that is good enough to refuse a radius for."""


def strongly_convex(
    accuracy: Accuracy,
    problem: Problem,
    regularizer: Regularizer,
    collective: Collective,
    weight: float,
    constants: Constants | None,
    reference: Reference | None,
) -> tuple[Problem, float]:
    """Return f_i + (ε_f/2)‖x‖², and ε_f; collective.

    Parameters
    ----------
    accuracy
        What is wanted.
    problem, regularizer, collective, weight
        f_i, psi, all agents, and m n_i / N.
    constants, reference
        Of F, where they are known; ε_f lies between what ‖reference.x‖ allows and
        ε. With a radius neither is needed, and a radius is held against them.
    """
    sigma = regularizer.sigma + (constants.sigma if constants is not None else 0.0)
    if sigma > 0:
        raise UserError(
            f"epsilon = {accuracy.epsilon:g} is for an F that is not strongly convex, "
            f"and sigma is {sigma:.3g} here; leave epsilon out"
        )
    search = None
    if constants is not None and reference is not None:
        search = Search(problem, regularizer, collective, weight, constants, reference)
    if accuracy.radius is not None:
        epsilon_f = allowed(accuracy.epsilon, accuracy.radius)
        if epsilon_f == 0.0:
            raise UserError(
                f"radius = {accuracy.radius:g}: epsilon/radius² is 0 to the computer; "
                "give a smaller radius, or leave it out: then eps_f is found here"
            )
        if search is not None:
            search.check(accuracy.radius, epsilon_f, accuracy.epsilon)
    elif search is None:
        raise UserError(
            f"epsilon = {accuracy.epsilon:g} needs the norm of a minimiser, and none "
            "is found here (reference = false, or a problem without constants() and "
            "hessian()); give radius, a bound on ‖x*‖"
        )
    else:
        epsilon_f = search.largest(accuracy.epsilon)
    return plus_square(problem, epsilon_f), epsilon_f


def allowed(epsilon: float, norm: float) -> float:
    """min(ε, ε/‖x‖²): with the norm of an x*, or a bound on it, it is enough."""
    return epsilon / max(1.0, norm * norm)


class Search(NamedTuple):
    """The bisection for ε_f, and the test of one; every method is collective.

    Attributes
    ----------
    problem, regularizer, collective, weight, constants, reference
        F and its minimiser.
    """

    problem: Problem
    regularizer: Regularizer
    collective: Collective
    weight: float
    constants: Constants
    reference: Reference

    def largest(self, epsilon: float) -> float:
        """Find an ε_f that is enough, and is not when it is one per cent larger.

        The search begins at min(ε, ε/‖x*‖²), which is enough. As ‖x*_ε‖ ≤ ‖x*‖ the
        paper's ε_f does not lie below that.
        """
        low = allowed(epsilon, float(np.linalg.norm(self.reference.x)))
        high = epsilon
        if self.enough(high, epsilon):
            return high
        while high > CLOSE * low:
            middle = sqrt(low * high)
            if self.enough(middle, epsilon):
                low = middle
            else:
                high = middle
        return low

    def check(self, radius: float, epsilon_f: float, epsilon: float) -> None:
        """Refuse a radius that is less than the norm of every minimiser of F."""
        found, gap = self.minimise(epsilon_f)
        if gap > epsilon / 2 and found.residual <= SOLVED:
            raise UserError(
                f"radius = {radius:.3g}: no minimiser of F is so close to 0 (the one "
                f"that was found has norm {np.linalg.norm(self.reference.x):.3g}), and "
                f"with eps_f = {epsilon_f:.3g} from it F − F* would not fall below "
                f"{gap:.3g}, which is more than epsilon/2 = {epsilon / 2:.3g}; give a "
                "radius of at least the norm of a minimiser, or leave it out: then "
                "eps_f is found here"
            )

    def enough(self, epsilon_f: float, epsilon: float) -> bool:
        """Whether ε_f ≤ min(ε, ε/‖x*_ε‖²) and F(x*_ε) − F* ≤ ε/2."""
        found, gap = self.minimise(epsilon_f)
        norm = float(np.linalg.norm(found.x))
        verdict = epsilon_f <= allowed(epsilon, norm) and gap <= epsilon / 2
        # Another processor may round in another way; all must take the same branch.
        return bool(self.collective.from_first(verdict))

    def minimise(self, epsilon_f: float) -> tuple[Reference, float]:
        """x*_ε, and F(x*_ε) − F*."""
        found = minimise(
            plus_square(self.problem, epsilon_f),
            self.regularizer,
            self.collective,
            self.weight,
            self.constants._replace(L=self.constants.L + epsilon_f),
        )
        assert found is not None  # F itself has a reference, so this has one
        gap = suboptimality(
            self.problem,
            self.regularizer,
            self.collective,
            self.weight,
            self.reference,
            found.x,
        )
        return found, gap
