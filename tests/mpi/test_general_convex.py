"""``epsilon`` in `solve`: a convex F is minimised to ε, and F itself is told."""

from __future__ import annotations

import numpy as np
import pytest

import pmgt_mpi
from pmgt_mpi.data.partition import block_bounds, block_sizes
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.mpi.collective import AgreedError
from pmgt_mpi.problems.plus_square import PlusSquare
from pmgt_mpi.problems.ridge import Ridge

N, D, RANK = 151, 8, 4
PSI = {"none": 0.0, "l1": 0.1}


def data():
    """Rows of rank 4 in 8 columns."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((N, RANK)) @ rng.standard_normal((RANK, D)) / 2
    return A, A @ (3 * rng.standard_normal(D)) + rng.standard_normal(N)


def own_rows(comm):
    """Shards as 1 : 2 : … : m."""
    bounds = block_bounds(block_sizes(N, comm.size, range(1, comm.size + 1)))
    mine = slice(*bounds[comm.rank : comm.rank + 2])
    A, y = data()
    return A[mine], y[mine]


def objective(x, strength):
    A, y = data()
    return 0.5 * np.mean((A @ x - y) ** 2) + strength * np.abs(x).sum()


def options(psi):
    return "none" if psi == "none" else {"kind": psi, "strength": PSI[psi]}


def solve(comm, psi="none", problem="ridge", **more):
    A, y = own_rows(comm)
    given = {"algorithm": "nids", "steps": 2000, "evaluate_every": 0, **more}
    return pmgt_mpi.solve(problem, A, y, regularizer=options(psi), comm=comm, **given)


@pytest.mark.parametrize("psi", PSI)
@pytest.mark.parametrize("radius", [None, 20.0])
def test_F_itself_is_minimised_to_epsilon_and_told(comm, together, psi, radius):
    epsilon = 0.05
    result = solve(comm, psi, epsilon=epsilon, radius=radius)
    A, y = data()
    found, last = objective(result.x, PSI[psi]), result.trace[-1]
    with together:
        assert np.linalg.norm(result.reference) < 20
        best = objective(result.reference, PSI[psi])
        if psi == "none":
            direct = np.linalg.lstsq(A, y, rcond=None)[0]
            assert best == pytest.approx(objective(direct, 0.0), rel=1e-12)
        assert last["objective"] == pytest.approx(found, rel=1e-12)
        assert last["suboptimality"] == pytest.approx(found - best, abs=1e-12)
        # The term is there: without it x would go to a minimiser of F.
        assert 1e-9 < last["suboptimality"] <= epsilon


def test_the_methods_agree_on_the_minimiser(comm, together):
    epsilon = 0.5
    slow = solve(comm, "l1", epsilon=epsilon, steps=6000)
    fast = solve(comm, "l1", epsilon=epsilon, algorithm="pmgt-katyushax", steps=300)
    with together:
        np.testing.assert_allclose(fast.x, slow.x, atol=2e-3)
        assert fast.trace[-1]["suboptimality"] <= epsilon
        assert fast.parameters["momentum"] < 0.5


def test_a_wrapped_problem_gives_the_same(comm, collective, together):
    class Wrapped(PlusSquare):
        """Ridge, with its methods and no `plus_square` of its own."""

        def __init__(self, shard: Shard, collective) -> None:
            super().__init__(Ridge(shard, collective), 0.0)

    plain = solve(comm, epsilon=0.01, algorithm={"name": "nids", "step_size": 0.05})
    own = solve(
        comm, problem=Wrapped, epsilon=0.01,
        algorithm={"name": "nids", "step_size": 0.05},
    )  # fmt: skip
    A, _ = own_rows(comm)
    shard = Shard(A, np.zeros(len(A)), N, comm.size)
    ridge = Ridge(shard, collective)
    exact = ridge.plus_square(0.3).constants(collective)
    bound = PlusSquare(ridge, 0.3).constants(collective)
    with together:
        np.testing.assert_allclose(own.x, plain.x, rtol=1e-9)
        assert bound.sigma == pytest.approx(exact.sigma)
        for name in ("L", "l1", "l2", "L_local"):
            found, least = getattr(bound, name), getattr(exact, name)
            assert least * (1 - 1e-12) <= found <= least + 0.3 * comm.size
        assert bound.mu_local <= exact.mu_local + 1e-12


def test_refusals(comm, together):
    def complaint(**more):
        with pytest.raises(AgreedError) as told:
            solve(comm, **more)
        return str(told.value)

    strong = complaint(problem={"kind": "ridge", "l2": 0.5}, epsilon=0.1)
    blind = complaint(epsilon=0.1, reference=False)
    lonely = complaint(radius=0.1)
    near = complaint(epsilon=1.0, radius=1.0)
    with together:
        assert "radius = 1: no minimiser of F is so close to 0" in near
        assert "is for an F that is not strongly convex, and sigma is 0.5" in strong
        assert "give radius, a bound on ‖x*‖" in blind
        assert "add epsilon, or leave radius out" in lonely
