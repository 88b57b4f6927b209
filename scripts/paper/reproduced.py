"""Reading the runs of a reproduction: a folder for each problem, in it one a seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from methods import KATYUSHAX, NIDS, PG_EXTRA, SVRG

from pmgt_mpi.output.reading import Record
from pmgt_mpi.output.runs import Run, read_run

METHODS = (KATYUSHAX, SVRG, NIDS, PG_EXTRA)
"""In the order in which they are drawn: PG-EXTRA's dashes lie over NIDS' line."""

DATA = {
    "synthetic": "Synthetic ±1 data",
    "covtype": "Covtype in the order of the file",
    "covtype-shuffled": "Covtype, shuffled",
}
RATIOS = (2, 300)


@dataclass(frozen=True)
class Experiment:
    """One problem, run with several seeds.

    Attributes
    ----------
    data, ratio
        Which of `DATA`, and r.
    runs
        By seed.
    """

    data: str
    ratio: int
    runs: dict[int, Run]

    @property
    def name(self) -> str:
        """Of its config."""
        return f"{self.data}-r{self.ratio}"

    @property
    def first(self) -> Run:
        """The run of the first seed."""
        return self.runs[min(self.runs)]

    @property
    def target(self) -> float:
        """Relative suboptimality at which its runs end."""
        return float(self.first.config["stop"]["relative_suboptimality"])

    @property
    def constants(self) -> dict[str, Any]:
        """L, σ, ℓ₁ and ℓ₂."""
        return dict(self.first.meta["constants"])

    @property
    def n(self) -> int:
        """Rows of an agent, the most that any has."""
        return int(max(row["rows"] for row in self.first.ranks))

    def status(self, method: str) -> list[str]:
        """How a method ended, for each seed."""
        return [run.status(method) for run in self.runs.values()]

    def last(self, seed: int, method: str) -> Record:
        """The last record of a run."""
        return self.runs[seed].traces[method][-1]

    def reached(self, seed: int, method: str) -> Record | None:
        """The first record that has reached the target."""
        for record in self.runs[seed].traces[method]:
            value = record["relative_suboptimality"]
            if value is not None and value <= self.target:
                return record
        return None


def read_experiments(folder: Path, weight: float) -> list[Experiment]:
    """Read all finished runs; each record gets its weighted cost, as the paper counts.

    A run that has not ended is left out.
    """
    found = []
    for data in DATA:
        for ratio in RATIOS:
            runs = {}
            for path in sorted((folder / f"{data}-r{ratio}").glob("seed-*")):
                if (path / "summary.json").exists():
                    run = read_run(path)
                    for record in (r for trace in run.traces.values() for r in trace):
                        record["cost"] = (
                            record["gradients_paper"] + weight * record["rounds"]
                        )
                    runs[int(path.name.removeprefix("seed-"))] = run
            if runs:
                found.append(Experiment(data, ratio, dict(sorted(runs.items()))))
    return found
