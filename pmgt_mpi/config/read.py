"""Reading a config: TOML, overrides from the command line, every key checked."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from pmgt_mpi.algorithms import METHODS
from pmgt_mpi.config.checking import check_named, check_section, refuse_large
from pmgt_mpi.config.overrides import override, refuse_idle
from pmgt_mpi.config.paths import found, with_files_found
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import (
    NEEDS_REFERENCE,
    AlgorithmSection,
    CheckpointSection,
    CostSection,
    DataSection,
    EvaluateSection,
    MixingSection,
    NetworkSection,
    ProblemSection,
    RegularizerSection,
    RunSection,
    StopSection,
)
from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.optimum.accuracy import accuracy_of
from pmgt_mpi.registry import nearest

S = TypeVar("S")

LONGEST_NAME = 200
"""Bytes of a run's name: file systems take 255, and the date comes behind it."""

SECTIONS = [part.name for part in fields(Config) if part.name != "folder"]


def read_toml(path: Path) -> dict[str, Any]:
    """Read a config file."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        raise UserError(f"config file {path} does not exist") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read the config file {path}: {error}") from None
    except (ValueError, RecursionError) as error:
        # Not only of TOML: a number of 5,000 digits, or brackets 1,000 deep.
        raise UserError(f"{path} is not valid TOML: {error}") from None


def read_config(
    path: Path, assignments: list[str] | None = None, *, allow_plugins: bool = False
) -> Config:
    """Read and check a config file.

    Parameters
    ----------
    path
        The TOML file.
    assignments
        Overrides, each ``section.key=value``.
    allow_plugins
        Whether ``module:Class`` may be named, which executes the user's code.
    """
    values = read_toml(path)
    override(values, assignments or [])
    folder = str(path.resolve().parent)
    config = check_config(values, str(path), folder, allow_plugins=allow_plugins)
    for assignment in assignments or []:
        refuse_idle(assignment, config, str(path))
    return config


def check_config(
    values: dict[str, Any], origin: str, folder: str, *, allow_plugins: bool = False
) -> Config:
    """Check a config's values; `folder` is where relative paths start."""
    for section in values:
        if section not in SECTIONS:
            raise UserError(
                f"{origin}: unknown section [{section}]; {nearest(section, SECTIONS)}"
            )

    _refuse_large(values, origin)

    def where(section: str) -> str:
        return f"{origin}: [{section}]"

    def fixed(name: str, section: type[S]) -> S:
        return section(**check_section(section, values.get(name, {}), where(name)))

    def named(name: str, key: str, section: type[S], default: Any = None) -> S:
        given = values.get(name, default or {})
        return named_section(section, key, given, where(name), plugins=allow_plugins)

    config = Config(
        run=fixed("run", RunSection),
        network=network_section(values.get("network", {}), where("network"), folder),
        mixing=fixed("mixing", MixingSection),
        data=with_files_found(named("data", "source", DataSection), folder),
        problem=named("problem", "kind", ProblemSection),
        regularizer=named("regularizer", "kind", RegularizerSection, {"kind": "none"}),
        stop=fixed("stop", StopSection),
        evaluate=fixed("evaluate", EvaluateSection),
        checkpoint=fixed("checkpoint", CheckpointSection),
        cost=fixed("cost", CostSection),
        algorithm=_algorithms(values.get("algorithm"), origin, allow_plugins),
        folder=folder,
    )
    _check_run_name(config.run.name, where("run"))
    try:
        accuracy_of(config.problem.epsilon, config.problem.radius)
    except UserError as error:
        raise UserError(f"{where('problem')} {error}") from None
    _check_reference(config, origin)
    return config


def _refuse_large(values: dict[str, Any], origin: str) -> None:
    """Refuse an integer of more than 64 bits in any section."""
    for name, part in values.items():
        if isinstance(part, list):
            for number, one in enumerate(part):
                keys = one if isinstance(one, dict) else {name: one}
                refuse_large(keys, f"{origin}: [[{name}]] number {number}")
        else:
            keys = part if isinstance(part, dict) else {name: part}
            refuse_large(keys, f"{origin}: [{name}]")


def _check_reference(config: Config, origin: str) -> None:
    """Refuse what needs a minimiser that nobody is to look for."""
    reference = config.evaluate.reference
    bound = config.evaluate.theory_bound
    check_reference_is_wanted(reference, bound, f"{origin}: [evaluate]")
    if reference:
        return
    for key in NEEDS_REFERENCE:
        if (target := getattr(config.stop, key)) is not None:
            raise UserError(
                f"{origin}: [stop] {key} = {target:g} needs the minimiser, and "
                "[evaluate] reference = false; set reference = true, or stop by "
                "gradient_mapping, steps, seconds or wall_seconds"
            )


def check_reference_is_wanted(reference: bool, theory_bound: bool, where: str) -> None:
    """Refuse to bound F − F* where nobody is to look for F*."""
    if theory_bound and not reference:
        raise UserError(
            f"{where} theory_bound = true bounds F − F*, which needs the minimiser; "
            "set reference = true, or leave theory_bound out"
        )


def _check_printable(key: str, text: str, where: str) -> None:
    """Refuse text that would not be seen as it is in a terminal, table or picture."""
    if not text.isprintable() or not text.strip():
        told = shortened(text, 200, ascii)
        raise UserError(
            f"{where} {key} = {told}: expected text that can be printed, in one line "
            "and without control characters"
        )


def _check_run_name(name: str, where: str) -> None:
    """Refuse a name that is not that of one folder below ``runs``."""
    _check_printable("name", name, where)
    if "/" in name or name.startswith(".") or len(name.encode()) > LONGEST_NAME:
        told = shortened(name, LONGEST_NAME + 60)
        raise UserError(
            f"{where} name = '{told}' names the folder of the run below runs: expected "
            f"no '/', no '.' at its start, and at most {LONGEST_NAME} bytes; a folder "
            "elsewhere is chosen with --out"
        )


def named_section(
    section: type[S], key: str, values: Any, where: str, *, plugins: bool | None
) -> S:
    """Check a section that names something, which `key` does, with its options."""
    part, own = check_named(section, key, values, where, allow_plugins=plugins)
    return section(options=part.options, **own)  # type: ignore[call-arg]


def network_section(values: Any, where: str, folder: str = ".") -> NetworkSection:
    """Check [network], where the graph may be in a file and so may be W."""
    options = {}
    if isinstance(values, dict) and "topology" in values:
        part, own = check_named(
            NetworkSection, "topology", values, where, allow_plugins=None
        )
        options = part.options
    else:
        own = check_section(NetworkSection, values, where)
    for one, other in (("topology", "file"), ("weights", "weights_file")):
        if own[one] is not None and own[other] is not None:
            raise UserError(f"{where} has both {one} and {other}; give one of them")
    if own["weights_file"] is None:
        own["weights"] = own["weights"] or "laplacian"
        if own["file"] is None:
            own["topology"] = own["topology"] or "ring"
    for key in ("file", "weights_file"):
        own[key] = own[key] and found(own[key], folder)
    return NetworkSection(options=options, **own)


def _algorithms(
    sections: Any, origin: str, allow_plugins: bool
) -> tuple[AlgorithmSection, ...]:
    if not isinstance(sections, list) or not sections:
        raise UserError(
            f"{origin}: no algorithm is listed; add a section [[algorithm]] with "
            f"name = one of {', '.join(METHODS)}"
        )
    checked = []
    for number, values in enumerate(sections):
        where = f"{origin}: [[algorithm]] number {number}"
        section = algorithm_section(values, where, allow_plugins=allow_plugins)
        if section.label == "reference" or re.search(r"/|\.npy$", section.label):
            told = shortened(section.label)
            raise UserError(
                f"{where} label = '{told}': solution.npz uses 'reference' and names "
                "with a '/' for other arrays, and takes '.npy' off a name; choose "
                "another label"
            )
        checked.append(section)
    label, count = Counter(one.label for one in checked).most_common(1)[0]
    if count > 1:
        raise UserError(
            f"{origin}: {count} algorithms have the label '{label}', which names them "
            "in the log; give each a label of its own"
        )
    return tuple(checked)


def algorithm_section(
    values: Any, where: str, *, allow_plugins: bool | None
) -> AlgorithmSection:
    """Check one [[algorithm]]."""
    part, own = check_named(
        AlgorithmSection, "name", values, where, allow_plugins=allow_plugins
    )
    if not is_dataclass(part.target):
        raise UserError(
            f"{where} algorithm '{own['name']}' is no dataclass; expected a frozen one "
            "with init, step and solution, whose fields are its parameters"
        )
    section = AlgorithmSection(method=part.target(**part.options), **own)
    _check_printable("label", section.label, where)
    return section
