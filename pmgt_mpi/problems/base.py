"""What a problem is: one agent's f_i, and the constants of the whole."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self

from numpy.typing import NDArray

from pmgt_mpi.errors import UserError

Array = NDArray[Any]

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
    """

    L: float
    l1: float
    l2: float
    sigma: float
    L_local: float
    mu_local: float = 0.0
    convex: bool = False

    def checked(self) -> Self:
        """Return them back, or refuse what nothing can be computed with."""
        sizes = self.L, self.l1, self.l2, self.sigma, self.L_local, abs(self.mu_local)
        lowest = SMALLEST if self.L > 0 else 0.0  # a flat f has L = 0
        if not all(0 <= size <= LARGEST for size in sizes) or not (
            lowest <= min(self.L, self.L_local)
        ):
            raise UserError(
                f"the problem's constants are L = {self.L:.3g}, l1 = {self.l1:.3g}, "
                f"l2 = {self.l2:.3g}, sigma = {self.sigma:.3g} and L_local = "
                f"{self.L_local:.3g}: expected L and L_local between {SMALLEST:g} and "
                f"{LARGEST:g} (or L = 0), and none negative or larger; scale the data, "
                "or take other numbers in [problem]"
            )
        return self


class Problem(Protocol):
    """One agent's f_i: the mean of f_ij over the agent's own rows j.

    The mean is over the agent's rows alone; the weight m n_i / N of unequal shards is
    applied by the runtime. A class used from a config is made as
    ``Class(shard, collective, *, options…)``; its keyword-only parameters are its
    section's keys.

    Three methods are needed. These may be added, and are found by their names:

    ``minibatch_difference(w, w0, rows)``
        minibatch_grad(w, rows) − minibatch_grad(w0, rows), where that is cheaper.
    ``constants(collective) -> Constants``
        Without it, parameters must be given as numbers.
    ``prepare()``
        Make what gradients need and is made once, before an algorithm's clock runs.
    ``hessian(x)``
        d × d, d the size of x; with it and the constants x* is found at set-up.
    ``quadratic``
        True where the Hessian is the same at every x, and need be asked for once.
    ``bregman(x, x_star)``
        f_i(x) − f_i(x*) − ⟨∇f_i(x*), x − x*⟩ without cancellation; with it the
        suboptimality is exact down to rounding.
    ``plus_square(epsilon) -> Problem``
        f_i + (ε/2)‖x‖², the rows shared, where that is better than a wrapper.
    """

    shape: tuple[int, ...]
    """Shape of x."""

    rows: int
    """n_i, how many f_ij there are here."""

    def value(self, x: Array) -> float:
        """f_i(x)."""
        ...

    def grad(self, x: Array) -> Array:
        """∇f_i(x), a new array."""
        ...

    def minibatch_grad(self, x: Array, rows: Array) -> Array:
        """(1/b) Σ_{j ∈ rows} ∇f_ij(x); a row drawn twice counts twice."""
        ...
