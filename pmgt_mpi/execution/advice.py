"""Advice for a run that diverged: the steps that are known beside the one used."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, get_type_hints

from pmgt_mpi.algorithms.base import Algorithm, Setting
from pmgt_mpi.errors import UserError
from pmgt_mpi.options import AutoStep

WHOSE = {"theory": "the theory", "auto": "auto"}
"""How the words of an option `step_size` are called."""

SMALLER = 0.99
"""Part of the step that was used which another must not exceed to be called smaller."""


def advice(label: str, algorithm: Algorithm, setting: Setting) -> str:
    """Say what to change so that an algorithm does not diverge.

    Parameters
    ----------
    label
        Of the algorithm.
    algorithm
        With its parameters as used.
    setting
        What the theory's parameters depend on.
    """
    used = asdict(algorithm)  # type: ignore[call-overload]
    remedies = []
    if "step_size" in used:
        remedies.append(_smaller_step(algorithm, setting))
    if "mix_rounds" in used and setting.agents > 1:
        remedies.append(f"more mix_rounds ({used['mix_rounds']} were used)")
    if _made_for_convex(algorithm, setting):
        remedies.append("a method made for nonconvex f_ij, such as pmgt-svrg")
    if not remedies:
        remedies.append("change its parameters")
    return f"{label} diverged: {', or '.join(remedies)}"


def _smaller_step(algorithm: Any, setting: Setting) -> str:
    """Name the theory's step or auto's, or a step below both where they are no less."""
    used = algorithm.step_size
    allowed = get_type_hints(type(algorithm), include_extras=True)["step_size"]
    words = ["auto"] if allowed == AutoStep else ["theory", "auto"]
    for word in words:
        message = f"take a smaller step_size ({used:.3g} was used"
        try:
            step = replace(algorithm, step_size=word).resolve(setting).step_size
        except UserError as error:
            return f"{message}; {WHOSE[word]}'s cannot be told: {error})"
        if isinstance(step, str):
            return f"{message})"
        if step <= SMALLER * used:
            return f"{message}, {WHOSE[word]} gives {step:.3g})"
    give = " and ".join(WHOSE[word] for word in words)
    give += " gives" if len(words) == 1 else " give"
    return (
        f"take a step_size well below the {used:.3g} that was used ({give} no smaller "
        "one)"
    )


def _made_for_convex(algorithm: Algorithm, setting: Setting) -> bool:
    """Whether f_ij or f_i are not convex, though the method's proof assumes it."""
    traits, c = getattr(algorithm, "traits", None), setting.constants
    if traits is None or c is None:
        return False
    if traits.convex == "components":
        return not c.convex
    return traits.convex == "agents" and c.mu_local < 0
