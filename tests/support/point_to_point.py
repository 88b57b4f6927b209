"""A communicator whose collectives raise."""

from __future__ import annotations

from mpi4py import MPI

COLLECTIVES = [
    name
    for name in dir(MPI.Intracomm)
    if name.lower().lstrip("i").split("_")[0]
    in {
        "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather",
        "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce",
        "scan", "exscan",
    }
    or name.startswith(("Reduce_scatter", "Ireduce_scatter", "Neighbor", "neighbor"))
    or name.startswith("Ineighbor")
]  # fmt: skip


class PointToPoint(MPI.Intracomm):
    """A communicator on which only messages between two ranks are allowed."""


def forbid(name):
    def raises(self, *arguments, **options):  # noqa: ARG001
        raise AssertionError(f"an algorithm called the collective {name}")

    return raises


for collective_name in COLLECTIVES:
    setattr(PointToPoint, collective_name, forbid(collective_name))
