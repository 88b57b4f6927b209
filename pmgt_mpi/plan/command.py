"""Reading the command line, and printing the forecast."""

from __future__ import annotations

import argparse
import json
from math import inf
from pathlib import Path
from time import sleep
from typing import Any

from pmgt_mpi.config.read import read_config
from pmgt_mpi.config.schema import Config
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.engine import choose_engine
from pmgt_mpi.execution.network import network_of
from pmgt_mpi.gossip.polynomials import rounds_for
from pmgt_mpi.gossip.server import spectrum_of
from pmgt_mpi.graphs.network import Network
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import alone
from pmgt_mpi.mpi.world import world as all_ranks
from pmgt_mpi.plan.forecast import Cluster, forecast, with_round_cost
from pmgt_mpi.plan.sample import Sample, take_sample
from pmgt_mpi.plan.table import table
from pmgt_mpi.terminal import complain, printable, write

DESCRIPTION = """\
Predict what a config would cost on a cluster that one does not have yet.

  python -m pmgt_mpi.plan --config my.toml --ranks 10000 --latency 2e-6 --bandwidth 10e9

Spectrum, rounds, messages and bytes are exact. So is what "auto" and "theory" become,
where the rows of all agents can be set up here, one agent after the other: up to 1,000
agents, 1 GB of rows, and --seconds. Else such parameters are estimates from the rows of
one agent; they are marked, and rounds, messages and bytes depend on them; and so are
those that depend on what a round costs, if the config gives no number for it
([cost] round_in_gradients): a run measures it. Seconds come
from steps of one agent that are rehearsed here, without a network, and from the latency
(seconds) and the bandwidth (bytes a second) of a link. Without these two, start it on
two ranks (mpirun -n 2): they rehearse together, and a round costs what it costs between
them.
"""

MOST_RANKS = 1_000_000
"""Of which a graph can be made here."""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m pmgt_mpi.plan",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--config", metavar="FILE", type=Path, required=True, help="TOML file")
    add("--ranks", metavar="N", type=int, required=True, help="agents, one rank each")
    add("--latency", metavar="S", type=float, help="of a message, seconds")
    add("--bandwidth", metavar="B", type=float, help="of a link, bytes a second")
    add("--contraction", metavar="RHO", type=float, default=0.1, help="of a mix (0.1)")
    add("--inner", metavar="T", type=int, help="a step in which T was drawn; else mean")
    add("--steps", metavar="K", type=int, default=40, help="steps to rehearse (40)")
    add(
        "--seconds",
        metavar="S",
        type=float,
        default=30.0,
        help="that setting up all agents here may take (30); 0: estimate parameters",
    )
    add("--set", metavar="SECTION.KEY=VALUE", action="append", default=[])
    add("--allow-plugins", action="store_true", help="as in pmgt_mpi.run")
    add("--json", action="store_true", help="print JSON")
    add(
        "--table",
        action="store_true",
        help="the first algorithm, with the rows an agent that --ranks gives, on four "
        "graphs of 100 to 100,000 agents",
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    options = parse(arguments)
    world = all_ranks()
    try:
        config = read_config(
            options.config, options.set, allow_plugins=options.allow_plugins
        )
        cluster = cluster_of(options, world)
        engine = choose_engine(Collective(world), config.run.engine)
        comm = world if cluster.latency is None else alone()
        # The table is of other numbers of agents, each with as many rows.
        seconds = 0.0 if options.table else options.seconds
        sample = take_sample(config, cluster.ranks, engine, comm, seconds=seconds)
        network = network_of(config, cluster.ranks)
        config, sample = with_round_cost(config, sample, network, cluster)
        if options.table:
            shown = table(config, cluster, options.contraction, sample)
        else:
            values = values_of(options, config, cluster, sample, network)
            shown = json.dumps(values, indent=2) if options.json else text(values)
        if world.rank == 0:
            write(shown + "\n")
    except UserError as error:
        if world.rank == 0:
            return complain(error)
        sleep(1)  # mpirun ends the job at the first rank that fails
        return error.exit_code
    return 0


def cluster_of(options: argparse.Namespace, world: Any) -> Cluster:
    """Return the cluster that is spoken of."""
    for name in ("ranks", "latency", "bandwidth", "steps"):
        value = getattr(options, name)
        if value is not None and not 0 < value < inf:
            raise UserError(f"--{name} {value}: expected a positive number")
    if options.ranks > MOST_RANKS:
        raise UserError(f"--ranks {options.ranks}: expected at most {MOST_RANKS:,}")
    if not 0 <= options.seconds < inf:
        raise UserError(f"--seconds {options.seconds}: expected a number from 0 on")
    if not 0 < options.contraction < 1:
        raise UserError(f"--contraction {options.contraction}: expected 0 < RHO < 1")
    given = options.latency, options.bandwidth
    if None in given and (world.size != 2 or any(given)):
        raise UserError(
            "give --latency and --bandwidth, or neither and start this on two ranks "
            "(mpirun -n 2) to have rounds between them measured"
        )
    return Cluster(options.ranks, *given)


def values_of(
    options: argparse.Namespace,
    config: Config,
    cluster: Cluster,
    sample: Sample,
    network: Network,
) -> Any:
    """Predict everything."""
    rounds = {}
    for section in config.algorithm:
        mixing, name = config.mixing_of(section), section.mixing or config.mixing.method
        spectrum = spectrum_of(mixing, network.lambda_2, network.lambda_min)
        rounds[name] = rounds_for(mixing, options.contraction, *spectrum)
    return {
        "cluster": vars(cluster),
        "network": {
            "topology": network.topology,
            "edges": network.edges,
            "degree": [int(network.degrees.min()), int(network.degrees.max())],
            "lambda_2": network.lambda_2,
            "lambda_min": network.lambda_min,
            "contraction": options.contraction,
            "rounds_for_contraction": rounds,
        },
        "rows_per_agent": sample.n,
        "estimates": sample.why,
        "round_in_gradients": config.cost.round_in_gradients,
        "algorithms": [
            forecast(
                config, number, sample, network, cluster,
                steps=options.steps, T=options.inner,
            )
            for number in range(len(config.algorithm))
        ],
    }  # fmt: skip


def text(values: Any) -> str:
    """Put the forecast into words and a table."""
    cluster, network = values["cluster"], values["network"]
    low, high = network["degree"]
    degree = f"{low}" if low == high else f"{low} to {high}"
    rounds = ", ".join(
        f"{count} of {name}"
        for name, count in network["rounds_for_contraction"].items()
    )
    links = "links as between the two ranks here"
    if cluster["latency"] is not None:
        links = f"links of {cluster['latency']:.2g} s and "
        links += f"{cluster['bandwidth']:.2g} bytes/s"
    lines = [
        f"{cluster['ranks']:,} ranks, {values['rows_per_agent']:,} rows each; {links}",
        f"{network['topology']}: {network['edges']:,} edges, degree {degree}, 1 - "
        f"lambda_2 = {1 - network['lambda_2']:.3g}; rounds to contract to "
        f"{network['contraction']:g}: {rounds}",
        "",
        f"{'one step of':<18}{'gradients':>12}{'rounds':>9}{'messages':>14}"
        f"{'bytes':>11}{'seconds':>10}{'compute':>10}{'comm.':>10}{'memory':>11}",
    ]
    for one in values["algorithms"]:
        step = one["step"]
        lines.append(
            f"{printable(one['algorithm']):<18}"
            f"{step['gradients']:>12,.0f}{step['rounds']:>9,.0f}"
            f"{step['messages']:>14,.0f}{step['bytes']:>11.3g}{step['seconds']:>10.3g}"
            f"{step['compute_seconds']:>10.3g}{step['comm_seconds']:>10.3g}"
            f"{one['memory_bytes'] / 1e6:>8,.0f} MB"
        )
    lines += ["", "Gradients and memory are of one agent, messages and bytes of all."]
    for one in values["algorithms"]:
        parameters = (
            f"{name} {'~' if name in one['estimated'] else ''}{_told(value)}"
            for name, value in one["parameters"].items()
        )
        lines.append(f"{printable(one['algorithm'])}: {', '.join(parameters)}")
    if any(one["estimated"] for one in values["algorithms"]):
        lines.append("~: " + _what_estimates_are(values))
    return "\n".join(lines)


def _what_estimates_are(values: Any) -> str:
    """Say what parameters are estimated from, and why."""
    and_so = "and with it rounds, messages and bytes, as"
    if values["estimates"] is not None:
        why = values["estimates"]
        return f"estimated from the rows of one agent, {and_so} {why}"
    return (
        f"estimated with round_in_gradients = {values['round_in_gradients']:g}, "
        f"{and_so} a run measures what a round costs"
    )


def _told(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"
