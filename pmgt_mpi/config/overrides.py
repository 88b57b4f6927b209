"""What ``--set`` on the command line does to a config."""

from __future__ import annotations

import tomllib
from typing import Any

from pmgt_mpi.config.paths import is_text
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.errors import UserError, shortened

OWN = {
    "stop.steps": "steps",
    "evaluate.every": "evaluate_every",
    "mixing.method": "mixing",
    "mixing.rounds": "mix_rounds",
}
"""The key of an algorithm that stands in place of one that all share."""


def override(values: dict[str, Any], assignments: list[str]) -> None:
    """Apply ``--set section.key=value`` and ``--set algorithm.0.key=value``."""
    for assignment in assignments:
        told = shortened(assignment, 200)
        if not is_text(assignment):
            raise UserError(f"--set {told}: expected text in UTF-8, as a config is")
        path, equals, text = assignment.partition("=")
        section, dot, key = path.strip().partition(".")
        if not equals or not dot:
            raise UserError(
                f"--set {told}: expected section.key=value, such as stop.steps=10"
            )
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):
            value = text.strip()
        target = values.setdefault(section, {})
        if isinstance(target, list):
            index, _, key = key.partition(".")
            if not key or index not in map(str, range(len(target))):
                raise UserError(
                    f"--set {told}: expected {section}.NUMBER.key=value with a "
                    f"number from 0 to {len(target) - 1}"
                )
            target = target[int(index)]
        if not isinstance(target, dict):
            raise UserError(f"--set {told}: '{section}' is not a section")
        target[key] = value


def refuse_idle(assignment: str, config: Config, origin: str) -> None:
    """Refuse to set what all share where every algorithm has its own.

    So it is with what was "auto" in a config.toml that a run has written.
    """
    key = assignment.partition("=")[0].strip()
    own = OWN.get(key)
    if own is None:
        return
    taken = [_own_value(section, own) for section in config.algorithm]
    if all(value is None for value in taken) or "section" in taken:
        return
    if own != "mix_rounds" and None in taken:
        return
    raise UserError(
        f"{origin}: --set {shortened(assignment)} would change nothing, as every "
        f"algorithm that takes {key} has its own {own} here; set "
        f"algorithm.NUMBER.{own}, or take the config from which the run was started "
        "(asked.toml in its folder)"
    )


def _own_value(section: AlgorithmSection, key: str) -> Any:
    if key == "mix_rounds":
        return getattr(section.method, key, None)  # one without a mix has none
    return getattr(section, key)
