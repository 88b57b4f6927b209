"""The accuracy that is wanted of an F that may be flat."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from pmgt_mpi.errors import UserError


class Accuracy(NamedTuple):
    """The accuracy F(x) − F* ≤ ε that is wanted.

    Attributes
    ----------
    epsilon
        ε.
    radius
        A bound on the norm of a minimiser of F, where the user knows one.
    """

    epsilon: float
    radius: float | None = None


def accuracy_of(epsilon: float | None, radius: float | None) -> Accuracy | None:
    """Return the accuracy wanted, None where there is none; refuse half of it."""
    for name, value in (("epsilon", epsilon), ("radius", radius)):
        if value is not None and not 0 < value < inf:
            raise UserError(f"{name} = {value}: expected a positive number")
    if epsilon is not None:
        return Accuracy(epsilon, radius)
    if radius is not None:
        raise UserError(
            f"radius = {radius:g} bounds ‖x*‖ for epsilon, which is not given; add "
            "epsilon, or leave radius out"
        )
    return None
