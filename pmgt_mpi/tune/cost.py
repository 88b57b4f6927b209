"""The cost of a run: a formula of the counts of its records."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.output.results import Record
from pmgt_mpi.output.study import ALL_COSTS
from pmgt_mpi.registry import nearest

LONGEST = 200
"""Letters of a formula."""

MOST = 1e100
"""Above all factors."""


class Formula:
    """Sums and products of counts and of numbers that are not negative.

    Such a cost never falls as the run goes on, so that a run can be ended at the first
    record that has cost too much.

    Parameters
    ----------
    text
        As ``gradients + 100*rounds``.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        told = f"--cost {shortened(text)}"
        try:
            if len(text) > LONGEST:
                raise ValueError
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise UserError(f"{told} is no formula; {EXPECTED}") from None
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        for name in names:
            if name not in ALL_COSTS:
                raise UserError(
                    f"{told}: unknown name '{name}'; {nearest(name, list(ALL_COSTS))}"
                )
        for node in ast.walk(tree):
            if not isinstance(node, PARTS) or not _allowed(node):
                raise UserError(f"{told} has more than sums of counts; {EXPECTED}")
        if not names:
            raise UserError(f"{told} is the same for every run; {EXPECTED}")
        self._code = compile(tree, "<cost>", "eval")

    def __call__(self, record: Record) -> float:
        """Cost of a run up to a record."""
        counts = {name: record[name] for name in ALL_COSTS}
        return float(eval(self._code, {"__builtins__": {}}, counts))

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel as text."""
        return Formula, (self.text,)


PARTS = (
    ast.Expression, ast.BinOp, ast.Add, ast.Mult, ast.Div, ast.Name, ast.Load,
    ast.Constant,
)  # fmt: skip

EXPECTED = (
    "expected sums of counts, with factors, such as 'gradients + 100*rounds', 'bytes' "
    f"or 'seconds'; counts: {', '.join(ALL_COSTS)}"
)


def _allowed(node: ast.AST) -> bool:
    """Whether a part of a formula can neither fall nor be infinite."""
    if isinstance(node, ast.Constant):
        number = node.value
        known = isinstance(number, int | float) and not isinstance(number, bool)
        return known and 0 <= number < MOST  # type: ignore[operator]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        divisor = node.right
        return isinstance(divisor, ast.Constant) and bool(divisor.value)
    return True


@dataclass(frozen=True)
class Beyond:
    """Whether a record has cost more than a run may."""

    cost: Formula
    cap: float

    def __call__(self, record: Record) -> bool:
        """Say so."""
        return self.cost(record) > self.cap
