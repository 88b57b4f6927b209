"""The arguments of a program, checked as the sections of a config are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pmgt_mpi.config.checking import check, check_names, keys_of, refuse_large
from pmgt_mpi.config.read import (
    algorithm_section,
    check_reference_is_wanted,
    named_section,
    network_section,
)
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import (
    AlgorithmSection,
    CostSection,
    EvaluateSection,
    MixingSection,
    NetworkSection,
    ProblemSection,
    RegularizerSection,
    RunSection,
    StopSection,
)
from pmgt_mpi.errors import UserError
from pmgt_mpi.optimum.accuracy import accuracy_of
from pmgt_mpi.registry import address_of, is_named

KEYS: dict[str, tuple[type, str]] = {
    "seed": (RunSection, "seed"),
    "engine": (RunSection, "engine"),
    "timeout": (RunSection, "timeout"),
    "exchange": (NetworkSection, "exchange"),
    "mixing": (MixingSection, "method"),
    "mix_rounds": (MixingSection, "rounds"),
    "epsilon": (ProblemSection, "epsilon"),
    "radius": (ProblemSection, "radius"),
    "steps": (StopSection, "steps"),
    "relative_suboptimality": (StopSection, "relative_suboptimality"),
    "stop_epsilon": (StopSection, "epsilon"),
    "gradient_mapping": (StopSection, "gradient_mapping"),
    "seconds": (StopSection, "seconds"),
    "wall_seconds": (StopSection, "wall_seconds"),
    "evaluate_every": (EvaluateSection, "every"),
    "reference": (EvaluateSection, "reference"),
    "theory_bound": (EvaluateSection, "theory_bound"),
    "round_in_gradients": (CostSection, "round_in_gradients"),
}
"""The key of a config that an argument is."""


def checked_timeout(timeout: Any) -> float:
    """Return the time limit, which is needed before the other arguments are read."""
    section, key = KEYS["timeout"]
    field, given = {"timeout": keys_of(section)[key]}, {"timeout": _plain(timeout)}
    refuse_large(given, "solve:")
    return float(check(field, given, "solve:")["timeout"])


def config_of_arguments(named: Mapping[str, Any], others: Mapping[str, Any]) -> Config:
    """Check the arguments of `solve`.

    Parameters
    ----------
    named
        Problem, regularizer, network, weights and algorithm: a name, a mapping with
        name and options, or an object of the program's own.
    others
        Numbers and words.
    """
    fields = {name: keys_of(section)[key] for name, (section, key) in KEYS.items()}
    values = {name: _plain(value) for name, value in others.items()}
    refuse_large(values, "solve:")
    for name, value in named.items():
        if isinstance(value, Mapping):
            refuse_large(value, f"solve: {name}:")
    checked = check(fields, values, "solve:")
    check_names(fields, checked, "solve:")
    check_reference_is_wanted(checked["reference"], checked["theory_bound"], "solve:")

    def of(section: type) -> dict[str, Any]:
        return {
            key: checked[name]
            for name, (other, key) in KEYS.items()
            if other is section
        }

    algorithm = named["algorithm"]
    if is_named(algorithm):
        values = _section_values("name", algorithm)
        section = algorithm_section(values, "solve: algorithm", allow_plugins=True)
    else:
        section = AlgorithmSection(name=address_of(type(algorithm)), method=None)
    regularizer = RegularizerSection(kind="none")
    if is_named(named["regularizer"]):
        regularizer = named_section(
            RegularizerSection,
            "kind",
            _section_values("kind", named["regularizer"]),
            "solve: regularizer",
            plugins=True,
        )
    return Config(
        run=RunSection(**of(RunSection)),
        network=_network(named["network"], named["weights"], of(NetworkSection)),
        mixing=MixingSection(**of(MixingSection)),
        problem=_problem(named["problem"], of(ProblemSection)),
        regularizer=regularizer,
        stop=StopSection(**of(StopSection)),
        evaluate=EvaluateSection(**of(EvaluateSection)),
        cost=CostSection(**of(CostSection)),
        algorithm=(section,),
    )


def _network(network: Any, weights: Any, own: dict[str, Any]) -> NetworkSection:
    """The agents are the ranks, which have their rows already."""
    if not (network is None or is_named(network) or isinstance(network, Path)):
        import networkx as nx

        if not isinstance(network, nx.Graph):
            raise UserError(
                f"solve: network is of type {type(network).__name__}: expected the "
                "name of a topology, a mapping with topology and its options, or a "
                "networkx graph"
            )
    own["placement"] = "none"
    if isinstance(weights, str):
        own["weights"] = weights
    values = _section_values("topology", network) if is_named(network) else {}
    section = network_section({**own, **values}, "solve: network")
    if not is_named(network):
        section = replace(section, topology=None)
    return section if isinstance(weights, str) else replace(section, weights=None)


def _problem(problem: Any, own: dict[str, Any]) -> ProblemSection:
    accuracy = {key: value for key, value in own.items() if value is not None}
    if is_named(problem):
        values = {**accuracy, **_section_values("kind", problem)}
        where = "solve: problem"
        section = named_section(ProblemSection, "kind", values, where, plugins=True)
    else:
        kind = problem if isinstance(problem, type) else type(problem)
        section = ProblemSection(kind=address_of(kind), **accuracy)
    accuracy_of(section.epsilon, section.radius)
    return section


def _section_values(key: str, given: str | Mapping[str, Any]) -> dict[str, Any]:
    """A name as a section that has nothing else."""
    return {key: given} if isinstance(given, str) else dict(given)


def _plain(value: Any) -> Any:
    """A number of numpy's as one of Python's, which is what a config holds."""
    return value.item() if isinstance(value, np.generic) else value
