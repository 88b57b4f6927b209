"""How a step grows with the number of agents, on four graphs."""

from __future__ import annotations

from dataclasses import replace

from pmgt_mpi.config.schema import Config
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.network import network_of
from pmgt_mpi.gossip.polynomials import rounds_for
from pmgt_mpi.gossip.server import spectrum_of
from pmgt_mpi.output.table import markdown_text
from pmgt_mpi.plan.forecast import Cluster, forecast
from pmgt_mpi.plan.sample import Sample
from pmgt_mpi.terminal import printable

GRAPHS = ("ring", "torus", "exponential", "random-regular")
AGENTS = (100, 1_000, 10_000, 100_000)


def table(config: Config, cluster: Cluster, contraction: float, sample: Sample) -> str:
    """Return the table as Markdown: M such that one mix contracts as wanted.

    The rows of an agent stay what they are at the cluster's number of ranks: the data
    grow with the agents.
    """
    section = config.algorithm[0]
    mixing = config.mixing_of(section)
    label = markdown_text(printable(section.label))
    lines = [
        f"| graph | agents | degree | 1 − λ₂ | M | rounds of a step of "
        f"{label} | MB that an agent sends | seconds | of which compute |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for graph in GRAPHS:
        named = replace(config.network, topology=graph, options={}, file=None)
        own = replace(config, network=named)
        for m in AGENTS:
            network = network_of(own, m)
            degree, gap = int(network.degrees.max()), 1 - network.lambda_2
            start = f"| {graph} | {m:,} | {degree} | {gap:.2g} |"
            try:
                spectrum = spectrum_of(mixing, network.lambda_2, network.lambda_min)
                M = rounds_for(mixing, contraction, *spectrum)
            except UserError:
                lines.append(f"{start} > 100,000 | | | | |")
                continue
            step = forecast(own, 0, sample, network, cluster, rounds=M)["step"]
            lines.append(
                f"{start} {M:,} | {step['rounds']:,.0f} | "
                f"{step['bytes'] / m / 1e6:,.3g} | {step['seconds']:.3g} | "
                f"{step['compute_seconds']:.3g} |"
            )
    return "\n".join(lines)
