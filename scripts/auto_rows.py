"""Random quadratics whose agents share one process, for many runs with `auto`.

Row i of every array is agent i's, as in `scripts/search`; the methods, their rules, the
mixing and the guard are the package's own. The constants are computed here, from whole
Hessians, and not by the package's iterations.
"""

from __future__ import annotations

from dataclasses import fields
from math import exp, inf, log, log10, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.constants import Constants
from pmgt_mpi.gossip.polynomials import (
    chebyshev,
    coefficients,
    contraction,
    rounds_for,
)
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.parameters.guard import Guarded

Array = NDArray[Any]

GRAPHS = ("ring", "path", "star", "erdos-renyi")
HARD = 2000.0, 6.0
"""Condition number and ζ/L from which on a problem is a hard one."""
FAR = 1e6
"""Multiple of the start's suboptimality that is divergence, as in a run."""


class Quadratics:
    """f_ij(x) = ½ xᵀ(c I + s a aᵀ)x + ⟨q_i, x⟩, unequal shards weighted by m n_i/N."""

    def __init__(self, parts: list[Array], s: int, c: float, q: Array, graph: str):
        self.parts, self.s, self.c, m = parts, s, c, len(parts)
        self.sizes = np.array([len(part) for part in parts])
        self.weights = self.sizes * m / self.sizes.sum()
        self.m, self.n, self.d = m, -(-int(self.sizes.sum()) // m), parts[0].shape[1]
        moments = [part.T @ part / len(part) for part in parts]
        self.H_i = np.stack([
            w * (c * np.eye(self.d) + s * G)
            for w, G in zip(self.weights, moments, strict=True)
        ])  # fmt: skip
        self.q = q * self.weights[:, None]
        self.H = self.H_i.mean(0)
        self.x_star = -np.linalg.solve(self.H, self.q.mean(0))
        self.network = build_network(m, np.random.default_rng(m), topology=graph)
        self.W = self.network.W.toarray()
        self.constants = self._constants(moments)

    def _constants(self, moments: list[Array]) -> Constants:
        V = np.stack([
            w**2 * ((part * (part**2).sum(1)[:, None]).T @ part / len(part) - G @ G)
            for w, part, G in zip(self.weights, self.parts, moments, strict=True)
        ])  # fmt: skip
        mean, apart = np.linalg.eigvalsh(self.H), self.H_i - self.H
        local = np.linalg.eigvalsh(self.H_i)
        root = np.linalg.inv(np.linalg.cholesky(self.H))
        longest = max(float((part**2).sum(1).max()) for part in self.parts)
        ends = self.weights.max() * np.array([self.c, self.c + self.s * longest])
        l1 = max(ends.max(), 0.0)
        return Constants(
            L=mean[-1], sigma=mean[0], l1=l1, l2=max(l1, -ends.min()),
            L_local=np.abs(local).max(), mu_local=local.min(), convex=self.s > 0,
            nu=sqrt(largest(V.mean(0))), nu_local=sqrt(max(map(largest, V))),
            gamma=largest(root @ V.mean(0) @ root.T),
            zeta=sqrt(largest((apart @ apart).mean(0))),
        )  # fmt: skip

    @property
    def hard(self) -> bool:
        """Whether agents differ much and the condition is bad."""
        c = self.constants
        return c.L / c.sigma >= HARD[0] and (c.zeta or 0.0) / c.L >= HARD[1]

    def setting(self, round_cost: float) -> Setting:
        """What parameters may depend on."""
        spectrum = self.network.lambda_2, self.network.lambda_min
        return Setting(
            agents=self.m, n=self.n, least_rows=int(self.sizes.min()),
            constants=self.constants, sigma_psi=0.0, lambda_2=spectrum[0],
            lambda_min=spectrum[1], psd=self.network.psd,
            own_weight=self.network.largest_own_weight, steps=1000,
            mix_rounds="auto",
            rounds_for=lambda rho: rounds_for(chebyshev, rho, *spectrum),
            contraction=lambda M: contraction(chebyshev, M, *spectrum),
            round_cost=lambda: round_cost,
        )  # fmt: skip

    def excess(self, x: Array) -> float:
        """F − F* at the average."""
        d = x.mean(0) - self.x_star
        return 0.5 * float(d @ self.H @ d)


def largest(A: Array) -> float:
    """λ_max, at least 0."""
    return max(0.0, float(np.linalg.eigvalsh(A)[-1]))


def draw_rows(number: int, hard: bool) -> Quadratics:
    """Draw a problem: agents that see other directions each where it is to be hard."""
    rng = np.random.default_rng([number, hard])
    m = int(rng.integers(8 if hard else 2, 21))
    d, graph = int(rng.integers(3, 25)), GRAPHS[int(rng.integers(len(GRAPHS)))]
    rows = exp(rng.uniform(log(20), log(8000)))
    spread = rng.uniform(0.5, 1.5, m) if rng.random() < 0.5 else np.ones(m)
    sizes = np.maximum(5, rows * spread).astype(int)
    kappa = 10 ** rng.uniform(log10(HARD[0]) + 0.01 if hard else 0.3, 4)
    s = -1 if hard or rng.random() < 0.6 else 1
    scales = np.full((m, d), 0.05)
    if hard:
        scales[np.arange(m), np.arange(m) % d] = 1.0
    else:
        scales[:] = np.geomspace(1, rng.uniform(0.05, 1), d)
    differ = 0.0 if hard else rng.uniform(0, 2)
    parts = [
        rng.normal(size=(n, d)) * own * (1 + differ * rng.uniform())
        + 0.5 * differ * rng.normal(size=d) * own
        for n, own in zip(sizes, scales, strict=True)
    ]
    second = sum(part.T @ part for part in parts) / sizes.sum()
    values, U = np.linalg.eigh(second)
    if hard:  # all directions about equal in the mean, so that L is small
        flat = U / np.sqrt(values) @ U.T * np.sqrt(rng.uniform(0.8, 1, d))
        parts = [part @ flat for part in parts]
        second = sum(part.T @ part for part in parts) / sizes.sum()
        values = np.linalg.eigvalsh(second)
    if s < 0:
        c = values[-1] + (values[-1] - values[0]) / (kappa - 1)
    else:
        c = max((values[-1] - kappa * values[0]) / (kappa - 1), 1e-6 * values[-1])
    q = rng.normal(size=d) + (s > 0) * rng.normal(size=(m, d))
    return Quadratics(parts, s, float(c), np.broadcast_to(q, (m, d)), graph)


class Done(NamedTuple):
    """In the place of a round under way, one that is over."""

    result: Array

    def wait(self) -> Array:
        """Return the result."""
        return self.result


class Rows:
    """What an algorithm sees, for all agents at once; see `pmgt_mpi.agent.Agent`."""

    def __init__(self, problem: Quadratics) -> None:
        self.problem, self.n = problem, problem.n
        self.rounds = self.asked = 0
        self.rng = np.random.default_rng(1)
        self._mixings: dict[int, Array] = {}

    def grad(self, x: Array) -> Array:
        """∇f_i(x_i)."""
        product: Array = np.matmul(self.problem.H_i, x[:, :, None])[:, :, 0]
        return product + self.problem.q

    def minibatch(self, b: int) -> list[Array]:
        """b rows of every agent."""
        return [self.rng.integers(0, n, b) for n in self.problem.sizes]

    def grad_difference(self, w: Array, w0: Array, rows: list[Array]) -> Array:
        """Mean over the rows of ∇f_ij(w) − ∇f_ij(w0)."""
        p, u = self.problem, w - w0
        picked = [part[own] for part, own in zip(p.parts, rows, strict=True)]
        products = [(a @ v) @ a / len(a) for a, v in zip(picked, u, strict=True)]
        return p.weights[:, None] * (p.s * np.array(products) + p.c * u)

    def prox(self, z: Array, eta: float) -> Array:  # noqa: ARG002
        """There is no regularizer."""
        return z

    def mix(self, x: Array, M: int) -> Array:
        """M rounds of Chebyshev mixing, as one matrix."""
        self.rounds += M
        if M not in self._mixings:
            network, before = self.problem.network, np.eye(self.problem.m)
            now = before
            spectrum = network.lambda_2, network.lambda_min
            for c, d, e in coefficients(chebyshev, M, *spectrum):
                before, now = now, c * self.problem.W @ now + d * now + e * before
            self._mixings[M] = now
        return self._mixings[M] @ x

    def gossip(self, x: Array) -> Array:
        """W x."""
        self.rounds += 1
        return self.problem.W @ x

    def gossip_together(self, *arrays: Array) -> tuple[Array, ...]:
        """W x for each, in one round."""
        self.rounds += 1
        return tuple(self.problem.W @ x for x in arrays)

    def start_gossip(self, x: Array) -> Done:
        """W x, for who waits for it."""
        return Done(self.gossip(x))

    def geometric(self, p: float) -> int:
        """T ~ Geom(p)."""
        return int(self.rng.geometric(p)) - 1

    def coin(self, p: float) -> bool:
        """True with probability p."""
        return bool(self.rng.random() < p)

    def own_coin(self, p: float) -> bool:
        """True: no method here lets an agent stay away."""
        assert p == 1
        return True

    def largest(self, value: float, rounds: int) -> float:
        """Count the rounds; `RowGuard` has the largest already."""
        self.rounds += rounds
        self.asked += rounds
        return value


class RowGuard(Guarded):
    """The guard, on the states of all agents at once."""

    def value(self, method: Any, agent: Any, before: Any, after: Any) -> float:
        """Return the largest of what the agents watch."""
        agents = range(agent.problem.m)
        ask = super().value
        return max(ask(method, agent, one(before, i), one(after, i)) for i in agents)


def one(state: Any, agent: int) -> Any:
    """Return the state of one agent."""
    values = {f.name: getattr(state, f.name) for f in fields(state)}
    own = {k: v[agent] if isinstance(v, np.ndarray) else v for k, v in values.items()}
    return type(state)(**own)


class Run(NamedTuple):
    """How a run ended."""

    status: str
    steps: int
    rounds: int
    asked: int
    changes: int


def run_rows(
    problem: Quadratics, method: Any, guard: bool, steps: int, target: float
) -> Run:
    """Run a method with numbers, evaluated every ten steps, with a guard or without."""
    agents, x = Rows(problem), np.zeros((problem.m, problem.d))
    algorithm = method
    if guard:
        may = type(method).traits.guarded
        algorithm = RowGuard(method, may, problem.network.diameter, problem.n)
    start, status, k, changes = problem.excess(x), "budget", 0, 0
    with np.errstate(all="ignore"):
        state = algorithm.init(agents, x)
        while status == "budget" and k < steps:
            state, k = algorithm.step(agents, state), k + 1
            changes = state.changes if guard else 0
            if k % 10 and k < steps:
                continue
            relative = problem.excess(algorithm.solution(state)) / start
            if relative <= target:
                status = "converged"
            recovers = guard and k < steps and algorithm.recovers(state)
            if not (relative <= FAR or recovers):
                status = "diverged"
    return Run(status, k, agents.rounds, agents.asked, changes)


def tuned(problem: Quadratics, name: str, steps: int, target: float) -> float:
    """Fewest steps of a method with one round a step, over steps of ratio 1.35."""
    alpha, best, worse = 2 / problem.constants.L_local, inf, 0
    while worse < 3 and alpha > 1e-5 / problem.constants.L_local:
        method = ALGORITHMS.load(name)(step_size=alpha)
        most = int(min(steps, best))
        run = run_rows(problem, method, False, most, target)
        if run.status == "converged" and run.steps < best:
            best, worse = run.steps, 0
        elif best < inf:
            worse += 1
        alpha /= 1.35
    return best
