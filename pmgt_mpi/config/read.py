"""Reading a config: TOML, overrides from the command line, every key checked."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.checking import check, check_part
from pmgt_mpi.config.plan import (
    NEEDS_REFERENCE,
    AlgorithmPlan,
    CheckpointPlan,
    Common,
    DataPlan,
    NetworkPlan,
    Part,
    Plan,
    Stop,
)
from pmgt_mpi.config.sections import (
    AlgorithmSection,
    CheckpointSection,
    DataSection,
    EvaluateSection,
    MixingSection,
    NetworkSection,
    ProblemSection,
    RegularizerSection,
    RunSection,
    StopSection,
)
from pmgt_mpi.data import PARTITIONS, SCALINGS, SOURCES
from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.optimum.general_convex import Accuracy, accuracy_of
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.registry import Registry, nearest
from pmgt_mpi.regularizers import REGULARIZERS

LONGEST_NAME = 200
"""Bytes of a run's name: file systems take 255, and the date comes behind it."""

SECTIONS = (
    "run",
    "network",
    "mixing",
    "data",
    "problem",
    "regularizer",
    "stop",
    "evaluate",
    "checkpoint",
    "algorithm",
)


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


def override(values: dict[str, Any], assignments: list[str]) -> None:
    """Apply ``--set section.key=value`` and ``--set algorithm.0.key=value``."""
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        section, dot, key = path.strip().partition(".")
        if not equals or not dot:
            raise UserError(
                f"--set {assignment}: expected section.key=value, such as stop.steps=10"
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
                    f"--set {assignment}: expected {section}.NUMBER.key=value with a "
                    f"number from 0 to {len(target) - 1}"
                )
            target = target[int(index)]
        if not isinstance(target, dict):
            raise UserError(f"--set {assignment}: '{section}' is not a section")
        target[key] = value


def read_config(
    path: Path, assignments: list[str] | None = None, *, allow_plugins: bool = False
) -> Plan:
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
    return check_config(values, str(path), folder, allow_plugins=allow_plugins)


def check_config(
    values: dict[str, Any], origin: str, folder: str, *, allow_plugins: bool = False
) -> Plan:
    """Check a config's values; `folder` is where relative paths start."""
    for section in values:
        if section not in SECTIONS:
            raise UserError(
                f"{origin}: unknown section [{section}]; "
                f"{nearest(section, list(SECTIONS))}"
            )

    def part(
        registry: Registry, section: str, key: str, fixed: type[BaseModel]
    ) -> tuple[Part, dict[str, Any]]:
        return check_part(
            registry,
            key,
            values.get(section, {}),
            fixed,
            f"{origin}: [{section}]",
            allow_plugins=allow_plugins,
        )

    def fixed(section: str, model: type[BaseModel]) -> dict[str, Any]:
        return check(model, values.get(section, {}), f"{origin}: [{section}]")

    run = fixed("run", RunSection)
    _check_run_name(run["name"], f"{origin}: [run]")
    network = _network(values.get("network", {}), f"{origin}: [network]")
    source, data = part(SOURCES, "data", "source", DataSection)
    _known(PARTITIONS, data["partition"], f"{origin}: [data]")
    _known(SCALINGS, data["scale"], f"{origin}: [data]")
    del data["source"]
    problem, wanted = part(PROBLEMS, "problem", "kind", ProblemSection)
    values.setdefault("regularizer", {"kind": "none"})
    regularizer, _ = part(REGULARIZERS, "regularizer", "kind", RegularizerSection)
    stop = fixed("stop", StopSection)
    evaluate = fixed("evaluate", EvaluateSection)
    if evaluate["theory_bound"] and not evaluate["reference"]:
        raise UserError(
            f"{origin}: [evaluate] theory_bound = true bounds F − F*, which needs the "
            "minimiser; set reference = true, or leave theory_bound out"
        )
    for key in () if evaluate["reference"] else NEEDS_REFERENCE:
        if stop[key] is not None:
            raise UserError(
                f"{origin}: [stop] {key} = {stop[key]:g} needs the minimiser, and "
                "[evaluate] reference = false; set reference = true, or stop by "
                "gradient_mapping, steps, seconds or wall_seconds"
            )
    mixing = fixed("mixing", MixingSection)
    common = Common(
        mixing=_known(MIXINGS, mixing["method"], f"{origin}: [mixing]"),
        mix_rounds=mixing["rounds"],
        steps=stop["steps"],
        evaluate_every=evaluate["every"],
    )
    algorithms = _algorithms(values.get("algorithm"), origin, common, allow_plugins)
    return Plan(
        name=run["name"],
        seed=run["seed"],
        dtype=run["dtype"],
        engine=run["engine"],
        folder=folder,
        network=network,
        data=DataPlan(source, **data),
        problem=problem,
        regularizer=regularizer,
        stop=Stop(**{key: stop[key] for key in Stop._fields}),
        reference=evaluate["reference"],
        common=common,
        algorithms=algorithms,
        theory_bound=evaluate["theory_bound"],
        accuracy=_accuracy(wanted, f"{origin}: [problem]"),
        checkpoint=CheckpointPlan(**fixed("checkpoint", CheckpointSection)),
        timeout=run["timeout"],
    )


def _accuracy(wanted: dict[str, Any], where: str) -> Accuracy | None:
    try:
        return accuracy_of(wanted["epsilon"], wanted["radius"])
    except UserError as error:
        raise UserError(f"{where} {error}") from None


def _check_printable(key: str, text: str, where: str) -> None:
    """Refuse text that would not be seen as it is in a terminal, table or picture."""
    if not text.isprintable() or not text.strip():
        raise UserError(
            f"{where} {key} = {text!a}: expected text that can be printed, in one "
            "line and without control characters"
        )


def _check_run_name(name: str, where: str) -> None:
    """Refuse a name that is not that of one folder below ``runs``."""
    _check_printable("name", name, where)
    if "/" in name or name.startswith(".") or len(name.encode()) > LONGEST_NAME:
        raise UserError(
            f"{where} name = '{name}' names the folder of the run below runs: expected "
            f"no '/', no '.' at its start, and at most {LONGEST_NAME} bytes; a folder "
            "elsewhere is chosen with --out"
        )


def _known(registry: Registry, name: str, where: str) -> Part:
    """Return a registered thing that has no options."""
    try:
        return Part(name, registry.address(name))
    except UserError as error:
        raise UserError(f"{where} {error}") from None


def _network(values: dict[str, Any], where: str) -> NetworkPlan:
    topology = None
    if isinstance(values, dict) and "topology" in values:
        topology, fixed = check_part(
            TOPOLOGIES, "topology", values, NetworkSection, where, allow_plugins=None
        )
    else:
        fixed = check(NetworkSection, values, where)
    given = [key for key in ("topology", "file") if fixed[key] is not None]
    if len(given) == 2:
        raise UserError(f"{where} has both topology and file; give one of them")
    if fixed["weights"] and fixed["weights_file"]:
        raise UserError(f"{where} has both weights and weights_file; give one of them")
    if not given and not fixed["weights_file"]:
        topology = Part("ring", TOPOLOGIES["ring"])
    weights = None
    if fixed["weights_file"] is None:
        weights = _known(WEIGHTS, fixed["weights"] or "laplacian", where)
    return NetworkPlan(
        topology=topology,
        file=fixed["file"],
        weights=weights,
        weights_file=fixed["weights_file"],
        exchange=_known(EXCHANGES, fixed["exchange"], where),
        placement=fixed["placement"],
        seed=fixed["seed"],
    )


def _algorithms(
    sections: Any, origin: str, common: Common, allow_plugins: bool
) -> list[AlgorithmPlan]:
    if not isinstance(sections, list) or not sections:
        raise UserError(
            f"{origin}: no algorithm is listed; add a section [[algorithm]] with "
            f"name = one of {', '.join(ALGORITHMS)}"
        )
    plans = []
    for number, values in enumerate(sections):
        where = f"{origin}: [[algorithm]] number {number}"
        if not isinstance(values, dict):
            raise UserError(f"{where} must be a section with keys, not {values!r}")
        method, fixed = check_part(
            ALGORITHMS, "name", values, AlgorithmSection, where,
            allow_plugins=allow_plugins,
        )  # fmt: skip
        own = {
            key: fixed[key]
            for key in ("mixing", "steps", "evaluate_every")
            if fixed[key] is not None
        }
        if "mixing" in own:
            own["mixing"] = _known(MIXINGS, own["mixing"], where)
        label = fixed["label"] or method.name
        _check_printable("label", label, where)
        if label == "reference" or "/" in label or label.endswith(".npy"):
            raise UserError(
                f"{where} label = '{label}': solution.npz uses 'reference' and names "
                "with a '/' for other arrays, and takes '.npy' off a name; choose "
                "another label"
            )
        plans.append(
            AlgorithmPlan(
                label=label,
                stream=fixed["stream"] or method.name,
                method=method,
                **{**common._asdict(), **own},
                own=tuple(own),
            )
        )
    label, count = Counter(plan.label for plan in plans).most_common(1)[0]
    if count > 1:
        raise UserError(
            f"{origin}: {count} algorithms have the label '{label}', which names them "
            "in the log; give each a label of its own"
        )
    return plans
