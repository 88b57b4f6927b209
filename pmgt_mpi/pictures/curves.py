"""Curves: the runs of algorithms that a report compares, each with its own look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pmgt_mpi.output.reading import Record
from pmgt_mpi.output.runs import Run
from pmgt_mpi.pictures.style import COLOURS, DASHES
from pmgt_mpi.terminal import printable


@dataclass(frozen=True)
class Curve:
    """One algorithm of one run.

    Attributes
    ----------
    name
        Its label, with the run's name where several runs have that label; printable.
    label
        As the files of the run have it.
    colour, dashes
        An algorithm has one colour in all runs; dashes tell the runs apart.
    records
        Its lines of metrics.jsonl.
    """

    name: str
    label: str
    colour: str
    dashes: tuple[float, ...]
    records: list[Record]
    status: str
    run: Run | None = None

    def points(self, cost: str, measure: str) -> list[tuple[float, float]]:
        """The numbers of two keys, where both are there."""
        pairs = [(record.get(cost), record.get(measure)) for record in self.records]
        return [(x, y) for x, y in pairs if x is not None and y is not None]


def looks(labels: Sequence[str]) -> list[tuple[str, tuple[float, ...]]]:
    """Return a colour and dashes for each label; one that comes again keeps its colour.

    No two looks are the same while there are dashes left.
    """
    order = list(dict.fromkeys(labels))
    worn: Counter[str] = Counter()
    found = []
    for label in labels:
        colour = COLOURS[order.index(label) % len(COLOURS)]
        found.append((colour, DASHES[worn[colour] % len(DASHES)]))
        worn[colour] += 1
    return found


def curves_of(runs: Sequence[Run]) -> list[Curve]:
    """All algorithms of all runs."""
    pairs = [(run, label) for run in runs for label in run.traces]
    labels = [label for _, label in pairs]
    often = Counter(labels)
    names = run_names(runs)
    return [
        Curve(
            name=printable(
                label if often[label] == 1 else f"{label} · {names[run.path]}"
            ),
            label=label,
            colour=colour,
            dashes=dashes,
            records=run.traces[label],
            status=printable(run.status(label)),
            run=run,
        )
        for (run, label), (colour, dashes) in zip(pairs, looks(labels), strict=True)
    ]


def run_names(runs: Sequence[Run]) -> dict[object, str]:
    """Name every run, by its path: the shortest of its names that no other has."""
    for names in (
        [run.name for run in runs],
        [run.path.resolve().name for run in runs],
    ):
        if len(set(names)) == len(runs):
            return dict(zip((run.path for run in runs), names, strict=True))
    return {run.path: str(run.path) for run in runs}


def measure_of(curves: Sequence[Curve]) -> str:
    """What is drawn: the relative suboptimality, or the objective if F* is unknown."""
    relative = "relative_suboptimality"
    records = [record for curve in curves for record in curve.records]
    known = any(record[relative] is not None for record in records)
    return relative if known else "objective"
