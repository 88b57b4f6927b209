"""The resolved config: every word of an algorithm's section made a number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any, Literal, NamedTuple

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip.polynomials import contraction, rounds_for, server
from pmgt_mpi.gossip.server import spectrum_of
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.parameters.cadence import cadence
from pmgt_mpi.parameters.cost import RoundCost, measured_in_run, unmeasured
from pmgt_mpi.parameters.facts import Engine, RunFacts
from pmgt_mpi.parameters.guard import guarded_parameters
from pmgt_mpi.parameters.requirements import refuse_idle, refuse_unmet


def resolve(config: Config, facts: RunFacts, engine: Engine) -> Config:
    """Make every word a number; collective, and agent 0 decides.

    A method that cannot do what is asked is refused here, before anything runs. What a
    round costs is measured if the parameters of a method depend on it.
    """
    collective = facts.collective
    with collective.agreed():
        refuse_idle(config.stop, facts)
    found = led_by_first(
        collective,
        lambda: measured_in_run(config, facts, engine),
        lambda measure: _all_numbers(config, facts, measure),
    )
    with collective.agreed():
        if isinstance(found, UserError):
            raise found
    return replace(
        config,
        run=replace(config.run, engine=engine.name),
        cost=replace(config.cost, round_in_gradients=found.cost),
        algorithm=tuple(
            replace(one, method=replace(one.method, **values), **own)
            for one, (values, own) in zip(
                config.algorithm, found.algorithms, strict=True
            )
        ),
    )


class Numbers(NamedTuple):
    """What words became.

    Attributes
    ----------
    algorithms
        Of each the parameters, and what else its section says with numbers.
    cost
        c, what a round costs in component gradients; ``auto`` if nobody asked for it.
    """

    algorithms: list[tuple[dict[str, Any], dict[str, Any]]]
    cost: float | Literal["auto"]


def _all_numbers(
    config: Config, facts: RunFacts, measure: Callable[[], float]
) -> Numbers | UserError:
    """Return the numbers, or why there are none."""
    cost = RoundCost(config.cost.round_in_gradients, measure)
    numbers = []
    try:
        for section in config.algorithm:
            method = resolved_method(config, section, facts, cost)
            every = section.evaluate_every
            if config.every(section) == "auto":
                every = cadence(facts, config.stop, method)
            guard = guarded_parameters(section, config.mixing.rounds)
            own = {"evaluate_every": every, "guard": guard}
            numbers.append((asdict(method), own))
    except UserError as error:
        return error
    return Numbers(numbers, cost.value)


def resolved_method(
    config: Config,
    section: AlgorithmSection,
    facts: RunFacts,
    cost: Callable[[], float] | None = None,
) -> Any:
    """Return the method of a section with numbers for all its parameters.

    Parameters
    ----------
    cost
        Returns c, if that is not the config's number.
    """
    refuse_unmet(section.name, section.method, facts)
    setting = setting_of(facts, config, section)
    if cost is not None:
        setting = setting._replace(round_cost=cost)
    return section.method.resolve(setting)


def setting_of(facts: RunFacts, config: Config, section: AlgorithmSection) -> Setting:
    """Return what the parameters of an algorithm may depend on."""
    cost = RoundCost(config.cost.round_in_gradients, unmeasured)
    network, mixing = facts.network, config.mixing_of(section)
    agents = facts.collective.agents
    spectrum = spectrum_of(mixing, network.lambda_2, network.lambda_min)
    return Setting(
        agents=agents,
        n=facts.n,
        least_rows=min(facts.rows),
        constants=facts.constants,
        sigma_psi=facts.regularizer.sigma,
        lambda_2=spectrum[0],
        lambda_min=spectrum[1],
        psd=network.psd or mixing is server,
        own_weight=1 / agents if mixing is server else network.largest_own_weight,
        steps=config.steps(section),
        mix_rounds=config.mixing.rounds,
        rounds_for=lambda rho: rounds_for(mixing, rho, *spectrum),
        contraction=lambda M: contraction(mixing, M, *spectrum),
        round_cost=cost,
    )
