"""The command: ``mpirun -n m python -m pmgt_mpi.fit pca --data FILE --out DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pmgt_mpi.command_line import Parser, read_options
from pmgt_mpi.entrance import end_together
from pmgt_mpi.environment import launched, prepare
from pmgt_mpi.errors import UserError
from pmgt_mpi.terminal import command, complain, say

DESCRIPTION = """\
Fit a model to rows that lie with the ranks, and write it to a folder: model.npz and
model.json, for pmgt_mpi.load and python -m pmgt_mpi.predict.

  mpirun -n 4 python -m pmgt_mpi.fit pca --data 'part-{agent}.npy' --components 5 \\
      --out model
"""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(
        end_together,
        prog="python -m pmgt_mpi.fit",
        description=DESCRIPTION,
        epilog="exit codes: 0 done; 2 wrong input.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", choices=["pca"], help="what is fitted")
    parser.add_argument(
        "--data",
        metavar="FILE",
        required=True,
        help="an .npy file of rows for each rank; {agent} stands for its number",
    )
    parser.add_argument(
        "--components",
        metavar="K",
        type=_components,
        help="a number, or a share of the variance below 1 (default: all)",
    )
    parser.add_argument("--solver", default="auto", help="of PCA (default: auto)")
    parser.add_argument("--share", default="covariances", help="what neighbours see")
    parser.add_argument("--tol", type=float, default=1e-9, help="angle, in radians")
    parser.add_argument("--network", default="ring", help="a topology (default: ring)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="a new folder"
    )
    return read_options(parser, arguments, lambda *_: None)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    options = parse(arguments)
    prepare()
    try:  # only now: numpy and MPI look at the environment when they are imported
        from pmgt_mpi.mpi.collective import AgreedError, Collective
        from pmgt_mpi.mpi.world import world
    except UserError as error:
        return complain(error) if launched()[1] == 0 else error.exit_code
    everyone = Collective(world())
    try:
        _fit(options, everyone)
    except AgreedError as error:
        code = complain(error) if everyone.agent == 0 else error.exit_code
        return end_together(code)
    return end_together(0)


def _fit(options: argparse.Namespace, everyone: Any) -> None:
    """Read, fit and write; collective."""
    with everyone.agreed():
        if everyone.agent == 0 and options.out.exists():
            raise UserError(f"--out {options.out} exists; name a new folder")
    with everyone.agreed():
        X = _rows(options.data, everyone.agent)
    with everyone.agreed():
        try:
            from pmgt_mpi.estimators.model import save
            from pmgt_mpi.estimators.pca import PCA
        except ModuleNotFoundError as error:
            raise UserError(
                f"{error}; pip install 'pmgt_mpi[sklearn]', whose base classes it has"
            ) from None
    with everyone.agreed():
        try:
            model = PCA(
                options.components,
                tol=options.tol,
                solver=options.solver,
                share=options.share,
                network=options.network,
                seed=options.seed,
                comm=everyone.comm,
            ).fit(X)
        except ValueError as error:  # the same on all agents
            raise UserError(str(error)) from None
    with everyone.agreed():
        if everyone.agent == 0:
            save(model, options.out)
            share = float(model.explained_variance_ratio_.sum())
            say(
                f"{model.n_components_} components of {model.n_samples_:,} rows capture"
                f" {share:.1%} of the variance; {model.solver_}, "
                f"{model.costs_['rounds']:,} rounds\nmodel folder: {options.out}"
            )


def _components(text: str) -> int | float:
    """A number of components, or a share."""
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}: expected a number such as 5, or a share such as 0.9"
        ) from None


def _rows(path: str, agent: int) -> Any:
    """Open the agent's file; its rows stay on the disk until they are used."""
    import numpy as np

    own = path.replace("{agent}", str(agent))
    try:
        return np.load(own, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UserError(
            f"agent {agent} cannot read {own}: {error}; expected an .npy file of rows"
        ) from None


if __name__ == "__main__":
    command(main)
