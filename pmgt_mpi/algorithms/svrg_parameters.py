"""Parameters of the methods that mix: step size and rounds.

The paper analyses one epoch of SVRG once (its Lemma on the inner loop) for both
PMGT-SVRG and PMGT-KatyushaX: step size and J are the same for the two. The other
methods that mix, which have no such analysis for nonconvex f_ij, share ``auto``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import ceil, isclose, sqrt
from typing import Any

from pmgt_mpi.algorithms.base import NO_CONVEXITY, Setting
from pmgt_mpi.errors import UserError

AUTO_CONTRACTION = 0.2
"""Contraction that ``auto`` asks of one mix, at least."""

AUTO_COUPLING = 0.1
"""What ``auto`` allows rho η L_local to be: how strongly disagreement feeds itself."""


def resolve_step(method: str, wanted: float, setting: Setting, b: int) -> float:
    """η: a number, or one of these.

    ``theory``
        min(1/(2L), (1/8) √(b/(l1 l2 t0))), of the Lemma on the inner loop.
    ``auto``
        1/(2 (L + 2 l1/b)) where all components are convex: the expected smoothness of
        a minibatch (Gower et al. 2019) with some room. Else
        min(1/(2L), √(b/(l1 l2 t0))), the theory's without its factor of 1/8.

    `tuned_step` is the ``auto`` of the two methods of the paper.
    """
    if not isinstance(wanted, str):
        return wanted
    c = setting.needed_curvature(method, "step_size", wanted)
    t0 = ceil(setting.n / b)
    if wanted == "auto" and c.convex:
        return 1 / (2 * (c.L + 2 * c.l1 / b))
    stochastic = sqrt(b / (c.l1 * c.l2 * t0))
    if wanted == "theory":
        stochastic /= 8
    return min(1 / (2 * c.L), stochastic)


def tuned_step(method: str, wanted: float, setting: Setting, b: int) -> float:
    """η of PMGT-SVRG and PMGT-KatyushaX: as in `resolve_step`, but ``auto`` is this.

    1.3/L if t0 = 1, when no minibatch is noisy. Else at most that, and as large as the
    noise allows, which grows with η² ν² t0/(m b): √(m b/(2 t0 ν²)), or
    1/(L/1.3 + γ/(m b)) if that is more and all components are convex.
    """
    c = setting.constants
    if str(wanted) != "auto" or c is None or c.nu is None:
        return resolve_step(method, wanted, setting, b)
    most = 1.3 / setting.needed_curvature(method, "step_size", wanted).L
    t0, m = ceil(setting.n / b), setting.agents
    if t0 == 1 or c.nu == 0:
        return most
    noisy = sqrt(m * b / (2 * t0)) / c.nu
    if c.convex and c.gamma is not None:
        noisy = max(noisy, 1 / (1 / most + c.gamma / (m * b)))
    return min(most, noisy)


def resolve_momentum(
    method: str, wanted: float, setting: Setting, eta: float, b: int
) -> float:
    """τ: a number, or one of these.

    ``theory``
        min(1/2, √(t0 η σ)/2), of the paper's Theorem 2.
    ``auto``
        1.6 times as much, and at most 1/2, where ν is known and η with it.
    """
    if not isinstance(wanted, str):
        return wanted
    sigma = setting.convexity(method, "momentum", wanted)
    c = setting.constants
    factor = 0.8 if wanted == "auto" and c is not None and c.nu is not None else 0.5
    return min(0.5, factor * sqrt(ceil(setting.n / b) * eta * sigma))


def tuned_contraction(setting: Setting, eta: float, b: int) -> float | None:
    """Return the rho of ``auto``: 1/(1 + √(3 η L_local + η ν_local/√b)), if ν is known.

    The second term is the noise of minibatches, absent if b = n. Jury's criterion for
    the disagreement of the agents, with polynomials of W that may be negative. Where
    agents differ very much (ζ ≥ 6 L) and the problem is hard it was found too small,
    and a quarter more rounds to be enough.
    """
    c = setting.constants
    if c is None or c.nu_local is None:
        return None
    growth = 3 * eta * c.L_local
    if b < setting.n:
        growth += eta * c.nu_local / sqrt(b)
    rho = 1 / (1 + sqrt(growth))
    hard = HARD * (c.sigma + setting.sigma_psi) < c.L
    if c.zeta is not None and c.zeta >= DIFFERENT * c.L and hard:
        rho **= 1.25
    return rho


def resolve_rounds(
    method: str,
    wanted: int,
    setting: Setting,
    eta: float,
    theory_rho: Callable[[Setting], float] | None = None,
    auto_rho: float | None = None,
) -> int:
    """M: a number, or the rounds that contract to a given rho.

    ``theory``
        rho of the method's theorem, where it is known.
    ``auto``
        rho ≤ 0.2 and rho η L_local ≤ 0.1: a step turns the agents' disagreement w − w̄
        into gradients that differ by up to L_local times as much, and what η times
        that adds must be mixed away faster than it grows. Or `auto_rho`, where a method
        has a rule of its own.
    """
    choice: int | str = wanted
    if choice == "section":
        choice = setting.mix_rounds
    if choice == "theory":
        if theory_rho is None:
            raise UserError(
                f"{method}: no formula for mix_rounds = 'theory' is known here; give "
                "mix_rounds as a number or 'auto'"
            )
        setting.require_psd(method, "mix_rounds")
        try:
            rho = theory_rho(setting)
        except ArithmeticError:
            raise UserError(
                f"{method}: the contraction that mix_rounds = 'theory' asks for cannot "
                f"be computed with step_size = {eta:.3g}; give mix_rounds as a number "
                "or 'auto', or another step_size or momentum"
            ) from None
        return setting.rounds_for(rho)
    if choice == "auto":
        if auto_rho is not None:
            return setting.rounds_for(auto_rho)
        c = setting.constants
        coupling = 0.0 if c is None else eta * c.L_local
        free = AUTO_COUPLING / AUTO_CONTRACTION
        return setting.rounds_for(AUTO_COUPLING / max(coupling, free))
    return int(choice)


HARD, DIFFERENT = 2000, 6
"""L/σ and ζ/L from which on more rounds are taken."""


def theory_J(method: str, setting: Setting, eta: float, b: int) -> float:
    """J of the Lemma on the inner loop (appendix of the paper)."""
    c = setting.needed_constants(method, "mix_rounds", "theory")
    m, ll, eta_L = setting.agents, c.l1 * c.l2, eta * c.L
    if eta_L >= 1:
        raise UserError(
            f"{method}: mix_rounds = 'theory' needs step_size < 1/L = {1 / c.L:.3g}, "
            f"not {eta:.3g}; take a smaller step, or give mix_rounds as a number"
        )
    if c.sigma <= NO_CONVEXITY * c.L:
        raise UserError(
            f"{method}: mix_rounds = 'theory' needs a strongly convex f, and sigma_f "
            f"is {c.sigma:.3g}; give mix_rounds as a number or 'auto'"
        )
    return (
        12 * eta * ll / (m * b)
        + 4 * eta * ll / m
        + ll / (c.sigma * m)
        + (1 + eta) / (2 * m * eta)
        + (1 - eta_L + 2 * eta) / (2 * (1 - eta_L) * m * eta**2)
    )


def as_in_theory(used: Any, setting: Setting, **exact: str) -> bool:
    """Whether η is at most the theorem's, and M rounds contract as it asks.

    Parameters
    ----------
    used
        The method, its parameters numbers, with `theory_rho`.
    setting
        What they depend on; the theorem's rho falls with the number of steps.
    exact
        Parameters beside η and M that the theorem fixes once η is chosen, each
        ``"theory"``: they must be exactly those.
    """
    try:
        limit = replace(used, step_size="theory").resolve(setting)
        rest = replace(used, **exact).resolve(setting)
        rho = used.theory_rho(setting)
    except (UserError, ArithmeticError):  # no theory without sigma > 0 and constants
        return False
    return (
        setting.psd
        and used.step_size <= limit.step_size * (1 + 1e-12)
        and setting.contraction(used.mix_rounds) <= rho
        and all(isclose(getattr(used, name), getattr(rest, name)) for name in exact)
    )
