"""The command: ``python -m pmgt_mpi.predict MODEL --data FILE --out FILE``."""

from __future__ import annotations

import argparse
from pathlib import Path

from pmgt_mpi.environment import prepare
from pmgt_mpi.errors import UserError
from pmgt_mpi.terminal import command, complain, say


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pmgt_mpi.predict",
        description="Apply a fitted model to rows: of a PCA, write their scores.",
        epilog="exit codes: 0 done; 2 wrong input.",
    )
    parser.add_argument("model", metavar="MODEL", type=Path, help="a model folder")
    parser.add_argument(
        "--data", metavar="FILE", type=Path, required=True, help="an .npy file of rows"
    )
    parser.add_argument(
        "--out", metavar="FILE", type=Path, required=True, help="an .npy file to write"
    )
    options = parser.parse_args(arguments)
    prepare()
    try:
        _predict(options)
    except UserError as error:
        return complain(error)
    return 0


def _predict(options: argparse.Namespace) -> None:
    import numpy as np

    from pmgt_mpi.estimators import load_model
    from pmgt_mpi.replacing import replacing

    model = load_model(options.model)
    try:
        X = np.load(options.data, mmap_mode="r", allow_pickle=False)
        scores = model.transform(X)
        with replacing(options.out) as part, part.open("wb") as file:
            np.save(file, scores, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise UserError(
            f"{error}; expected --data {options.data} to be an .npy file of rows of "
            f"{model.n_features_in_} columns"
        ) from None
    say(f"{len(scores):,} rows of {scores.shape[1]} scores: {options.out}")


if __name__ == "__main__":
    command(main)
