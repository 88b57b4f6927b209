"""What the run folders of the cluster test must tell: the same bits, and of the links.

Usage: python scripts/cluster/run_folders.py CHECK ARGUMENT...
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.resuming import essence
from tests.support.running import Left


def same(first: str, second: str) -> str | None:
    """See that two runs left the same, but for clocks and hosts, bit for bit."""
    one, other = essence(Path(first)), essence(Path(second))
    for row in one["ranks"] + other["ranks"]:
        del row["host"]
    differ = [name for name in one if one[name] != other[name]]
    return f"{', '.join(differ)} of {first} and {second} differ" if differ else None


def table(folder: str, name: str) -> list[dict[str, str]]:
    """Read a table of a run folder."""
    return Left(Path(folder)).table(name)


def seconds_on(folder: str, host: str) -> float:
    """Return the longest communication time of the ranks on a host."""
    rows = table(folder, "ranks.csv")
    return max(float(row["comm_seconds"]) for row in rows if row["host"] == host)


def spread(folder: str) -> str | None:
    """See that every host had its share of the ranks."""
    hosts = [row["host"] for row in table(folder, "ranks.csv")]
    if sorted(hosts) != ["h1", "h1", "h2", "h2", "h3", "h3"]:
        return f"expected two ranks on each of h1, h2, h3, not {hosts}"
    return None


def slow(before: str, after: str, host: str, rate: str) -> str | None:
    """See that a host's ranks waited as long as its link needs for their bytes."""
    hosts = {row["agent"]: row["host"] for row in table(after, "ranks.csv")}
    out = sum(
        int(row["bytes_sent"])
        for row in table(after, "edges.csv")
        if hosts[row["agent"]] == host != hosts[row["neighbour"]]
    )
    needed = 8 * out / float(rate)
    fast, measured = seconds_on(before, host), seconds_on(after, host)
    print(
        f"cluster: {out:,} bytes leave {host}, {needed:.1f} s at {float(rate):.0e} "
        f"bit/s; its ranks communicate {measured:.1f} s, and {fast:.1f} s without limit"
    )
    if not measured > max(0.6 * needed, fast):
        return f"the slow link of {host} is not seen in ranks.csv"
    return None


def reported(page: str, after: str, host: str) -> str | None:
    """See that the report's table tells the communication of a slow host's ranks."""
    text = Path(page).read_text("utf-8")
    body = re.search(r'<table id="rank-table">.*?<tbody>(.*?)</tbody>', text)
    if body is None:
        return "the report has no table of ranks"
    told = []
    for row in re.findall(r"<tr>(.*?)</tr>", body[1]):
        words = re.findall(r'<td class="word">(.*?)</td>', row)
        _, communication, _, share = map(float, re.findall('data-value="(.*?)"', row))
        told.append((*words, communication, share))
    wanted = [
        (row["agent"], row["host"], float(row["comm_seconds"]))
        for row in table(after, "ranks.csv")
    ]
    if [one[:3] for one in told] != wanted:
        return f"the report tells {told}, and ranks.csv {wanted}"
    shares = {agent: share for agent, where, _, share in told if where == host}
    most = max(share for *_, share in told)
    print(
        f"cluster: in the report the ranks of {host} communicate "
        + " and ".join(f"{share:.1%}" for share in shares.values())
        + f" of their time, and no rank more than {most:.1%}"
    )
    # All wait for a slow link, so shares differ by what else a rank has to do.
    if not max(shares.values()) > 0.9 * most > 0.45:
        return f"the slow link of {host} is not seen in the report"
    return None


def placed(before: str, after: str) -> str | None:
    """See that placement leaves three edges of a cycle between three hosts."""
    told = []
    for folder in (before, after):
        meta = Left(Path(folder)).meta["across_hosts"]
        told.append((meta["edges"], meta["algorithms"][0]["bytes"]))
    (edges, size), (edges_placed, size_placed) = told
    print(
        f"cluster: {edges} edges and {size:,} bytes cross hosts; with placement "
        f"{edges_placed} and {size_placed:,}"
    )
    if not (edges_placed == 3 < edges and size_placed < size):
        return "placement does not help"
    return None


if __name__ == "__main__":
    every = (same, spread, slow, reported, placed)
    checks = {check.__name__: check for check in every}
    if problem := checks[sys.argv[1]](*sys.argv[2:]):
        sys.exit(f"cluster: {problem}")
