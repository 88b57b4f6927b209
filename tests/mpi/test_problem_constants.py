"""Problems on unequal shards: constants, minimiser, F − F* are those of the whole."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI
from scipy.sparse import csr_array

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.optimum import cache as reference_cache
from pmgt_mpi.optimum import reference
from pmgt_mpi.optimum.reference import suboptimality
from pmgt_mpi.problems import PROBLEMS, spectrum
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.regularizers.shrinkage import L1

FACTORS = {"shift-invert-pca": -1.0, "ridge": 1.0, "logistic": 0.25}
OPTIONS: dict[str, dict[str, Any]] = {
    "shift-invert-pca": {"ratio": 3.0},
    "ridge": {"l2": 0.1},
    "logistic": {"l2": 0.1},
    "indefinite-quadratic": {"condition": 20.0, "l1": 4.0, "l2": 9.0},
}
N, D = 83, 5


def whole() -> tuple[np.ndarray, np.ndarray]:
    """All rows, the longest of them in the smallest shard; labels sorted by class."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((N, D)) * np.linspace(1.0, 2.0, D)
    A[0] *= 30
    return A, np.where(np.arange(N) < N // 2, 1.0, 2.0)


def part(agents: int, agent: int) -> slice:
    """Shards whose sizes are as 1 : 2 : … : m, of N rows, a prime."""
    edges = np.arange(agents + 1) * np.arange(1, agents + 2)
    edges = edges * N // edges[-1]
    return slice(int(edges[agent]), int(edges[agent + 1]))


def problem_of(kind, collective, *, sparse=False):
    A, labels = whole()
    mine = part(collective.agents, collective.agent)
    rows = csr_array(A[mine]) if sparse else A[mine].copy()
    shard = Shard(rows, labels[mine], N, collective.agents)
    return PROBLEMS.load(kind)(shard, collective, **OPTIONS[kind]), shard


def alone(kind):
    return problem_of(kind, Collective(MPI.COMM_SELF))[0]


every_kind = pytest.mark.parametrize("kind", list(OPTIONS))
linear_models = pytest.mark.parametrize("kind", list(FACTORS))


@linear_models
@pytest.mark.parametrize("sparse", [False, True])
def test_constants_against_eigenvalues_of_every_row(kind, sparse, collective, together):
    problem, shard = problem_of(kind, collective, sparse=sparse)
    found = problem.constants(collective)
    A, eye, m = whole()[0], np.eye(D), collective.agents
    rows, local = [], []
    for agent in range(m):
        block = A[part(m, agent)]
        weight = m * len(block) / N
        for a in block:
            H = problem.c * eye + FACTORS[kind] * np.outer(a, a)
            rows.append(np.linalg.eigvalsh(weight * H))
        H = problem.c * eye + FACTORS[kind] * block.T @ block / len(block)
        local.append(np.linalg.eigvalsh(weight * H))
    mean = np.linalg.eigvalsh(problem.c * eye + FACTORS[kind] * A.T @ A / N)
    with together:
        assert found.l1 == pytest.approx(np.max(rows), rel=1e-12)
        assert found.l2 == pytest.approx(max(np.max(rows), -np.min(rows)), rel=1e-12)
        largest = [np.abs(mean).max(), np.abs(local).max()]
        assert [found.L, found.L_local] == pytest.approx(largest, rel=1e-12)
        if kind != "logistic":  # where the curvature is between c and this
            assert found.mu_local == pytest.approx(np.min(local), rel=1e-9)
        smallest = np.min(local)
        assert found.mu_local <= smallest + 1e-9 * abs(smallest)
        assert found.convex == (kind != "shift-invert-pca")
        sigma = 0.1 if kind == "logistic" else mean[0]
        assert found.sigma == pytest.approx(sigma, rel=1e-9)
        assert shard.weight == m * shard.rows / N
    everywhere = collective.gather((problem.c, found))
    with together:
        assert everywhere == [everywhere[0]] * m


@linear_models
def test_lanczos_over_all_agents(kind, collective, together, monkeypatch):
    exact = problem_of(kind, collective)[0].constants(collective)
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", D - 1)
    problem = problem_of(kind, collective)[0]
    found = problem.constants(collective)
    everywhere = collective.gather((problem.c, found))
    with together:
        assert everywhere == [everywhere[0]] * collective.agents
        assert found.l1 == pytest.approx(exact.l1, rel=1e-12)
        assert exact.L * (1 - 1e-12) <= found.L <= exact.L * 1.01
        assert found.L_local >= exact.L_local * (1 - 1e-12)


@every_kind
def test_weighted_mean_is_that_of_all_rows(kind, collective, together):
    problem, shard = problem_of(kind, collective)
    x = np.linspace(-1, 1, D)
    share = shard.weight / collective.agents
    grad = collective.sum(share * problem.grad(x))
    value = collective.sum(np.array([share * problem.value(x)]))[0]
    with together:
        np.testing.assert_allclose(grad, alone(kind).grad(x), rtol=1e-11)
        assert value == pytest.approx(alone(kind).value(x), rel=1e-12)


@every_kind
@pytest.mark.parametrize("psi", [NoRegularizer(), L1(strength=0.05)], ids=repr)
@pytest.mark.parametrize("limit", [2048, D - 1], ids=["newton", "fista"])
def test_minimiser_does_not_depend_on_the_number_of_agents(
    kind, psi, limit, collective, together, monkeypatch
):
    monkeypatch.setattr(reference, "DENSE_LIMIT", limit)
    problem, shard = problem_of(kind, collective)
    constants = problem.constants(collective)
    found = reference.minimise(problem, psi, collective, shard.weight, constants)
    single, one = alone(kind), Collective(MPI.COMM_SELF)
    exact = reference.minimise(single, psi, one, 1.0, single.constants(one))
    x = exact.x + 0.1
    excess = suboptimality(problem, psi, collective, shard.weight, found, x)
    expected = suboptimality(single, psi, one, 1.0, exact, x)
    with together:
        assert found.residual <= (2e-15 if limit == 2048 else 1e-13)
        np.testing.assert_allclose(found.x, exact.x, rtol=1e-8, atol=1e-10)
        assert found.objective == pytest.approx(exact.objective, rel=1e-12)
        assert excess == pytest.approx(expected, rel=1e-7)
    bits = collective.gather((found.x.tobytes(), found.grad.tobytes(), found.residual))
    with together:
        assert bits == [bits[0]] * collective.agents


def test_both_classes_need_not_be_on_every_agent(collective, together):
    problem = problem_of("logistic", collective)[0]
    _, labels = whole()
    mine = labels[part(collective.agents, collective.agent)]
    with together:
        assert problem.y.tolist() == np.where(mine == 2.0, 1.0, -1.0).tolist()


def test_wrong_labels_are_told_on_every_agent(collective):
    labels = np.full(3, float(collective.agent % 3))
    shard = Shard(np.ones((3, 1)), labels, 3 * collective.agents, collective.agents)
    if collective.agents == 2:
        assert PROBLEMS.load("logistic")(shard, collective).y[0] == 2 * labels[0] - 1
        return
    names = "0" if collective.agents == 1 else "0, 1, 2"
    expected = f"needs two label values, and the data have {names}; set"
    with pytest.raises(UserError, match=expected):
        PROBLEMS.load("logistic")(shard, collective)


def test_a_missing_eigengap_is_told_on_every_agent(collective):
    shard = Shard(np.eye(3), None, 3 * collective.agents, collective.agents)
    with pytest.raises(UserError, match="needs an eigengap"):
        PROBLEMS.load("shift-invert-pca")(shard, collective)


def test_agent_0_leads_and_all_get_its_result(collective, together):
    asked = []

    def tell(x):
        asked.append(x)
        return collective.sum(np.array([x * (collective.agent + 1)]))[0]

    result = led_by_first(collective, tell, lambda ask: [ask(1.0), ask(ask(2.0))])
    m = collective.agents
    total = m * (m + 1) / 2
    with together:
        assert result == [total, 2 * total**2]
        assert asked == [1.0, 2.0, 2 * total]


@pytest.fixture
def folder():
    with TemporaryDirectory() as name:
        yield Path(name) / "cache"


def test_every_agent_s_rows_are_in_the_key(collective, together):
    problem, shard = problem_of("ridge", collective)

    def key():
        options, psi = OPTIONS["ridge"], NoRegularizer()
        return reference_cache.reference_key(problem, psi, collective, shard, options)

    keys = [key()]
    for agent in range(collective.agents):
        if collective.agent == agent:
            shard.A[0, 0] += 1.0
        keys.append(key())
    with together:
        assert len(set(keys)) == collective.agents + 1


def test_only_agent_0_touches_the_cache(collective, together, folder, monkeypatch):
    monkeypatch.setenv("PMGT_CACHE", str(folder))
    problem, shard = problem_of("ridge", collective)
    constants, psi = problem.constants(collective), L1(strength=0.05)
    inputs = (problem, psi, collective, shard, constants, OPTIONS["ridge"])
    first = reference_cache.cached_minimise(*inputs)
    monkeypatch.setattr(reference_cache, "minimise", None)
    second = reference_cache.cached_minimise(*inputs)
    with together:
        np.testing.assert_array_equal(first.x, second.x)
        assert first.residual == second.residual
        assert folder.exists() == (collective.agent == 0)
