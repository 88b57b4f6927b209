"""What a program hands over in place of what a config names."""

from __future__ import annotations

from typing import Any, NamedTuple

from pmgt_mpi.errors import UserError
from pmgt_mpi.regularizers.base import Regularizer

NEEDED = {
    "problem": ("rows", "shape", "value", "grad", "minibatch_grad"),
    "regularizer": ("value", "prox"),
}
"""What an object must have to be used as a problem, or as psi."""


class Given(NamedTuple):
    """A program's own objects, in place of what a config names.

    Attributes
    ----------
    network, weights
        A networkx graph and W, each None where the config has it; on agent 0.
    source
        What the rows come from.
    rows, labels
        This agent's data.
    problem
        This agent's f_i, or a class that is made as ``Class(shard, collective)``.
    regularizer
        psi.
    x0
        Where all algorithms start.
    """

    network: Any = None
    weights: Any = None
    source: Any = None
    rows: Any = None
    labels: Any = None
    problem: Any = None
    regularizer: Regularizer | None = None
    x0: Any = None


NOTHING_GIVEN = Given()


def check_objects(given: Given) -> None:
    """Refuse an object that cannot be what it is given as; each agent has its own."""
    for argument, names in NEEDED.items():
        thing = getattr(given, argument)
        made_here = argument == "problem" and isinstance(thing, type)
        if thing is None or made_here:
            continue
        missing = [name for name in names if not hasattr(thing, name)]
        if missing or isinstance(thing, type):
            is_class = isinstance(thing, type)
            kind = thing.__name__ if is_class else type(thing).__name__
            raise UserError(
                f"solve: {argument} is {'the class' if is_class else 'of type'} {kind}:"
                " expected a name, a mapping with kind and options, or an object with "
                + ", ".join(names)
            )
