"""Gaussian rows with a given spectrum, with or without labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.memory import lacking, short
from pmgt_mpi.data.sources.synthetic import SyntheticTable, block_rows
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import Count, NonNegative, Positive, Within
from pmgt_mpi.streams import MODEL, ROWS, child

Array = NDArray[Any]


class Gaussian:
    """Gaussian rows with a given spectrum, optional labels and heterogeneity.

    Row r of N, at t = (r + ½)/N of the way through the data set, is ::

        a_r = Q diag(√(λ_j (1 + h cos 2π(t + φ_j)))) g_r,    g_r ~ N(0, I),

    with Q orthogonal (Haar), so that the expectation of the mean of a aᵀ over all rows
    is Q diag(λ) Qᵀ whatever h is, while shards of consecutive rows see other spectra.
    Labels follow the model x(t) = x₀ + h cos(2πt) x₁, that is the mean of x(t) is x₀.

    Parameters
    ----------
    rows
        N, of all agents together.
    columns
        d.
    spectrum
        The d eigenvalues λ of the mean of a aᵀ; without it they fall from 1 to
        1/condition.
    condition
        λ_max / λ_min, without a spectrum.
    decay
        How they fall: ``geometric``, ``linear``, or ``power`` (λ_j = j^−p).
    rotate
        False leaves the axes as eigenvectors, Q = I: for d so large that a d × d matrix
        is too much.
    labels
        ``linear``: b = aᵀx(t) + noise·ε; ``sign``: its sign, −1 or +1; or ``none``.
    noise
        Standard deviation of the labels' noise.
    heterogeneity
        h, how much shards of consecutive rows differ.
    """

    def __init__(
        self,
        *,
        rows: Count,
        columns: Count,
        spectrum: Sequence[Positive] | None = None,
        condition: Annotated[float, Within(ge=1)] = 1.0,
        decay: Literal["geometric", "linear", "power"] = "geometric",
        rotate: bool = True,
        labels: Literal["none", "linear", "sign"] = "none",
        noise: NonNegative = 0.1,
        heterogeneity: Annotated[float, Within(ge=0, le=1)] = 0.0,
    ) -> None:
        if spectrum is not None and len(spectrum) != columns:
            raise UserError(
                f"data.spectrum has {len(spectrum)} eigenvalues, but data.columns is "
                f"{columns}; expected one for each column"
            )
        if spectrum is not None and condition != 1:
            raise UserError(
                "data.spectrum and data.condition say the same thing twice; leave one "
                "of them out"
            )
        if lack := lacking(columns, np.float64):
            raise UserError(
                f"[data] columns = {short(columns)} make a vector of {lack}; take fewer"
            )
        if rotate and (lack := lacking(columns**2, np.float64)):
            raise UserError(
                f"[data] columns = {short(columns)} need a matrix Q of {lack}; set "
                "rotate = false, or take fewer"
            )
        self.rows = rows
        self.columns = columns
        self.eigenvalues = (
            falling(columns, condition, decay)
            if spectrum is None
            else np.asarray(spectrum, dtype=np.float64)
        )
        self.rotate = rotate
        self.labels = labels
        self.noise = noise
        self.heterogeneity = heterogeneity

    def open(
        self, collective: Collective, *, base: Path | None, seed: np.random.SeedSequence
    ) -> SyntheticTable:
        """Draw what all rows have in common: Q, φ, x₀, x₁."""
        del collective, base
        d, h = self.columns, self.heterogeneity
        common = child(seed, MODEL)
        phases = common.random(d)
        x_0, x_1 = common.standard_normal((2, d)) / np.sqrt(d)
        Q = haar(common, d) if self.rotate else None
        size = block_rows(d)

        def draw(block: int) -> tuple[Array, Array | None]:
            stream = child(seed, ROWS, block)
            A = stream.standard_normal((size, d))
            t = (np.arange(block * size, (block + 1) * size)[:, None] + 0.5) / self.rows
            A *= np.sqrt(self.eigenvalues)
            if h:
                A *= np.sqrt(1 + h * np.cos(2 * np.pi * (t + phases)))
            if Q is not None:
                A = A @ Q.T
            if self.labels == "none":
                return A, None
            response = A @ x_0 + h * np.cos(2 * np.pi * t[:, 0]) * (A @ x_1)
            response += self.noise * stream.standard_normal(size)
            if self.labels == "sign":
                response = np.where(response < 0, -1.0, 1.0)
            return A, response

        labelled = self.labels != "none"
        return SyntheticTable("gaussian", self.rows, d, draw, labelled=labelled)


def falling(columns: int, condition: float, decay: str) -> Array:
    """Return eigenvalues that fall from 1 to 1/condition."""
    if columns == 1:
        return np.ones(1)
    if decay == "linear":
        return np.linspace(1, 1 / condition, columns)
    if decay == "power":
        steps = np.log(np.arange(1, columns + 1)) / np.log(columns)
    else:
        steps = np.linspace(0, 1, columns)
    return np.asarray(condition**-steps)


def haar(stream: np.random.Generator, d: int) -> Array:
    """Draw an orthogonal d × d matrix, uniformly (Mezzadri 2007)."""
    Q, R = np.linalg.qr(stream.standard_normal((d, d)))
    Q *= np.sign(np.diagonal(R))
    return Q
