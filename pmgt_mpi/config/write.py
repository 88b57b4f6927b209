"""The resolved config: a plan written back as TOML, all defaults filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pmgt_mpi.config.plan import AlgorithmPlan, Part, Plan
from pmgt_mpi.data.files import own_path


def resolved_config(plan: Plan) -> dict[str, Any]:
    """Return the sections of a config that describes the plan completely.

    It may lie in another folder than the original, so the paths of files that were
    found beside the original become absolute.
    """
    network, data = plan.network, plan.data
    sections: dict[str, Any] = {
        "run": {
            "name": plan.name,
            "seed": plan.seed,
            "dtype": plan.dtype,
            "timeout": plan.timeout,
            "engine": plan.engine,
        },
        "network": {
            **_named("topology", network.topology),
            "file": _found(plan, network.file),
            **_named("weights", network.weights),
            "weights_file": _found(plan, network.weights_file),
            "exchange": network.exchange.name,
            "placement": network.placement,
            "seed": network.seed,
        },
        "mixing": {
            "method": plan.common.mixing.name,
            "rounds": plan.common.mix_rounds,
        },
        "data": {
            **_named("source", data.source),
            **_files(plan),
            "partition": data.partition,
            "scale": data.scale,
            "layout": data.layout,
            "shares": data.shares,
            "seed": data.seed,
        },
        "problem": {
            **_named("kind", plan.problem),
            **(plan.accuracy._asdict() if plan.accuracy else {}),
        },
        "regularizer": _named("kind", plan.regularizer),
        "stop": {"steps": plan.common.steps, **plan.stop._asdict()},
        "evaluate": {
            "every": plan.common.evaluate_every,
            "reference": plan.reference,
            "theory_bound": plan.theory_bound,
        },
        "checkpoint": plan.checkpoint._asdict(),
    }
    sections = {name: _given(section) for name, section in sections.items()}
    sections["algorithm"] = [
        {
            **_named("name", algorithm.method),
            "label": algorithm.label,
            "stream": algorithm.stream,
            **_own(algorithm),
        }
        for algorithm in plan.algorithms
    ]
    return sections


def _own(algorithm: AlgorithmPlan) -> dict[str, Any]:
    """What an algorithm does not have from a section that all share.

    Nothing is said twice: what --set changes in such a section holds for all others.
    """
    own = {key: getattr(algorithm, key) for key in algorithm.own}
    if "mixing" in own:
        own["mixing"] = own["mixing"].name
    return own


def _files(plan: Plan) -> dict[str, Any]:
    """The options of a source that is a file which name files."""
    options = plan.data.source.options
    if "path" not in options:
        return {}
    names = [name for name in ("path", "labels") if name in options]
    return {name: _found(plan, options[name]) for name in names}


def _found(plan: Plan, path: str | None) -> str | None:
    """Make a path absolute if it leads somewhere from the original config's folder."""
    if path is None:
        return None
    beside = Path(plan.folder) / Path(path).expanduser()
    first = Path(own_path(str(beside), 0))  # with {agent} in it, that of agent 0
    return str(beside) if first.exists() else path


def _named(key: str, part: Part | None) -> dict[str, Any]:
    return {} if part is None else _given({key: part.name, **part.options})


def _given(section: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is not set: TOML has no null."""
    return {key: value for key, value in section.items() if value is not None}
