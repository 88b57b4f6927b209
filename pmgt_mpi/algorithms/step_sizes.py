"""Step sizes of methods that gossip one plain round a step, or step without any."""

from __future__ import annotations

from math import inf

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.svrg_parameters import resolve_step


def nids_step(method: str, wanted: float, setting: Setting) -> float:
    """α of NIDS, exact diffusion and P2D2: a number, or one of these.

    ``theory``
        1/L, half of what convex f_i allow whatever the network; L the largest
        smoothness of an f_i.
    ``auto``
        1.9/L, and less where an f_i is not convex (`Setting.bold_step`).
    """
    if not isinstance(wanted, str):
        return wanted
    L = setting.needed_curvature(method, "step_size", wanted).L_local
    return 1 / L if wanted == "theory" else min(1.9 / L, setting.bold_step())


def extra_step(method: str, wanted: float, setting: Setting) -> float:
    """α of EXTRA and PG-EXTRA: a number, or one of these.

    ``theory``
        Half of the bound 2 λ_min(W̃)/L = (1 + λ_min(W))/L of the paper.
    ``auto``
        0.95 of (5 + 3 λ_min(W))/(4 L), and less where an f_i is not convex. With
        curvature h along an eigenvector of W to λ the iteration is

            z² − (1 + λ − α h) z + (1 + λ)/2 − α h = 0,

        which by Jury's criterion is stable for 0 < α h < (5 + 3 λ)/4 (and for
        α h < (3 + λ)/2, which is no less).
    """
    if not isinstance(wanted, str):
        return wanted
    L = setting.needed_curvature(method, "step_size", wanted).L_local
    low = min(setting.lambda_min, 1)
    if wanted == "theory":
        return (1 + low) / L / 2
    return min(0.95 * (5 + 3 * low) / (4 * L), setting.bold_step())


def careful_step(method: str, wanted: str, setting: Setting) -> float:
    """α of methods like EXTRA that no guard looks after.

    0.9 of EXTRA's bound or 1/L, less where an f_i is not convex.
    """
    L = setting.needed_curvature(method, "step_size", wanted).L_local
    bound = (1 + min(setting.lambda_min, 1)) / L
    return min(0.9 * bound, 1 / L, setting.largest_steady_step())


def dsa_step(method: str, wanted: float, setting: Setting, b: int) -> float:
    """α of DSA: a number, or what EXTRA and the smoothness of a minibatch allow."""
    if not isinstance(wanted, str):
        return wanted
    return min(
        careful_step(method, wanted, setting) / 2,
        resolve_step(method, wanted, setting, b),
    )


def tracking_step(
    method: str,
    wanted: float,
    setting: Setting,
    b: int | None = None,
    *,
    adapt_first: bool,
) -> float:
    """α of gradient tracking with one round for each array: a number, or this.

    ``auto``
        The smallest of what the gradients allow (1/L for full ones, `resolve_step` for
        minibatches of b rows), (1 − λ_2)/L_i for agents that differ, and half of what a
        single curvature h allows. With x and t along an eigenvector of W to λ, the
        tracker is a 2 × 2 iteration, and Jury's criterion gives

            α h < (1 + λ)²/(2λ²)   for x' = W(x − αt), t' = W(t + v' − v),
            α h < (1 + λ)²/2       for x' = Wx − αt,   t' = Wt + v' − v,

        the first of them a limit below 2 only where λ < 0.

    Parameters
    ----------
    method, wanted
        Its name, and a number or ``auto``.
    setting
        Problem and network.
    b
        Rows of a minibatch; None for full gradients.
    adapt_first
        Whether the step is taken before the round (the first form) or after it.
    """
    if not isinstance(wanted, str):
        return wanted
    c = setting.needed_curvature(method, "step_size", wanted)
    alpha = 1 / c.L if b is None else resolve_step(method, wanted, setting, b)
    if setting.agents == 1:
        return alpha
    low = setting.lambda_min
    single = (1 + low) ** 2 / 2
    if adapt_first:
        single = single / low**2 if low < 0 else 2.0
    return min(alpha, min(1 - setting.lambda_2, single / 2) / c.L_local)


APART = 1.5
"""What S α ζ may be: how far agents go on their own, against how much they differ."""


def local_step(method: str, wanted: float, setting: Setting, b: int, S: int) -> float:
    """α of S inner steps that send nothing: a number, or this.

    ``auto``
        What minibatches of b rows allow (`resolve_step`), and at most 1.5/(S ζ): after
        S steps agents have gone up to S α ζ times the tracked gradient apart. For
        quadratics on rings of 4 to 20 the spectrum of the iteration shows that 2/(S ζ)
        is stable with mixes that contract to 0.2, and 4/(S ζ) not always.
    """
    if not isinstance(wanted, str):
        return wanted
    alpha = resolve_step(method, wanted, setting, b)
    return min(alpha, APART / S / difference(setting) if difference(setting) else inf)


def surrogate_step(method: str, wanted: float, setting: Setting) -> float:
    """η where an agent minimises f_i(z) + ‖z − y‖²/(2η) + …: a number, or this.

    ``auto``
        1.5/ζ, as in `local_step`, and at most 15/L_local, which keeps that easy.
    """
    if not isinstance(wanted, str):
        return wanted
    easy = 15 / setting.needed_curvature(method, "step_size", wanted).L_local
    return min(easy, APART / difference(setting) if difference(setting) else inf)


def difference(setting: Setting) -> float:
    """ζ, or L_local where it is not known, which is no less; 0 of one agent."""
    c = setting.constants
    if c is None or setting.agents == 1:
        return 0.0
    return c.L_local if c.zeta is None else c.zeta
