"""Constants of all agents' rows, against the Hessian of every row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.problems import PROBLEMS, spectrum
from pmgt_mpi.problems.plus_square import PlusSquare
from tests.mpi.test_problem_constants import FACTORS, OPTIONS, linear_models, problem_of
from tests.reference.constants import exact_constants, hessians_of_rows

SHAPES = {
    "short": (23, 4, 1.0),
    "wide": (40, 17, 1.0),
    "skewed": (61, 9, 3.0),
}
"""Rows of all agents, columns, and by how much the agents' rows differ."""

ROUNDING, PRODUCTS = 1e-8, 5e-2
"""Relative errors of constants from matrices, and from products alone."""


def parts_of(shape: str, agents: int) -> list[np.ndarray]:
    """Every agent's rows: unequal in number, in scale and in mean."""
    rows, columns, differ = SHAPES[shape]
    rng = np.random.default_rng(7)
    A = rng.standard_normal((rows, columns)) * np.geomspace(2.0, 0.3, columns)
    ends = np.cumsum(np.arange(1, agents + 1))
    parts = np.split(A, ends[:-1] * rows // ends[-1])
    return [(1 + differ * i / agents) * part + 0.1 * i for i, part in enumerate(parts)]


def model(kind, collective, shape, *, sparse=False, dtype=np.float64):
    """The agent's problem, and what it is made of."""
    parts = parts_of(shape, collective.agents)
    parts = [part.astype(dtype) for part in parts]
    own, total = parts[collective.agent], sum(map(len, parts))
    y = np.where(np.arange(len(own)) % 2, 1.0, 2.0)
    rows = csr_array(own) if sparse else own.copy()
    shard = Shard(rows, y, total, collective.agents)
    problem = PROBLEMS.load(kind)(shard, collective, **OPTIONS[kind])
    return problem, [part.astype(float) for part in parts]


def check(found, expected, tolerance, kind):
    """Hold what is found against what is exact; a lower bound may be below."""
    scale = expected.L_local
    for name in ("L", "L_local"):  # bounds from above, without an agent's λ_d
        value = getattr(expected, name)
        most = 1.15 if tolerance == PRODUCTS else 1 + tolerance
        assert value * (1 - 1e-6) <= getattr(found, name) <= most * value, name
    for name in ("l1", "l2", "nu", "nu_local", "zeta"):
        value = getattr(expected, name)
        close = pytest.approx(value, rel=tolerance, abs=1e-6 * scale)
        assert getattr(found, name) == close, name
    assert found.convex == (kind != "shift-invert-pca")
    assert (found.gamma is None) == (expected.gamma is None)
    if expected.gamma is not None:
        assert found.gamma == pytest.approx(expected.gamma, rel=2 * tolerance)
    assert found.sigma <= expected.sigma * (1 + 1e-9)
    assert found.mu_local <= expected.mu_local + 1e-9 * scale
    if kind != "logistic":  # of which φ'' may be anything from 0 on
        assert found.sigma == pytest.approx(expected.sigma, rel=tolerance)


@linear_models
@pytest.mark.parametrize(
    ("shape", "rows"),
    [
        ("short", "dense"),
        ("wide", "dense"),
        ("skewed", "sparse"),
        ("wide", "float32"),
        ("skewed", "plus-square"),
    ],
)
@pytest.mark.parametrize("limit", [500, 3], ids=["matrices", "products"])
def test_constants_are_those_of_the_hessians_of_all_rows(
    kind, shape, limit, rows, collective, together, monkeypatch
):
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", limit)
    dtype = np.float32 if rows == "float32" else np.float64
    problem, parts = model(
        kind, collective, shape, sparse=rows == "sparse", dtype=dtype
    )
    if rows == "plus-square":
        problem = problem.plus_square(0.4)
    found = problem.constants(collective)
    everywhere = collective.gather(found)
    H = hessians_of_rows(parts, problem.c, FACTORS[kind])
    tolerance = ROUNDING if limit == 500 else PRODUCTS
    if rows == "float32":
        tolerance = max(tolerance, 1e-5)
    with together:
        assert everywhere == [found] * collective.agents
        check(found, exact_constants(H), tolerance, kind)


def test_curvatures_of_an_indefinite_quadratic(collective, together):
    problem = problem_of("indefinite-quadratic", collective)[0]
    found = problem.constants(collective)
    rows = collective.gather(problem.weight * problem.h.A)
    expected = exact_constants([[np.diag(h) for h in own] for own in rows])
    with together:
        for name in ("L", "l1", "l2", "sigma", "L_local", "nu", "nu_local", "zeta"):
            value = getattr(expected, name)
            assert getattr(found, name) == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert found.gamma is None


def test_a_square_changes_no_difference(collective, together):
    problem = problem_of("ridge", collective)[0]
    before = problem.constants(collective)
    after = PlusSquare(problem, 0.5).constants(collective)
    with together:
        assert (after.nu, after.nu_local) == (before.nu, before.nu_local)
        assert after.gamma is None
