"""What may be chosen: a range for each parameter that a method declares tunable.

A range lies about what the method takes itself, all parameters before it being chosen:
the step size of a trial is between 1/8 and 8 times ``auto``'s for the trial's batch
size, and not for that of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.config.checking import option_fields
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.options import Tunable

EDGE = 1 / 8
"""Share of a range, in its logarithm, that is its edge."""


@dataclass(frozen=True)
class Asked:
    """A range that the user gives; of all algorithms, where no label is given."""

    label: str | None
    name: str
    low: float
    high: float


class Choice(NamedTuple):
    """A parameter's value in a trial, and the range that it was chosen from.

    Attributes
    ----------
    open_low, open_high
        Whether there may be values beyond the ends of the range.
    """

    name: str
    value: float
    low: float
    high: float
    open_low: bool
    open_high: bool

    @property
    def edge(self) -> str | None:
        """``lower`` or ``upper``, if the value lies there and could lie beyond."""
        if self.low == self.high:
            return None
        place = log(self.value / self.low) / log(self.high / self.low)
        if place <= EDGE and self.open_low:
            return "lower"
        if place >= 1 - EDGE and self.open_high:
            return "upper"
        return None


def tunables(method: Any) -> dict[str, Tunable]:
    """What a method declares, in the order of its fields."""
    found = {}
    for name, (annotation, _) in option_fields(type(method)).items():
        for mark in getattr(annotation, "__metadata__", ()):
            if isinstance(mark, Tunable):
                found[name] = mark
    return found


def read_ranges(
    assignments: Sequence[str], sections: Sequence[AlgorithmSection]
) -> list[Asked]:
    """Read ``--range [LABEL.]PARAMETER=LOW,HIGH``."""
    asked = []
    for assignment in assignments:
        told = f"--range {shortened(assignment, 200)}"
        key, _, text = assignment.partition("=")
        label, _, name = key.strip().rpartition(".")
        try:
            low, high = map(float, text.split(","))
        except ValueError:
            raise UserError(
                f"{told}: expected [LABEL.]PARAMETER=LOW,HIGH, such as "
                "step_size=0.01,1 or nids.step_size=0.01,1"
            ) from None
        if not 0 < low < high < inf:
            raise UserError(f"{told} is empty: expected 0 < LOW < HIGH")
        valid = [
            f"{section.label}.{parameter}"
            for section in sections
            for parameter in tunables(section.method)
        ]
        if not any(
            one == key.strip() or one.endswith(f".{key.strip()}") for one in valid
        ):
            raise UserError(
                f"{told}: nothing here has such a parameter; valid: {', '.join(valid)}"
            )
        asked.append(Asked(label or None, name, low, high))
    return asked


def choose(
    section: AlgorithmSection,
    place: NDArray[Any],
    resolve: Callable[[AlgorithmSection], Any],
    rows: int,
    asked: Sequence[Asked],
) -> tuple[AlgorithmSection, list[Choice]]:
    """Choose the parameters at a place of the unit cube.

    Parameters
    ----------
    resolve
        Makes every word of a section's method a number.
    rows
        Of the smallest shard.
    """
    choices = []
    for (name, mark), x in zip(tunables(section.method).items(), place, strict=True):
        own = getattr(resolve(section), name)
        choice = _chosen(name, own, mark, float(x), rows, _asked(asked, section, name))
        choices.append(choice)
        method = replace(section.method, **{name: choice.value})
        section = replace(section, method=method)
    return section, choices


def own_choice(section: AlgorithmSection, method: Any) -> list[Choice]:
    """Return the config's own values, which no range has been chosen from."""
    return [
        Choice(name, value, value, value, open_low=False, open_high=False)
        for name in tunables(section.method)
        for value in [getattr(method, name)]
    ]


def own_place(
    section: AlgorithmSection, choices: Sequence[Choice], asked: Sequence[Asked]
) -> NDArray[Any]:
    """Return where the config's own values are in the unit cube: mostly in its centre.

    A range that is given may lie elsewhere, and the place be the nearest one in it.
    """
    place = []
    for choice in choices:
        given = _asked(asked, section, choice.name)
        x = 0.5
        if given is not None:
            x = log(choice.value / given.low) / log(given.high / given.low)
        place.append(min(max(x, 0.0), 1.0))
    return np.array(place)


def _asked(
    asked: Sequence[Asked], section: AlgorithmSection, name: str
) -> Asked | None:
    """Return the last range that is given for this parameter."""
    return next(
        (
            one
            for one in reversed(asked)
            if one.name == name and one.label in (None, section.label)
        ),
        None,
    )


def _chosen(
    name: str, own: float, mark: Tunable, x: float, rows: int, asked: Asked | None
) -> Choice:
    whole = isinstance(own, int)
    least = 1 if whole else 0.0
    most = min(mark.most, rows if mark.of_rows else inf)
    low, high = (own / mark.times, own * mark.times)
    if asked is not None:
        low, high = asked.low, asked.high
    value = low * (high / low) ** x  # in the centre it is the method's own
    low, high, value = (min(max(one, least), most) for one in (low, high, value))
    if whole:
        value = round(value)
    ends = (round(low), round(high)) if whole else (low, high)
    more = {"open_low": ends[0] > least, "open_high": ends[1] < most}
    return Choice(name, value, low, high, **more)


def quasi_random(count: int, dimensions: int) -> Iterator[NDArray[Any]]:
    """Sobol's points, without its first two: the corner, and the centre.

    The centre is what the methods take themselves, which is a trial anyway.
    """
    from scipy.stats import qmc

    if dimensions == 0:
        return
    points = qmc.Sobol(dimensions, scramble=False)
    points.fast_forward(2)
    yield from points.random(count) if count else ()


def lattice(count: int, dimensions: int) -> Iterator[NDArray[Any]]:
    """As many points on a lattice, whose sides are as even as the count's factors."""
    sides = [1] * dimensions
    for factor in sorted(_factors(count), reverse=True):
        if sides:
            sides[sides.index(min(sides))] *= factor
    for index in np.ndindex(*sides):
        yield (np.array(index) + 0.5) / np.array(sides)


def _factors(count: int) -> Iterator[int]:
    factor = 2
    while count > 1:
        while count % factor == 0:
            yield factor
            count //= factor
        factor += 1
