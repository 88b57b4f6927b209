"""The runs of a study: every draw, with every value of the grid, of every algorithm."""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from pmgt_mpi.config.read import read_config
from pmgt_mpi.config.schema import Config
from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.execution.series import Job, in_order, with_stream

Grid = dict[str, list[Any]]
"""Values of keys of the config."""


def grid_of(assignments: list[str]) -> Grid:
    """Read ``--grid section.key=v1,v2``."""
    grid: Grid = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        key, told = key.strip(), f"--grid {shortened(assignment, 200)}"
        if not equals or "." not in key:
            raise UserError(
                f"{told}: expected section.key=v1,v2 such as mixing.rounds=2,4,8"
            )
        if key in grid:
            raise UserError(f"{told}: {key} is there twice; give all values in one")
        values = _values(text)
        if not values:
            raise UserError(f"{told}: there is no value; expected v1,v2")
        if any(value in values[:k] for k, value in enumerate(values)):
            raise UserError(f"{told}: a value is there twice; give each once")
        grid[key] = values
    return grid


def _values(text: str) -> list[Any]:
    """Values of TOML between commas, or words."""
    try:
        return list(tomllib.loads(f"values = [{text}]")["values"])
    except (ValueError, RecursionError):
        return [word.strip() for word in text.split(",") if word.strip()]


def keys_of(over: str) -> list[str]:
    """Read ``--over section.key,section.key``."""
    keys = [key.strip() for key in over.split(",")]
    if any(not key.endswith(".seed") for key in keys) or len(set(keys)) < len(keys):
        raise UserError(
            f"--over {shortened(over)}: expected keys of seeds, each once, such as "
            "run.seed or data.seed,network.seed"
        )
    return keys


def jobs_of(options: argparse.Namespace, grid: Grid, over: list[str]) -> list[Job]:
    """Return all runs, those with the same rows beside each other.

    Every config is read and checked here, before anything runs.
    """
    if options.streams is not None and "run.seed" in over:
        raise UserError(
            "--streams gives run.seed to the runs of a draw, and --over gives it to "
            "the draws; leave one out, or take --over data.seed,network.seed"
        )
    jobs: dict[str, Job] = {}
    for draw, cell in product(range(1, options.seeds + 1), _cells(grid)):
        for stream in _streams(options):
            config = _config(options, over, draw, cell, stream)
            for number, section in enumerate(config.algorithm):
                own = {
                    key: value for key, value in cell.items() if _concerns(key, number)
                }
                words = [f"draw {draw}", *(f"{k}={v}" for k, v in own.items())]
                words += [] if stream is None else [f"stream {stream}"]
                key = ", ".join([*words, section.label])
                tags = {
                    "algorithm": section.label,
                    "name": section.name,
                    "draw": draw,
                    "cell": own,
                    "stream": stream,
                    "seed": config.run.seed,
                }
                alone = replace(config, algorithm=(section,))
                jobs.setdefault(key, Job(key, alone, tags=tags))
    return in_order(jobs.values())


def _streams(options: argparse.Namespace) -> list[int | None]:
    return [None] if options.streams is None else [*range(1, options.streams + 1)]


def _cells(grid: Grid) -> Iterator[dict[str, Any]]:
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def _concerns(key: str, number: int) -> bool:
    """Whether a key of the grid is that of an algorithm: another's is none of its."""
    section, _, rest = key.partition(".")
    return section != "algorithm" or rest.partition(".")[0] == str(number)


def _config(
    options: argparse.Namespace,
    over: list[str],
    draw: int,
    cell: dict[str, Any],
    stream: int | None,
) -> Config:
    """Read the config of one combination."""
    values = dict.fromkeys(over, draw) | cell
    set_here = [f"{key}={toml_text(value)}" for key, value in values.items()]
    plugins = options.allow_plugins
    config = read_config(options.config, options.set + set_here, allow_plugins=plugins)
    return config if stream is None else with_stream(config, stream)


def toml_text(value: Any) -> str:
    """Write a value as TOML has it."""
    import tomli_w

    return tomli_w.dumps({"value": value}).partition("=")[2].strip()
