"""Which column of a table is the label."""

from __future__ import annotations

from pmgt_mpi.errors import UserError


def label_number(name: str, column: int | None, columns: int) -> int | None:
    """Return the number of the label's column, from 0, or None if there is none.

    Parameters
    ----------
    name
        What to call the file.
    column
        As the user has it; −1 is the last.
    columns
        How many there are; 0 in a file without rows.
    """
    if column is None or columns == 0:
        return None
    if not -columns <= column < columns:
        raise UserError(
            f"data.label_column = {column}, but {name} has {columns} "
            f"column{'s' * (columns > 1)}; expected {-columns} to {columns - 1}"
        )
    if columns == 1:
        raise UserError(
            f"{name} has no column besides the label (data.label_column = {column}); "
            "expected at least one feature"
        )
    return column % columns
