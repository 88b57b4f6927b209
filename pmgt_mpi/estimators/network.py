"""How the ranks that fit a model become agents of a network, and what it costs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from time import perf_counter
from typing import Any, NamedTuple

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import NetworkSection, ProblemSection, RunSection
from pmgt_mpi.environment import one_blas_thread
from pmgt_mpi.estimators.agreement import diameter
from pmgt_mpi.execution.engine import choose_engine
from pmgt_mpi.execution.given import Given
from pmgt_mpi.execution.network import Place, take_places
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import chebyshev, contraction, rounds_for
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import agent_communicator, world
from pmgt_mpi.watchdog.guard import guarded

TIMEOUT = 600.0
"""Seconds that an agent may wait for another; then the job is ended."""


class Joined(NamedTuple):
    """An agent's place, and its gossip.

    Attributes
    ----------
    everyone
        All agents; for the set-up alone.
    place, gossip
        Where the agent is, and all that it can do there.
    diameter
        Of the graph.
    started
        When the set-up was over.
    """

    everyone: Collective
    place: Place
    gossip: Gossip
    diameter: int
    started: float

    def rounds_for(self, contraction: float) -> int:
        """Fewest rounds with this contraction."""
        spectrum = self.place.network.lambda_2, self.place.network.lambda_min
        return rounds_for(chebyshev, contraction, *spectrum)

    def setting(self, rows: int, n: int) -> Setting:
        """What the parameters of a solver may depend on."""
        facts = self.place.network
        spectrum = facts.lambda_2, facts.lambda_min
        return Setting(
            agents=self.everyone.agents,
            n=n,
            least_rows=rows,
            constants=None,
            sigma_psi=0.0,
            lambda_2=facts.lambda_2,
            lambda_min=facts.lambda_min,
            psd=facts.psd,
            own_weight=facts.largest_own_weight,
            steps=1,
            mix_rounds="auto",
            rounds_for=self.rounds_for,
            contraction=lambda M: contraction(chebyshev, M, *spectrum),
            round_cost=lambda: 1.0,
        )

    def costs(self, agent: Any) -> dict[str, float]:
        """What the fit has cost this agent since the set-up."""
        sent = self.gossip.sent
        return {
            "seconds": perf_counter() - self.started,
            "rounds": self.gossip.rounds,
            "messages": sent.messages,
            "bytes": sent.bytes,
            "gradients": agent.gradients,
            "passes": agent.passes,
        }


@contextmanager
def joined(comm: Any, network: Any, seed: int) -> Iterator[Joined]:
    """Make the ranks agents; collective, as is what comes after the fit.

    BLAS has one thread meanwhile, and a watchdog looks on.
    """
    with ExitStack() as opened, one_blas_thread():
        everyone = Collective(agent_communicator(world() if comm is None else comm))
        opened.callback(everyone.comm.Free)
        with guarded(everyone.comm, TIMEOUT) as watchdog:
            engine = choose_engine(everyone, "auto")
            config = _config(everyone, network, seed)
            given = Given(network=None if _named(network) else network)
            place = take_places(config, given, everyone, opened)
            watchdog.learn_agents(place.collective)
            comm = place.comm.Dup()
            gossip = Gossip(
                comm, place.neighbourhood, chebyshev, engine.exchange("persistent")
            )
            longest = diameter(everyone, place.neighbourhood.neighbours)
            try:
                yield Joined(everyone, place, gossip, longest, perf_counter())
            finally:
                gossip.close()
                comm.Free()


def _named(network: Any) -> bool:
    return isinstance(network, str | Mapping)


def _config(everyone: Collective, network: Any, seed: int) -> Config:
    """Check the network on agent 0; collective."""
    section = None
    with everyone.agreed():
        if everyone.agent == 0:
            section = NetworkSection(placement="none")
            if _named(network):
                from pmgt_mpi.config.read import network_section

                named = {"topology": network} if isinstance(network, str) else network
                values = {"placement": "none", **named}
                section = network_section(values, "PCA: network")
    section = everyone.from_first(section)
    return Config(
        run=RunSection(seed=seed),
        network=section,
        problem=ProblemSection(kind="pca"),
        algorithm=(),
    )
