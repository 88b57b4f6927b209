"""What a problem is: one agent's f_i."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

from pmgt_mpi.constants import Constants

__all__ = ["Constants", "Problem"]

Array = NDArray[Any]


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
        Without it they are estimated where a parameter is ``auto``.
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
    ``start``
        Where algorithms start, the same on every agent, in place of zero.
    ``figures(x, value, x_star) -> dict``
        What a record tells beside F = value; no collective, as x is the same for all.

    A problem whose answer is eigenvectors of the mean of symmetric C_i has, for the
    methods that find them,

    ``product(V)``, ``gram()`` and ``trace()``
        C_i V for V of d × k, C_i itself and its trace, each a pass over the rows.
    ``shifted(c, w, V) -> Problem``
        ½⟨z, (c I − PC_iP)z⟩ − ⟨w, z⟩ with P = I − VVᵀ: the mean over rows of terms that
        are not convex.
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
