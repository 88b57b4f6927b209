"""What the theory knows of a problem: numbers that parameters are made of."""

from __future__ import annotations

from typing import NamedTuple, Self

from pmgt_mpi.errors import UserError

SMALLEST, LARGEST = 1e-100, 1e100
"""Of a curvature, whose square and cube must be numbers."""


class Constants(NamedTuple):
    """What the theory knows of a problem (the paper's Preliminaries).

    Attributes
    ----------
    L
        Smoothness of f, the mean over all rows.
    l1, l2
        Every component is (l1, l2)-smooth: its curvature lies in [−l2, l1], the
        weights m n_i / N of unequal shards included; l2 ≥ l1 as the paper assumes.
    sigma
        Strong convexity of f.
    L_local
        Largest absolute curvature of any agent's f_i, its weight included.
    mu_local
        Smallest curvature of any agent's f_i, its weight included; negative where an
        f_i is itself not convex.
    convex
        Whether every component is known to be convex.
    nu, nu_local
        How much the Hessians H_ij of components differ, as far as minibatches notice:
        ν² = λ_max(V), V the mean over agents of V_i = E_j[H_ij²] − H_i², and the same
        of the worst V_i alone; or bounds of them. None where they are not known.
    gamma
        λ_max(H^(−½) V H^(−½)), H the Hessian of f; None where it is not known.
    zeta
        How much agents differ: ζ² = λ_max of the mean of (H_i − H)²; or None.
    mu_rows, L_rows, kappa_rows, root_rows
        Of a linear model with convex components and an l2 term of strength μ, the
        weight included: the smallest μ of an agent; and of the worst agent μ + Σ_j L_j,
        Σ_j (1 + L_j/μ) and Σ_j √(1 + L_j/μ), where L_j is 1/n_i of the smoothness of
        row j; the last √(2/(1 + L_j/μ)) times as large where for a row that is above 1.
        None elsewhere.
    estimated
        Whether these are estimates, which may be too small (σ: too large), and of which
        no theorem is to speak.
    """

    L: float
    l1: float
    l2: float
    sigma: float
    L_local: float
    mu_local: float = 0.0
    convex: bool = False
    nu: float | None = None
    nu_local: float | None = None
    gamma: float | None = None
    zeta: float | None = None
    mu_rows: float | None = None
    L_rows: float | None = None
    kappa_rows: float | None = None
    root_rows: float | None = None
    estimated: bool = False

    @property
    def usable(self) -> bool:
        """Whether anything can be computed with them."""
        sizes = [self.L, self.l1, self.l2, self.sigma, self.L_local, abs(self.mu_local)]
        differ = self.nu, self.nu_local, self.gamma, self.zeta
        rows = self.mu_rows, self.L_rows, self.kappa_rows, self.root_rows
        sizes += [size for size in differ + rows if size is not None]
        lowest = SMALLEST if self.L > 0 else 0.0  # a flat f has L = 0
        within = all(0 <= size <= LARGEST for size in sizes)
        return within and lowest <= min(self.L, self.L_local)

    def checked(self) -> Self:
        """Return them, or refuse numbers with which nothing can be computed."""
        if not self.usable:
            raise UserError(
                f"the problem's constants are L = {self.L:.3g}, l1 = {self.l1:.3g}, "
                f"l2 = {self.l2:.3g}, sigma = {self.sigma:.3g} and L_local = "
                f"{self.L_local:.3g}: expected L and L_local between {SMALLEST:g} and "
                f"{LARGEST:g} (or L = 0), and none negative or larger; scale the data, "
                "or take other numbers in [problem]"
            )
        return self
