"""The resolved config: every word of an algorithm's section made a number."""

from __future__ import annotations

from dataclasses import asdict, replace
from math import ceil
from typing import Any, Literal

from pmgt_mpi.algorithms.base import Algorithm, Setting
from pmgt_mpi.algorithms.traits import step_cost
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection, StopSection
from pmgt_mpi.execution.requirements import refuse_idle, refuse_unmet
from pmgt_mpi.execution.setup import Setup
from pmgt_mpi.gossip.polynomials import contraction, rounds_for

SHARE = 0.1
"""Of what steps read of the rows, for records where the cadence is automatic."""


def resolve(
    config: Config, setup: Setup, engine: Literal["python", "compiled"]
) -> Config:
    """Make every word a number; collective, and only agent 0 computes.

    A method that cannot do what is asked is refused here, before anything runs.
    """
    collective = setup.collective
    numbers: list[tuple[dict[str, Any], int | Literal["auto"] | None]] = []
    with collective.agreed():
        refuse_idle(config.stop, setup)
    with collective.agreed():
        if collective.agent == 0:
            for section in config.algorithm:
                method = resolved_method(config, section, setup)
                every = section.evaluate_every
                if config.every(section) == "auto":
                    every = cadence(setup, config.stop, method)
                numbers.append((asdict(method), every))
    numbers = collective.from_first(numbers)
    return replace(
        config,
        run=replace(config.run, engine=engine),
        algorithm=tuple(
            replace(one, method=replace(one.method, **values), evaluate_every=every)
            for one, (values, every) in zip(config.algorithm, numbers, strict=True)
        ),
    )


def resolved_method(config: Config, section: AlgorithmSection, setup: Setup) -> Any:
    """Return the method of a section with numbers for all its parameters."""
    refuse_unmet(section.name, section.method, setup)
    return section.method.resolve(setting_of(setup, config, section))


def setting_of(setup: Setup, config: Config, section: AlgorithmSection) -> Setting:
    """Return what the parameters of an algorithm may depend on."""
    facts, mixing = setup.network, config.mixing_of(section)
    spectrum = facts.lambda_2, facts.lambda_min
    return Setting(
        agents=setup.collective.agents,
        n=setup.n,
        least_rows=min(setup.rows),
        constants=setup.constants,
        sigma_psi=setup.regularizer.sigma,
        lambda_2=facts.lambda_2,
        lambda_min=facts.lambda_min,
        psd=facts.psd,
        steps=config.steps(section),
        mix_rounds=config.mixing.rounds,
        rounds_for=lambda rho: rounds_for(mixing, rho, *spectrum),
        contraction=lambda M: contraction(mixing, M, *spectrum),
        round_cost=config.cost.round_in_gradients,
    )


def cadence(setup: Setup, stop: StopSection, method: Algorithm) -> int:
    """Steps between records that read the rows at most a tenth as often as steps do.

    A component gradient reads its row twice, for ⟨a, x⟩ and for the sum, and so does
    the difference of two where the problem is quadratic; elsewhere it reads it once
    more. A method that does not tell its cost is evaluated at every step.
    """
    if not hasattr(method, "traits"):
        return 1
    reads = setup.n * record_reads(setup, stop)
    return ceil(reads / (SHARE * 2 * step_cost(method, setup.n).paper))


def record_reads(setup: Setup, stop: StopSection) -> int:
    """How often a record reads all rows: for F, F − F* and the gradient mapping."""
    excess = 0
    if setup.reference is not None:
        excess = 2 if hasattr(setup.measured, "bregman") else 1
    mapping = 0 if stop.gradient_mapping is None else 2
    return getattr(setup.measured, "value_reads", 1) + excess + mapping
