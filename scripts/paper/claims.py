"""The paper's claims about its experiments, and what was measured of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from methods import KATYUSHAX, NIDS, PG_EXTRA, SVRG
from reproduced import Experiment

EVERY = (SVRG, NIDS, PG_EXTRA)
FULL_PAIR = (NIDS, PG_EXTRA)
DIVERGES = "diverges"
HOLDS, FAILS = "holds", "**does not hold**"


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper.

    Attributes
    ----------
    family, ratio
        On which data (a part of the name), and for which r.
    words
        What it says.
    cost
        In terms of which cost.
    rivals
        Of whom.
    fewer
        Whether PMGT-KatyushaX needs less of it, or more.
    """

    family: str
    ratio: int
    words: str
    cost: str
    rivals: tuple[str, ...]
    fewer: bool = True


CLAIMS = (
    Claim("synthetic", 2, "fewest gradients", "gradients_paper", EVERY),
    Claim("synthetic", 2, "fewer rounds than NIDS", "rounds", (NIDS,)),
    Claim("synthetic", 2, "least weighted cost", "cost", EVERY),
    Claim("synthetic", 300, "fewest gradients", "gradients_paper", EVERY),
    Claim("synthetic", 300, "fewer rounds than NIDS", "rounds", (NIDS,)),
    Claim("synthetic", 300, "least weighted cost", "cost", EVERY),
    Claim(
        "covtype", 2, "fewer gradients than NIDS and PG-EXTRA", "gradients_paper",
        FULL_PAIR,
    ),
    Claim(
        "covtype", 2, "more rounds than NIDS and PG-EXTRA", "rounds", FULL_PAIR, False
    ),
    Claim("covtype", 300, "fewest gradients", "gradients_paper", EVERY),
    Claim("covtype", 300, "fewest rounds", "rounds", EVERY),
)  # fmt: skip
"""Section "Numerical Experiments"; Covtype is held against both orders of the rows."""


@dataclass(frozen=True)
class Ratio:
    """PMGT-KatyushaX's cost over a rival's, on one seed.

    Attributes
    ----------
    bound
        ``<`` where the rival was stopped before the target, ``>`` where PMGT-KatyushaX
        was, ``?`` where both were: then the value says nothing; ``diverges`` where the
        rival did, and the value is 0; else empty.
    """

    value: float
    bound: str = ""

    def shows(self, fewer: bool) -> bool | None:
        """Whether KatyushaX needs less (or more) here; None if that is not known."""
        if self.bound == DIVERGES:
            return fewer
        less = self.value < 1
        # `< 0.5` shows less and `> 2` more; `< 2` and `> 0.5` show nothing.
        if self.bound == "?" or (self.bound and (self.bound == "<") != less):
            return None
        return less == fewer


def ratio(experiment: Experiment, seed: int, rival: str, cost: str) -> Ratio:
    """Compare at the target; who did not reach it needs more than what it spent."""
    own = experiment.reached(seed, KATYUSHAX)
    if own is not None and experiment.runs[seed].status(rival) == "diverged":
        return Ratio(0.0, DIVERGES)
    other = experiment.reached(seed, rival)
    bound = {(False, False): "", (False, True): "<", (True, False): ">"}.get(
        (own is None, other is None), "?"
    )
    top = own or experiment.last(seed, KATYUSHAX)
    bottom = other or experiment.last(seed, rival)
    return Ratio(top[cost] / bottom[cost], bound)


def ratios(experiment: Experiment, rival: str, cost: str) -> list[Ratio]:
    """Those of all seeds."""
    return [ratio(experiment, seed, rival, cost) for seed in experiment.runs]


def spread(found: Sequence[Ratio]) -> str:
    """The median, and the least and the largest; a bound if any of them is one."""
    values = [one.value for one in found if one.bound != DIVERGES]
    if not values:
        return DIVERGES
    marks = {one.bound for one in found} - {"", DIVERGES}
    mark = f"{marks.pop()} " if len(marks) == 1 else "? " if marks else ""
    text = f"{mark}{median(values):.2g}"
    if len(values) > 1:
        text += f" ({min(values):.2g} … {max(values):.2g})"
    if len(values) < len(found):
        text += f", diverges on {len(found) - len(values)} of {len(found)} seeds"
    return text


def verdict(claim: Claim, experiment: Experiment) -> str:
    """``holds``, ``does not hold``, or on how many seeds; against all rivals."""
    shown: list[bool | None] = []
    for seed in experiment.runs:
        each = [
            ratio(experiment, seed, rival, claim.cost).shows(claim.fewer)
            for rival in claim.rivals
        ]
        shown.append(False if False in each else None if None in each else True)
    if all(shown):
        return HOLDS
    if not any(shown):
        return FAILS if False in shown else "not known"
    return f"holds on {sum(one is True for one in shown)} of {len(shown)} seeds"
