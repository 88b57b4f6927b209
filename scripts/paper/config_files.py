"""The configs of configs/paper, written from the declared sweep and its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tomli_w
from declared import CONFIGS, Case, Sweep
from methods import FULL
from sweep_table import Row

EPOCHS, ITERATIONS = 500, 15_000
"""At most, for methods with epochs and for those of full gradients: what has not
converged by then is shown as far as it came."""

SECONDS = 60.0
"""Of the algorithm's clock, for each method: only a busy machine comes so far."""

HEADER = """\
# {title}.
# One of the paper's experiments, each method with its best parameters of a sweep.
#   bash launch/local.sh -n {agents} configs/paper/{name}.toml
# Written by `python scripts/paper sweep` from scripts/paper/sweep.toml and sweep.csv.
"""

TITLES = {
    "bernoulli": "±1 data",
    "contiguous": "Covtype in the order of the file, so that shards differ",
    "shuffled": "Covtype, shuffled",
}


def title(case: Case) -> str:
    """What a config is, in words."""
    kind = case.data.get("partition", case.data["source"])
    return f"{TITLES[kind]}, r = {case.ratio:g}"


def config_text(sweep: Sweep, case: Case, rows: list[Row]) -> str:
    """One config; the rows are those of its problem, in the order of the methods."""
    sections: dict[str, Any] = {
        "run": {"name": case.name, "seed": 1},
        **sweep.sections(case),
        "stop": {
            "steps": EPOCHS,
            "relative_suboptimality": case.target,
            "seconds": SECONDS,
        },
        "algorithm": [_algorithm(case, row) for row in rows],
    }
    header = HEADER.format(title=title(case), agents=sweep.agents, name=case.name)
    return header + "\n" + tomli_w.dumps(sections)


def _algorithm(case: Case, row: Row) -> dict[str, Any]:
    """One method with its best parameters."""
    section: dict[str, Any] = {"name": row["method"]}
    section["step_size"] = float(row["step_size"])
    if row["method"] in FULL:
        section["steps"] = ITERATIONS
        section["evaluate_every"] = case.every
        return section
    section["batch_size"] = int(row["batch_size"])
    if row["momentum"]:
        section["momentum"] = float(row["momentum"])
    section["mix_rounds"] = int(row["mix_rounds"])
    return section


def write_configs(sweep: Sweep, rows: list[Row], folder: Path | None = None) -> None:
    """Write the configs of all problems whose methods have all been searched."""
    folder = folder or CONFIGS
    folder.mkdir(parents=True, exist_ok=True)
    for case in sweep.cases:
        own = [row for row in rows if row["problem"] == case.name]
        if [row["method"] for row in own] == sweep.methods:
            path = folder / f"{case.name}.toml"
            path.write_text(config_text(sweep, case, own))
