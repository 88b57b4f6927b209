"""What ``auto`` makes of PMGT-KatyushaX and PMGT-SVRG where ν is known."""

from __future__ import annotations

from functools import partial
from math import ceil, log1p, sqrt

import pytest

from pmgt_mpi.algorithms.pmgt_katyushax import PMGTKatyushaX
from pmgt_mpi.algorithms.pmgt_svrg import PMGTSVRG
from pmgt_mpi.gossip.polynomials import chebyshev, rounds_for
from tests.unit.algorithms.settings import CONSTANTS, asked, costing, setting

NOISY = CONSTANTS._replace(nu=3.0, nu_local=4.0, zeta=1.0)
EPOCHS = pytest.mark.parametrize("method", [PMGTKatyushaX, PMGTSVRG])


def real(**changes):
    """A setting whose rounds are those of a ring of 20."""
    rounds = partial(rounds_for, chebyshev, lambda_2=0.97, lambda_min=0.1)
    return setting(**{"constants": NOISY, "rounds_for": rounds, **changes})


@EPOCHS
def test_the_step_is_what_the_noise_allows(method):
    quiet = NOISY._replace(nu=0.1)
    used = method(batch_size=50).resolve(setting(constants=quiet))
    assert used.step_size == 1.3 / 2
    loud = NOISY._replace(nu=300.0)
    used = method(batch_size=50).resolve(setting(constants=loud))
    assert used.step_size == pytest.approx(sqrt(20 * 50 / (2 * 60)) / 300, rel=1e-12)


@EPOCHS
def test_convex_components_allow_more(method):
    loud = NOISY._replace(nu=300.0, gamma=7.0, convex=True)
    used = method(batch_size=50).resolve(setting(constants=loud))
    assert used.step_size == pytest.approx(1 / (2 / 1.3 + 7 / (20 * 50)), rel=1e-12)


@EPOCHS
def test_without_noise_the_step_is_that_of_full_gradients(method):
    s = setting(constants=NOISY._replace(nu=300.0), least_rows=3000)
    assert method(batch_size=3000).resolve(s).step_size == 1.3 / 2
    s = setting(constants=NOISY._replace(nu=0.0))
    assert method(batch_size=50).resolve(s).step_size == 1.3 / 2


def test_the_momentum_is_1_6_times_the_theorems():
    s = setting(constants=NOISY)
    auto, theory = (
        PMGTKatyushaX(batch_size=50, step_size=1e-3, momentum=word).resolve(s).momentum
        for word in ("auto", "theory")
    )
    assert auto == pytest.approx(1.6 * theory, rel=1e-12)


@EPOCHS
@pytest.mark.parametrize("b", [50, 3000])
def test_the_rounds_contract_by_jurys_criterion(method, b):
    s = setting(constants=NOISY, least_rows=3000)
    eta = method(batch_size=b, step_size=0.3).resolve(s).step_size
    noise = eta * 4.0 / sqrt(b) if b < 3000 else 0.0
    assert asked(s)[-1] == pytest.approx(1 / (1 + sqrt(3 * eta * 2.5 + noise)))


def test_agents_that_differ_much_on_a_hard_problem_get_a_quarter_more_rounds():
    hard = NOISY._replace(sigma=1e-4, zeta=12.0)
    rhos = []
    for constants in (hard, hard._replace(zeta=11.9), hard._replace(sigma=0.1)):
        s = setting(constants=constants, sigma_psi=0.0)
        PMGTSVRG(batch_size=50, step_size=0.3).resolve(s)
        rhos.append(asked(s)[-1])
    assert rhos[1] == rhos[2]
    assert rhos[0] == pytest.approx(rhos[1] ** 1.25)


def predicted(used, s) -> float:
    """The cost formulas, written again."""
    n, b, eta, M = s.n, used.batch_size, used.step_size, used.mix_rounds
    t0 = ceil(n / b)
    rate = t0 * eta * (s.constants.sigma + s.sigma_psi)
    if isinstance(used, PMGTKatyushaX):
        epochs, mixes = 0.35 + 0.7 / sqrt(rate), 2 * t0 + 3
    else:
        epochs, mixes = 1 / log1p(2 * rate), 2 * t0 + 2
    return epochs * (n + 2 * b * t0 + s.round_cost() * M * mixes)


@EPOCHS
@pytest.mark.parametrize("c", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("nu", [0.1, 3.0, 100.0])
def test_the_batch_is_the_best_of_all_within_a_tenth(method, c, nu):
    s = real(
        constants=NOISY._replace(nu=nu), n=600, least_rows=600, round_cost=costing(c)
    )
    chosen = method().resolve(s)
    costs = [predicted(method(batch_size=b).resolve(s), s) for b in range(1, 601)]
    assert predicted(chosen, s) == pytest.approx(chosen.predicted_cost(s))
    assert predicted(chosen, s) <= 1.1 * min(costs)


@EPOCHS
def test_dear_rounds_make_few_mixes(method):
    mixes = []
    for c in (0.0, 1.0, 100.0, 1e4, 1e6):
        used = method().resolve(real(round_cost=costing(c)))
        mixes.append(ceil(3000 / used.batch_size) * used.mix_rounds)
    assert mixes == sorted(mixes, reverse=True)
    assert mixes[-1] < mixes[0]


@EPOCHS
def test_the_smallest_shard_bounds_the_batch(method):
    used = method().resolve(real(least_rows=7, round_cost=costing(1e6)))
    assert used.batch_size <= 7


@EPOCHS
@pytest.mark.parametrize(
    "changes",
    [
        {"constants": CONSTANTS},  # ν is not known
        {"constants": NOISY._replace(sigma=0.0), "sigma_psi": 0.0},
    ],
)
def test_where_nothing_says_which_batch_is_best_it_is_sqrt_n(method, changes):
    numbers = {"momentum": 0.1} if method is PMGTKatyushaX else {}
    used = method(**numbers).resolve(setting(**changes))
    assert used.batch_size == 55


@EPOCHS
def test_the_theory_keeps_its_batch(method):
    s = setting(constants=NOISY)
    assert method(step_size="theory").resolve(s).batch_size == 55


@EPOCHS
def test_what_is_given_is_kept(method):
    used = method(batch_size=17, step_size=0.01, mix_rounds=5).resolve(real())
    assert (used.batch_size, used.step_size, used.mix_rounds) == (17, 0.01, 5)
    assert method(step_size=0.01).resolve(real()).step_size == 0.01
