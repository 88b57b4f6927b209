"""Types of options: the annotations from which a section of the config is checked.

An option is a keyword-only parameter of a registered class or function. Its annotation
is all that the config needs to check it; on the ranks that do not read the config the
annotations cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple


class Within:
    """Bounds of a number: `gt`, `ge`, `lt`, `le`, for pydantic where it is imported.

    Those of the package annotated_types say the same, and cost every rank as much as a
    tenth of numpy.
    """

    def __init__(self, **bounds: float) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, number: Any, schema_of: Any) -> Any:
        """Return the schema of the number with its bounds."""
        return {**schema_of(number), **self.bounds}


class Tunable(NamedTuple):
    """Marks the parameter of a method that a tuning may choose.

    As in ``step_size: Annotated[Positive, Tunable(8)] = 0.1``, or of a type below.

    Attributes
    ----------
    times
        It is chosen between so many times less and so many times more than what the
        method takes itself, all other parameters being as they are.
    most
        It is at most this.
    of_rows
        It is at most the rows of the smallest shard.
    """

    times: float
    most: float = inf
    of_rows: bool = False


Positive = Annotated[float, Within(gt=0, lt=inf)]
NonNegative = Annotated[float, Within(ge=0, lt=inf)]
Strength = Annotated[float, Within(ge=0, le=1e15)]
"""A coefficient of a problem or regularizer: its square is a number in float32 too."""
PositiveStrength = Annotated[float, Within(ge=1e-15, le=1e15)]
Probability = Annotated[float, Within(gt=0, le=1)]
Tolerance = Annotated[float, Within(gt=0, lt=1)]
Count = Annotated[int, Within(ge=1, le=2**53)]
"""A number of things of which there is at least one; formulas take it as a float."""

Rounds = Annotated[int, Within(ge=1, le=1_000_000)]
"""Of one mix: its weights are made at once, and far fewer contract to rounding."""

LARGEST = 2**63 - 1
"""Of the integers of TOML, of numpy and of what is written to a run folder."""

Seed = Annotated[int, Within(ge=0, le=LARGEST)]

Cadence = Annotated[int, Within(ge=0)] | Literal["auto"]
"""Steps between evaluations; 0 is only at the start and the end."""

OF_NAMED = "keys of what the section names"
"""Marks the field of a section that holds these, and is no key itself."""

Options = Annotated[dict[str, Any], OF_NAMED]
"""Keyword arguments of what a section names."""

FILE = "a file's path"
"""Marks a text that is one."""

FilePath = Annotated[str, FILE]

AUTO: Any = "auto"
"""A practical default, made a number when the problem and the network are known."""

SQRT: Any = "sqrt"
"""The square root of an agent's rows: the batch size of the paper's Corollary 1."""

SECTION: Any = "section"
"""What the section [mixing] says."""

# The parameters of algorithms. A config may hold a word in place of a number: "auto",
# or "theory" for the paper's formula. `resolve` makes every word a number before the
# first step, so in an algorithm's own code they are numbers.
if TYPE_CHECKING:
    StepSize = float
    AutoStep = float
    Momentum = float
    Chance = float
    BatchSize = int
    AutoBatchSize = int
    Period = int
    MixRounds = int
    AutoMixRounds = int
else:
    STEP, PART, SIZE = Tunable(8), Tunable(4, most=1), Tunable(8, of_rows=True)
    StepSize = Annotated[Positive | Literal["auto", "theory"], STEP]
    AutoStep = Annotated[Positive | Literal["auto"], STEP]
    Chance = Annotated[Probability | Literal["auto"], PART]
    Period = Annotated[Count | Literal["auto"], Tunable(4)]
    Momentum = Annotated[Probability | Literal["auto", "theory"], PART]
    BatchSize = Annotated[Count | Literal["sqrt"], SIZE]
    AutoBatchSize = Annotated[Count | Literal["auto", "sqrt"], SIZE]
    MixRounds = Annotated[Rounds | Literal["auto", "theory", "section"], Tunable(4)]
    AutoMixRounds = Annotated[Rounds | Literal["auto", "section"], Tunable(4)]


def has_large(value: object) -> bool:
    """Whether a value is, or holds, an integer of more than 64 bits.

    Python reads any: in base 16 also one that it cannot write in base 10.
    """
    parts = [value]
    while parts:
        part = parts.pop()
        if isinstance(part, Mapping):
            parts += part.values()
        elif isinstance(part, list | tuple):
            parts += part
        elif isinstance(part, int) and not -LARGEST - 1 <= part <= LARGEST:
            return True
    return False
