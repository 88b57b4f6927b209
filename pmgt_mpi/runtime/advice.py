"""Advice for a run that diverged: the theory's step beside the one that was used."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, get_type_hints

from pmgt_mpi.algorithms.base import Algorithm, Setting
from pmgt_mpi.errors import UserError
from pmgt_mpi.options import AutoStep


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
        remedies.append(f"take a smaller step_size ({_beside(algorithm, setting)})")
    if "mix_rounds" in used:
        remedies.append(f"more mix_rounds ({used['mix_rounds']} were used)")
    if not remedies:
        remedies.append("change its parameters")
    return f"{label} diverged: {', or '.join(remedies)}"


def _beside(algorithm: Any, setting: Setting) -> str:
    """The step that was used, and the theory's, or auto's where there is no theory."""
    used = f"{algorithm.step_size:.3g} was used"
    allowed = get_type_hints(type(algorithm), include_extras=True)["step_size"]
    word, whose = ("auto", "auto") if allowed == AutoStep else ("theory", "the theory")
    try:
        step = replace(algorithm, step_size=word).resolve(setting).step_size
    except UserError as error:
        return f"{used}; {whose}'s cannot be told: {error}"
    if isinstance(step, str):
        return used
    return f"{used}, {whose} gives {step:.3g}"
