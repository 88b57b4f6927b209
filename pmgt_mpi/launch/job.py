"""What a job script is filled in with."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pmgt_mpi.errors import UserError

EXPECTED = "expected HH:MM:SS, such as 02:00:00"

WARNING = 180
"""Seconds before the end of its time at which a job is told to stop, at most."""


@dataclass(frozen=True)
class Job:
    """A run on a cluster.

    Attributes
    ----------
    name
        Of the job.
    ranks
        Agents, one MPI rank each.
    seconds
        Time limit; None for that of the script.
    config, out
        Paths, as the ranks see them; `out` None for the script's own choice.
    options
        Further options of pmgt_mpi.run.
    python, mpirun
        The commands that start Python and the ranks.
    directives
        More lines for the scheduler, without its prefix.
    starter
        Slurm: ``srun``, ``mpirun`` or ``auto``.
    hostfile
        For mpirun over ssh.
    image, slots
        Kubernetes: container image, and ranks in a worker.
    """

    name: str
    ranks: int
    config: str
    seconds: int | None = None
    out: str | None = None
    options: tuple[str, ...] = ()
    python: tuple[str, ...] = ("python",)
    mpirun: str = "mpirun"
    directives: tuple[str, ...] = ()
    starter: str = "auto"
    hostfile: str | None = None
    image: str | None = None
    slots: int = 1

    @property
    def warning(self) -> int:
        """Seconds before the end at which it is to stop: a quarter of a short time."""
        return WARNING if self.seconds is None else min(WARNING, self.seconds // 4)


def seconds_of(time: str) -> int:
    """Read HH:MM:SS, D-HH:MM:SS or MM:SS."""
    part = "([0-9]{1,6})"
    match = re.fullmatch(f"(?:(?:{part}-)?{part}:)?{part}:([0-9][0-9])", time)
    if match is None:
        raise UserError(f"--time {time}: {EXPECTED}")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if total == 0 or seconds > 59:
        raise UserError(f"--time {time}: {EXPECTED}")
    return total


def clock(seconds: int) -> str:
    """HH:MM:SS."""
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def job_name(name: str) -> str:
    """Make a name of a run one that schedulers and Kubernetes take."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:50] or "pmgt-mpi"
