"""``theory``: the paper's formulas, written a second time from the paper's appendix."""

from __future__ import annotations

from math import ceil, sqrt

import pytest

from pmgt_mpi.algorithms.adfs import ADFS
from pmgt_mpi.algorithms.dgt import DGT
from pmgt_mpi.algorithms.dvr import DVR
from pmgt_mpi.algorithms.mudag import Mudag
from pmgt_mpi.algorithms.nids import NIDS
from pmgt_mpi.algorithms.opapc import OPAPC
from pmgt_mpi.algorithms.pg_extra import PGExtra
from pmgt_mpi.algorithms.pmgt_katyushax import PMGTKatyushaX
from pmgt_mpi.algorithms.pmgt_svrg import PMGTSVRG
from pmgt_mpi.algorithms.saga import SAGA
from tests.unit.algorithms.settings import CONSTANTS, ROUNDS, asked, setting

THEORY = {"step_size": "theory", "mix_rounds": "theory"}

SETTINGS = {
    "stochastic step": {},
    "smooth step": {"constants": CONSTANTS._replace(L=40.0)},
    "momentum one half": {"constants": CONSTANTS._replace(sigma=1.9)},
    "strong psi": {"sigma_psi": 1e6},
    "one agent": {"agents": 1, "lambda_2": 0.0, "lambda_min": 0.0},
    "many epochs": {"steps": 100_000},
    "convex components": {"constants": CONSTANTS._replace(convex=True)},
}


def paper_step(s, b):
    c = s.constants
    return min(1 / (2 * c.L), sqrt(b / (c.l1 * c.l2 * ceil(s.n / b))) / 8)


def paper_J(s, b, eta):
    """J of the Lemma on the inner loop; sigma_f is that of f alone."""
    c, m = s.constants, s.agents
    terms = [
        12 * eta * c.l1 * c.l2 / (m * b),
        4 * eta * c.l1 * c.l2 / m,
        c.l1 * c.l2 / (c.sigma * m),
        (1 + eta) / (2 * m * eta),
        (1 - eta * c.L + 2 * eta) / (2 * (1 - eta * c.L) * m * eta**2),
    ]
    return sum(terms)


def katyushax_bounds(s, b, eta, tau):
    sigma, L, k = s.constants.sigma + s.sigma_psi, s.constants.L, s.steps
    inside = k / sigma + 8 * k * L / sigma**2 + 16 * k * L / (sigma**2 * tau**4)
    inside += eta * ceil(s.n / b)
    return (
        sqrt(1 / (64 * (1 + b + 1 / tau**4))),
        sqrt(1 / (64 * s.agents * paper_J(s, b, eta) * b * inside)),
    )


@pytest.mark.parametrize("case", SETTINGS)
@pytest.mark.parametrize("batch", [50, "sqrt"])
def test_katyushax(case, batch):
    s = setting(**SETTINGS[case])
    used = PMGTKatyushaX(batch_size=batch, momentum="theory", **THEORY).resolve(s)
    b = 55 if batch == "sqrt" else batch
    t0 = {50: 60, 55: 55}[b]
    sigma = s.constants.sigma + s.sigma_psi
    eta = paper_step(s, b)
    tau = min(0.5, sqrt(t0 * eta * sigma) / 2)
    assert used.batch_size == b
    assert used.step_size == pytest.approx(eta, rel=1e-12)
    assert used.momentum == pytest.approx(tau, rel=1e-12)
    rho = min(katyushax_bounds(s, b, eta, tau))
    assert asked(s) == [pytest.approx(rho, rel=1e-12)]
    assert used.mix_rounds == ROUNDS


def test_the_settings_reach_both_sides_of_the_minima():
    def sides(case):
        s = setting(**SETTINGS[case])
        eta = paper_step(s, 55)
        tau = sqrt(55 * eta * (s.constants.sigma + s.sigma_psi)) / 2
        return eta == 1 / (2 * s.constants.L), tau > 0.5

    seen = [sides(case) for case in SETTINGS]
    for side in zip(*seen, strict=True):
        assert set(side) == {True, False}


def test_katyushax_where_the_inner_loop_sets_the_contraction():
    tiny = CONSTANTS._replace(L=0.1, l1=0.1, l2=0.1)
    s = setting(constants=tiny, n=3, least_rows=3, sigma_psi=1e6)
    PMGTKatyushaX(batch_size=3, momentum="theory", **THEORY).resolve(s)
    inner, outer = katyushax_bounds(s, 3, paper_step(s, 3), 0.5)
    assert inner < outer
    assert asked(s) == [pytest.approx(sqrt(1 / (64 * (1 + 3 + 16))), rel=1e-12)]


@pytest.mark.parametrize("case", SETTINGS)
@pytest.mark.parametrize("batch", [50, "sqrt"])
def test_svrg(case, batch):
    s = setting(**SETTINGS[case])
    used = PMGTSVRG(batch_size=batch, **THEORY).resolve(s)
    b = 55 if batch == "sqrt" else batch
    t0 = {50: 60, 55: 55}[b]
    eta, sigma = paper_step(s, b), s.constants.sigma + s.sigma_psi
    mJb = s.agents * paper_J(s, b, eta) * b
    inside = 9 * mJb / (sigma * t0) + 128 * s.steps * mJb * (eta * t0 + 1 / sigma)
    assert used.step_size == pytest.approx(eta, rel=1e-12)
    rho = min(sqrt(1 / (64 * b)), sqrt(1 / inside))
    assert asked(s) == [pytest.approx(rho, rel=1e-12)]
    assert used.mix_rounds == ROUNDS


def test_one_parameter_from_theory_follows_the_numbers_given_for_the_others():
    s = setting()
    used = PMGTKatyushaX(
        batch_size=50, step_size=0.1, momentum=0.3, mix_rounds="theory"
    ).resolve(s)
    rho = min(katyushax_bounds(s, 50, 0.1, 0.3))
    assert asked(s) == [pytest.approx(rho, rel=1e-12)]
    assert (used.step_size, used.momentum) == (0.1, 0.3)
    used = PMGTKatyushaX(batch_size=50, step_size=0.1, momentum="theory").resolve(s)
    assert used.momentum == pytest.approx(sqrt(60 * 0.1 * 0.06) / 2, rel=1e-12)


@pytest.mark.parametrize("lambda_min", [-0.7, 0.0, 0.1, 0.6])
def test_pg_extra_takes_half_of_its_bound(lambda_min):
    used = PGExtra(step_size="theory").resolve(setting(lambda_min=lambda_min))
    W_tilde = (1 + lambda_min) / 2
    assert used.step_size == pytest.approx(W_tilde / CONSTANTS.L_local, rel=1e-12)


@pytest.mark.parametrize("lambda_min", [-0.7, 0.6])
def test_nids_does_not_depend_on_the_network(lambda_min):
    used = NIDS(step_size="theory").resolve(setting(lambda_min=lambda_min, agents=3))
    assert used.step_size == pytest.approx(1 / 2.5, rel=1e-12)


@pytest.mark.parametrize(("lambda_2", "lambda_min"), [(0.97, 0.1), (0.5, -0.9)])
def test_dgt_takes_the_step_of_qu_and_li(lambda_2, lambda_min):
    s = setting(lambda_2=lambda_2, lambda_min=lambda_min)
    beta, alpha = s.constants.L_local, s.constants.sigma + s.sigma_psi
    gap = 1 - max(lambda_2, -lambda_min)
    used = DGT(step_size="theory").resolve(s)
    assert used.step_size == pytest.approx(alpha / beta**2 * gap**2 / 36, rel=1e-12)


def test_saga_and_mudag_have_the_steps_of_one_machine():
    assert SAGA(step_size="theory").resolve(setting()).step_size == 1 / (3 * 3.0)
    used = Mudag(step_size="theory").resolve(setting())
    assert used.step_size == 1 / 2.0
    assert used.momentum == pytest.approx(sqrt(0.06 / 2), rel=1e-12)


def test_opapc_takes_the_papers_parameters():
    kappa, rho = 2.5 / 0.3, 0.4
    s = setting(constants=CONSTANTS._replace(mu_local=0.3), contraction=lambda _M: rho)
    used = OPAPC().resolve(s)
    tau = 0.5 * sqrt((1 - rho) / (1 + rho) / kappa)
    assert used.momentum == pytest.approx(tau, rel=1e-12)
    assert used.step_size == pytest.approx(1 / (4 * tau * 2.5), rel=1e-12)
    assert used.dual_step == pytest.approx(1 / 1.4, rel=1e-12)
    assert used.convexity == 0.3


ROWS = CONSTANTS._replace(mu_rows=0.1, L_rows=3.0, kappa_rows=40.0, root_rows=25.0)


def test_dvr_balances_rows_and_mixes():
    s = setting(constants=ROWS, contraction=lambda _M: 0.2)
    theory, auto = (DVR(step_size=word).resolve(s) for word in ("theory", "auto"))
    alpha = 2 * 0.8 / 3.0
    comm, comp = 1.2 / 0.1, alpha * 40
    assert theory.step_size == pytest.approx(1 / (comm + comp), rel=1e-12)
    assert theory.row_step == pytest.approx(alpha / (comm + comp), rel=1e-12)
    assert theory.probability == pytest.approx(comm / (comm + comp), rel=1e-12)
    assert auto.step_size == pytest.approx(1.9 * theory.step_size, rel=1e-12)


def test_adfs_balances_rows_and_mixes():
    s = setting(constants=ROWS, contraction=lambda _M: 0.2)
    used = ADFS().resolve(s)
    sigma = 0.8 / 3.0 / 2
    r1, r2 = 1 / (sqrt(2) * 25), sqrt(sigma * 0.1 / 1.2)
    assert used.convexity == pytest.approx(sigma, rel=1e-12)
    assert used.probability == pytest.approx(r1 / (r1 + r2), rel=1e-12)
    assert used.step_size == pytest.approx(r2 / (r1 + r2) * r1, rel=1e-12)
