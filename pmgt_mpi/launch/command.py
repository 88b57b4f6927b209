"""Reading the command line, and what is done with the script."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from pmgt_mpi.errors import UserError
from pmgt_mpi.launch.fill import FILES, filled
from pmgt_mpi.launch.job import Job, job_name, seconds_of
from pmgt_mpi.terminal import complain, say, write

DESCRIPTION = """\
Write a job script for a cluster: one of launch/, filled in. It runs a config and, where
its time is too short, resumes it in the next job until it is done.

  python -m pmgt_mpi.launch slurm --ranks 64 --time 02:00:00 --config my.toml
  python -m pmgt_mpi.launch slurm --ranks 64 --config my.toml --submit
  python -m pmgt_mpi.launch hosts --ranks 6 --hostfile hosts --config my.toml \\
      --dry-run -- --set stop.steps=10

What stands after -- goes to pmgt_mpi.run. The config is checked here, before any job
waits in a queue.
"""

SUBMIT = {
    "slurm": ["sbatch", "{}"],
    "pbs": ["qsub", "{}"],
    "lsf": ["bsub"],  # reads the script from its standard input
    "hosts": ["bash", "{}"],
    "kubernetes": ["kubectl", "apply", "-f", "{}"],
}


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Read the command line; return its options, and those of the run."""
    own, more = arguments, []
    if "--" in arguments:
        at = arguments.index("--")
        own, more = arguments[:at], arguments[at + 1 :]
    parser = argparse.ArgumentParser(
        prog="python -m pmgt_mpi.launch",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("kind", choices=list(FILES), help="scheduler, or hosts: mpirun over ssh")
    add("--ranks", metavar="N", type=int, required=True, help="agents, one rank each")
    add("--config", metavar="FILE", required=True, help="TOML file to run")
    add("--time", metavar="HH:MM:SS", help="limit of one job (default: the script's)")
    add("--out", metavar="DIR", help="run folder (default: one named after the job)")
    add("--name", help="of the job (default: the config's)")
    add(
        "--directive",
        metavar="TEXT",
        action="append",
        default=[],
        help="one more line for the scheduler, such as --directive=--partition=long",
    )
    add(
        "--starter",
        choices=["auto", "srun", "mpirun"],
        default="auto",
        help="slurm: what starts the ranks (auto: srun if it knows PMIx)",
    )
    add("--hostfile", metavar="FILE", help="hosts: lines 'NAME slots=N'")
    add("--apptainer", metavar="IMAGE", help="run Python in this container")
    add("--image", help="kubernetes: the container image")
    add("--slots", metavar="N", type=int, default=1, help="kubernetes: ranks a worker")
    action = parser.add_mutually_exclusive_group()
    action.add_argument(
        "--write",
        metavar="FILE",
        type=Path,
        help="where to (default: NAME and the ending of the kind, in this folder)",
    )
    action.add_argument("--submit", action="store_true", help="write it and submit it")
    action.add_argument("--dry-run", action="store_true", help="print it, and no more")
    return parser.parse_args(own), more


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options, more = parse(arguments)
    try:
        if any("\n" in word for word in arguments):
            raise UserError("an argument has two lines; expected one, as in a script")
        job = job_of(options, more)
        text = filled(options.kind, job)
        if options.dry_run:
            write(text)
            return 0
        path = options.write or Path(job.name + Path(FILES[options.kind]).suffix)
        write_script(path, text)
        say(f"{path}")
        return submit(options.kind, path) if options.submit else 0
    except UserError as error:
        return complain(error)


def job_of(options: argparse.Namespace, more: list[str]) -> Job:
    """Make a job of the command line, after the config has been checked."""
    for name in ("ranks", "slots"):
        if getattr(options, name) < 1:
            raise UserError(f"--{name} {getattr(options, name)}: expected 1 or more")
    name = options.name or checked_name(options, more)
    config = options.config
    python: tuple[str, ...] = (sys.executable,)
    mpirun = str(Path(sys.executable).with_name("mpirun"))
    if not Path(mpirun).exists():
        mpirun = "mpirun"
    if options.kind == "kubernetes":
        python, mpirun = ("python",), "mpirun"
    else:
        config = str(Path(config).resolve())
    if options.apptainer:
        python = ("apptainer", "exec", options.apptainer, "python")
    return Job(
        name=job_name(name),
        ranks=options.ranks,
        config=config,
        seconds=None if options.time is None else seconds_of(options.time),
        out=options.out,
        options=tuple(more),
        python=python,
        mpirun=mpirun,
        directives=tuple(options.directive),
        starter=options.starter,
        hostfile=options.hostfile and str(Path(options.hostfile).resolve()),
        image=options.image,
        slots=options.slots,
    )


def checked_name(options: argparse.Namespace, more: list[str]) -> str:
    """Check the config as the run will; return its name.

    In a container the config lies elsewhere; where it is not here, it is not checked.
    """
    from pmgt_mpi.command_line import parse as parse_run
    from pmgt_mpi.config.read import read_config

    path = Path(options.config)
    if options.kind == "kubernetes" and not path.exists():
        return path.stem
    run = parse_run(["--config", str(path), *more])
    return read_config(path, run.set, allow_plugins=run.allow_plugins).run.name


def write_script(path: Path, text: str) -> None:
    """Write a script that can be started."""
    try:
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        path.chmod(0o755)
    except OSError as error:
        raise UserError(
            f"cannot write {path}: {error.strerror}; choose another file with --write"
        ) from None


def submit(kind: str, path: Path) -> int:
    """Hand the script to the scheduler."""
    command = [word.format(path) for word in SUBMIT[kind]]
    try:
        with path.open() as script:
            return subprocess.run(command, stdin=script, check=False).returncode
    except (FileNotFoundError, PermissionError):
        raise UserError(
            f"there is no {command[0]} here, so {path} was written but not submitted; "
            "submit it where there is one"
        ) from None
