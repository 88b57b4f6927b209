"""Filling in a job script: lines of the file in launch/, replaced one by one.

The files work as they are, with the values that stand in them; so there is no second
form of them, and a line that is not found is a fault of this package.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pmgt_mpi.errors import UserError
from pmgt_mpi.launch.job import Job, clock

FILES = {
    "slurm": "slurm.sbatch",
    "pbs": "pbs.sh",
    "lsf": "lsf.sh",
    "hosts": "hosts.sh",
    "kubernetes": "kubernetes/mpijob.yaml",
}
"""The script of each kind, below launch/."""


def scripts() -> Path:
    """Return the folder of the scripts: in the wheel, or at the top of a checkout."""
    here = Path(__file__).parent
    packed = here / "scripts"
    return packed if packed.is_dir() else here.parents[1] / "launch"


def filled(kind: str, job: Job) -> str:
    """Return the text of a job script of a kind, ready to be submitted."""
    path = scripts() / FILES[kind]
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror}; install the package again"
        ) from None
    return FILLERS[kind](text, job)


def replaced(text: str, start: str, line: str, *, times: int = 1) -> str:
    """Replace the line that begins with `start`, which must be there."""
    pattern = rf"^([ ]*){re.escape(start)}.*$"
    text, found = re.subn(pattern, lambda m: m[1] + line, text, flags=re.MULTILINE)
    if found != times:
        raise AssertionError(f"{found} lines of the script begin with '{start}'")
    return text


def _shell(text: str, job: Job) -> str:
    """What all shell scripts have in common."""
    text = replaced(text, "config=", f"config={shlex.quote(job.config)}")
    text = replaced(text, 'options=("', f"options=({shlex.join(job.options)})")
    text = replaced(text, "python=(", f"python=({shlex.join(job.python)})")
    text = replaced(text, "mpirun=", f"mpirun={shlex.quote(job.mpirun)}")
    if job.out is not None:
        text = replaced(text, "out=", f"out={shlex.quote(job.out)}")
    return text


def _directives(text: str, prefix: str, job: Job) -> str:
    """Put more lines for the scheduler after its last."""
    if not job.directives:
        return text
    end = text.index("\n", text.rindex(f"\n{prefix} ") + 1)
    more = "".join(f"\n{prefix} {directive}" for directive in job.directives)
    return text[:end] + more + text[end:]


def slurm(text: str, job: Job) -> str:
    """Fill in slurm.sbatch."""
    text = _shell(text, job)
    text = replaced(text, "#SBATCH --job-name=", f"#SBATCH --job-name={job.name}")
    text = replaced(text, "#SBATCH --ntasks=", f"#SBATCH --ntasks={job.ranks}")
    text = replaced(text, "starter=${", f"starter={job.starter}")
    if job.seconds is not None:
        text = replaced(text, "#SBATCH --time=", f"#SBATCH --time={clock(job.seconds)}")
        signal = f"#SBATCH --signal=B:USR1@{job.warning}"
        text = replaced(text, "#SBATCH --signal=", signal)
    return _directives(text, "#SBATCH", job)


def pbs(text: str, job: Job) -> str:
    """Fill in pbs.sh."""
    text = _shell(text, job)
    n = job.ranks
    chunks = f"#PBS -l select={n}:ncpus=1:mpiprocs=1"
    if any(directive.startswith("-l select=") for directive in job.directives):
        text = text.replace("#PBS -l select=1:ncpus=4:mpiprocs=4\n", "")
    else:
        text = replaced(text, "#PBS -l select=", chunks)
    text = replaced(text, "#PBS -N ", f"#PBS -N {job.name[:15]}")
    text = replaced(text, "ranks=4", f"ranks={n}")
    if job.seconds is not None:
        walltime = f"#PBS -l walltime={clock(job.seconds)}"
        text = replaced(text, "#PBS -l walltime=", walltime)
        left = job.seconds - job.warning
        text = replaced(text, "max_seconds=", f"max_seconds={left}")
    return _directives(text, "#PBS", job)


def lsf(text: str, job: Job) -> str:
    """Fill in lsf.sh."""
    text = _shell(text, job)
    text = replaced(text, "#BSUB -J ", f"#BSUB -J {job.name}")
    text = replaced(text, "#BSUB -n ", f"#BSUB -n {job.ranks}")
    if job.seconds is not None:
        minutes = max(2, -(-job.seconds // 60))  # LSF counts minutes
        limit = f"#BSUB -W {minutes // 60:02}:{minutes % 60:02}"
        text = replaced(text, "#BSUB -W ", limit)
        text = replaced(text, "#BSUB -wt ", f"#BSUB -wt {-(-job.warning // 60)}")
    return _directives(text, "#BSUB", job)


def hosts(text: str, job: Job) -> str:
    """Fill in hosts.sh."""
    hostfile = job.hostfile
    if hostfile is None:
        raise UserError("hosts needs --hostfile FILE, with lines 'NAME slots=N'")
    if job.seconds is not None:
        limit = ("--max-seconds", str(job.seconds))
        job = replace(job, options=(*limit, *job.options))
    text = _shell(text, job)
    text = replaced(text, "hostfile=", f"hostfile={shlex.quote(hostfile)}")
    return replaced(text, "ranks=", f"ranks={job.ranks}")


def kubernetes(text: str, job: Job) -> str:
    """Fill in kubernetes/mpijob.yaml; JSON is YAML."""
    if job.seconds is not None:
        raise UserError(
            "kubernetes has no time limit to be filled in: omit --time, or stop "
            "the run with -- --max-seconds S"
        )
    if job.ranks % job.slots:
        raise UserError(
            f"--slots {job.slots} does not divide the {job.ranks} ranks; every worker "
            "has as many"
        )
    out = job.out or f"runs/{job.name}"
    run = [*job.python, "-m", "pmgt_mpi.run", "--config", job.config]
    run += ["--out", out, "--resume", "auto", *job.options]
    start = [job.mpirun, "--hostfile", "/etc/mpi/hostfile", "-n", str(job.ranks)]
    text = replaced(text, "name: pmgt-mpi", f"name: {json.dumps(job.name)}")
    text = replaced(text, 'args: ["python"', f"args: {json.dumps(run)}")
    text = replaced(text, 'command: ["mpirun"', f"command: {json.dumps(start)}")
    text = replaced(text, "slotsPerWorker: ", f"slotsPerWorker: {job.slots}")
    text = replaced(text, "replicas: 4", f"replicas: {job.ranks // job.slots}")
    if job.image is not None:
        text = replaced(text, "image: ", f"image: {json.dumps(job.image)}", times=2)
    return text


FILLERS: dict[str, Callable[[str, Job], str]] = {
    "slurm": slurm,
    "pbs": pbs,
    "lsf": lsf,
    "hosts": hosts,
    "kubernetes": kubernetes,
}
