"""Minimise a convex quadratic plus psi: semismooth Newton and coordinate descent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.regularizers.base import Regularizer

Array = NDArray[Any]

SWEEPS = 2000
"""Sweeps of coordinate descent at most."""

NEWTON_STEPS = 10
"""Newton steps between sweeps, as long as they help."""

HALVINGS = 10
"""Step lengths tried along one Newton direction."""

SINGULAR = 1e-12
"""Multiple of L that is added to H, which may be singular."""


class Point(NamedTuple):
    """A vector u, and what Newton's method needs there.

    Attributes
    ----------
    u, z, p
        The vector, z = u − t∇q(u), and prox(z), with t = 1/L.
    residual
        ‖u − p‖ / t, the norm of the gradient mapping.
    envelope
        q(u) + ⟨∇q(u), p − u⟩ + ‖p − u‖²/(2t) + psi(p), the forward-backward envelope:
        smooth, between q + psi at p and at u, with the minimisers of q + psi.
    """

    u: Array
    z: Array
    p: Array
    residual: float
    envelope: float


class CompositeQuadratic(NamedTuple):
    """q(u) + psi(u) with q(u) = ⟨g, u − x⟩ + ½ (u − x)ᵀH(u − x), u a vector.

    u is a minimiser where u = prox(u − t∇q(u)). Newton's method on this equation is
    exact when it knows which coordinates prox holds fast (the zeros of l1, the bounds
    of a box); its direction is one of descent for the envelope (Patrinos, Stella &
    Bemporad 2014). Where it makes small steps only, coordinate descent finds these
    coordinates. Neither increases q + psi.

    Parameters
    ----------
    H, g, x
        The quadratic.
    regularizer
        psi.
    L
        A bound of H.
    """

    H: Array
    g: Array
    x: Array
    regularizer: Regularizer
    L: float

    def minimise(self, tolerance: float) -> Array:
        """Go from u = x until the residual is below the tolerance, if it can be."""
        point = self.at(self.x)
        done, sweeps = 0, 4
        while True:
            point = self.newton(point, tolerance)
            if point.residual <= tolerance or done >= SWEEPS:
                return point.u
            point = self.at(self.descend(point.p, sweeps))
            done += sweeps
            sweeps *= 2

    def at(self, u: Array) -> Point:
        """Evaluate the residual and the envelope."""
        step = u - self.x
        curved = self.H.dot(step)
        grad = self.g + curved
        z = u - grad / self.L
        p = self.regularizer.prox(z, 1 / self.L)
        gap = p - u
        size = float(np.linalg.norm(gap))
        value = float(step.dot(self.g + 0.5 * curved))
        envelope = value + float(grad.dot(gap)) + 0.5 * self.L * size**2
        envelope += self.regularizer.value(p)
        return Point(u, z, p, self.L * size, envelope)

    def newton(self, point: Point, tolerance: float) -> Point:
        """Take Newton steps as long as they help."""
        for _ in range(NEWTON_STEPS):
            if point.residual <= tolerance:
                break
            new = self.newton_step(point)
            if new is None:
                break
            point = new
        return point

    def newton_step(self, point: Point) -> Point | None:
        """Go along a Newton direction; None where none brings the envelope down.

        H may be singular, and the direction then endless: the second one is damped
        (Levenberg & Marquardt).
        """
        size = float(np.linalg.norm(point.u))
        scale = float(np.linalg.norm(self.g)) + self.L * size
        rounding = 1e-14 * (abs(point.envelope) + self.L * size**2)
        for damping in (SINGULAR, min(point.residual / scale, 1e-2)):
            target = self.newton_target(point, damping * self.L)
            new = self.at(target)
            if (
                new.residual <= 0.5 * point.residual
                and new.envelope <= point.envelope + rounding
            ):
                return new
            gap, step = point.p - point.u, target - point.u
            slope = min(float((self.H.dot(gap) - self.L * gap).dot(step)), 0.0)
            length = 1.0
            for _ in range(HALVINGS):
                if new.envelope < point.envelope + 1e-4 * length * slope - rounding:
                    return new
                length *= 0.5
                new = self.at(point.u + length * step)
        return None

    def newton_target(self, point: Point, damping: float) -> Array:
        """Solve (I − D(I − tH)) s = p − u; return u + s.

        D is the diagonal of prox's derivative at z. Rows with D = 0 lead to p, to its
        very bits: a zero is 0 and a bound is met. The others, divided by tD, are
        symmetric and positive semidefinite; `damping` is added to their diagonal.
        """
        u, p = point.u, point.p
        D = self.regularizer.prox_slope(point.z, 1 / self.L)
        held, free = D == 0, np.flatnonzero(D)
        M = self.H[np.ix_(free, free)]
        M.flat[:: len(free) + 1] += self.L * (1 / D[free] - 1) + damping
        right = self.L * (p - u)[free] / D[free]
        right -= self.H[free].dot(np.where(held, p - u, 0.0))
        target = np.where(held, p, u)
        target[free] += np.linalg.solve(M, right)
        return target

    def descend(self, u: Array, sweeps: int) -> Array:
        """Minimise over one coordinate after the other, all of them in each sweep."""
        u = u.copy()
        grad = self.g + self.H.dot(u - self.x)
        eta = 1 / np.maximum(self.H.diagonal(), 1e-10 * self.L)
        prox = self.regularizer.prox
        for _ in range(sweeps):
            for j, step in enumerate(eta.tolist()):
                coordinate = u[j : j + 1]
                new = prox(coordinate - step * grad[j], step)
                if change := float(new[0] - coordinate[0]):
                    u[j] = new[0]
                    grad += change * self.H[j]
        return u
