"""Where each rank's time went: stacked bars, in which a straggler stands out."""

from __future__ import annotations

from statistics import median

from matplotlib.axes import Axes

from pmgt_mpi.output.reading import Record
from pmgt_mpi.pictures.curves import Curve
from pmgt_mpi.pictures.style import SHARES, plain
from pmgt_mpi.terminal import printable

KEYS = {
    "compute": "compute_seconds",
    "communication": "comm_seconds",
    "evaluation": "evaluation_seconds",
}

STRAGGLER = 1.5
"""Times the median compute time that make a rank worth naming."""

NOTICED = 0.05
"""Share of the whole time below which a difference in computing is not worth it."""


def ranks_of(curve: Curve) -> list[Record]:
    """Rows of ranks.csv that belong to a curve, in the order of the agents."""
    if curve.run is None:
        return []
    rows = [row for row in curve.run.ranks if row["algorithm"] == curve.label]
    return sorted(rows, key=lambda row: int(row["agent"]))


def communication_share(row: Record) -> float:
    """How much of a rank's time, without evaluation, it sent, received or waited."""
    compute, communication = row["compute_seconds"], row["comm_seconds"]
    whole = compute + communication
    return float(communication / whole) if whole > 0 else 0.0


def draw_times(axis: Axes, rows: list[Record], title: str) -> None:
    """One bar for each rank: it computes, communicates (or waits), evaluates."""
    agents = [int(row["agent"]) for row in rows]
    left = [0.0] * len(rows)
    for share, colour in SHARES.items():
        widths = [row[KEYS[share]] for row in rows]
        axis.barh(agents, widths, left=left, height=0.8, color=colour, label=share)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.tick_params(axis="y", length=0)
    axis.set_xlabel("seconds")
    axis.set_ylabel("agent")
    every = -(-len(rows) // 20)
    axis.set_yticks(agents[::every])
    axis.set_ylim(max(agents) + 0.6, min(agents) - 0.6)
    axis.set_title(plain(title), pad=24)
    axis.legend(
        loc="lower left", bbox_to_anchor=(-0.01, 0.995), ncols=len(SHARES),
        handlelength=1, handleheight=1, columnspacing=1.2, borderpad=0.2,
    )  # fmt: skip


def times_height(rows: list[Record]) -> float:
    """Inches that the bars of so many ranks take."""
    return 1.5 + 0.2 * max(4, min(len(rows), 40))


def straggler(rows: list[Record]) -> str | None:
    """Name the rank that computes much longer than the others, if there is one."""
    computing = [row["compute_seconds"] for row in rows]
    usual, longest = median(computing), max(computing)
    whole = max(sum(row[key] for key in KEYS.values()) for row in rows)
    if longest < STRAGGLER * usual or longest - usual < NOTICED * whole:
        return None
    row = rows[computing.index(longest)]
    host = printable(row.get("host", "its host"))
    return (
        f"Agent {int(row['agent'])} on {host} computes "
        f"{longest / usual:.1f} times as long as the median rank."
    )
