"""``auto``, ``sqrt``, ``section`` and numbers; and what is said where they fail."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict, fields, replace
from math import inf, sqrt

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.nids import NIDS
from pmgt_mpi.algorithms.pg_extra import PGExtra
from pmgt_mpi.algorithms.pmgt_katyushax import PMGTKatyushaX
from pmgt_mpi.algorithms.pmgt_svrg import PMGTSVRG
from pmgt_mpi.errors import UserError
from tests.support.methods import METHODS
from tests.unit.algorithms.settings import CONSTANTS, ROUNDS, asked, setting

EPOCHS = [PMGTKatyushaX, PMGTSVRG]
NAMES = {PMGTKatyushaX: "pmgt-katyushax", PMGTSVRG: "pmgt-svrg"}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_numbers_are_kept_and_no_constant_is_needed_for_them(name):
    bare = setting(constants=None, sigma_psi=0.0, psd=False)
    assert METHODS[name].resolve(bare) == METHODS[name]
    assert asked(bare) == []


@pytest.mark.parametrize("name", ALGORITHMS)
def test_nothing_but_numbers_is_left(name):
    used = asdict(ALGORITHMS.load(name)().resolve(setting()))
    assert all(type(value) in (int, float) for value in used.values())
    assert all(value > 0 for value in used.values())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_resolving_twice_changes_nothing(name):
    once = ALGORITHMS.load(name)().resolve(setting())
    assert once.resolve(setting()) == once


@pytest.mark.parametrize("method", EPOCHS)
@pytest.mark.parametrize(
    ("n", "least_rows", "b"),
    [(3000, 2990, 55), (10_000, 10_000, 100), (1, 1, 1), (2, 2, 1), (100, 3, 3)],
)
def test_sqrt_is_that_of_n_and_at_most_the_smallest_shard(method, n, least_rows, b):
    used = method().resolve(setting(n=n, least_rows=least_rows))
    assert used.batch_size == b


@pytest.mark.parametrize("method", EPOCHS)
def test_auto_step_is_the_theorys_without_an_eighth(method):
    used = method(batch_size=50).resolve(setting())
    assert used.step_size == pytest.approx(sqrt(50 / (15 * 60)), rel=1e-12)
    smooth = setting(constants=CONSTANTS._replace(L=40.0))
    assert method(batch_size=50).resolve(smooth).step_size == 1 / 80


@pytest.mark.parametrize("method", EPOCHS)
def test_auto_step_for_convex_components_is_that_of_expected_smoothness(method):
    convex = setting(constants=CONSTANTS._replace(convex=True))
    used = method(batch_size=50).resolve(convex)
    assert used.step_size == pytest.approx(1 / (2 * (2 + 2 * 3 / 50)), rel=1e-12)


@pytest.mark.parametrize("method", EPOCHS)
@pytest.mark.parametrize(("eta", "rho"), [(0.01, 0.2), (4.0, 0.1 / (4.0 * 2.5))])
def test_auto_rounds_contract_to_a_fifth_or_as_the_step_asks(method, eta, rho):
    s = setting()
    numbers = {"momentum": 0.3} if method is PMGTKatyushaX else {}
    used = method(step_size=eta, mix_rounds="auto", **numbers).resolve(s)
    assert asked(s) == [pytest.approx(rho, rel=1e-12)]
    assert used.mix_rounds == ROUNDS


@pytest.mark.parametrize("method", EPOCHS)
def test_rounds_are_the_methods_own_else_the_sections(method):
    assert method().resolve(setting(mix_rounds=4)).mix_rounds == 4
    assert method(mix_rounds=9).resolve(setting(mix_rounds=4)).mix_rounds == 9
    by_section = setting(mix_rounds="theory")
    method().resolve(by_section)
    by_method = setting(mix_rounds=4)
    method(mix_rounds="theory").resolve(by_method)
    assert asked(by_section) == asked(by_method) != []


@pytest.mark.parametrize(
    ("lambda_min", "factor"), [(-0.5, 0.83125), (0.0, 1.1875), (0.6, 1.615)]
)
def test_auto_step_of_pg_extra_is_near_its_bound(lambda_min, factor):
    used = PGExtra().resolve(setting(lambda_min=lambda_min))
    assert used.step_size == pytest.approx(factor / 2.5, rel=1e-12)


@pytest.mark.parametrize("method", [NIDS, PGExtra])
def test_auto_step_is_smaller_where_a_local_function_is_not_convex(method):
    sagging = CONSTANTS._replace(mu_local=-0.5)
    used = method().resolve(setting(constants=sagging, lambda_2=0.9))
    assert used.step_size == pytest.approx(0.1 / (2 * 0.5), rel=1e-12)
    for zeta, own_weight, expected in [
        (1.0, 0.8, sqrt(0.1 / 2) / 1.0),  # how much all agents differ
        (1.0, 0.9, 0.75 * 0.1 / 0.5),  # an agent that listens little
        (1e3, 0.8, 0.1 / (2 * 0.5)),  # not less than the careful one
    ]:
        s = setting(
            constants=sagging._replace(zeta=zeta), lambda_2=0.9, own_weight=own_weight
        )
        used = method().resolve(s)
        assert used.step_size == pytest.approx(expected, rel=1e-12)
    theory = method(step_size="theory").resolve(setting(constants=sagging))
    assert theory == method(step_size="theory").resolve(setting())
    alone = method().resolve(setting(constants=sagging, agents=1))
    assert alone == method().resolve(setting(agents=1))


def test_auto_step_of_nids():
    assert NIDS().resolve(setting()).step_size == pytest.approx(0.76, rel=1e-12)


def complaint(algorithm, **changes):
    with pytest.raises(UserError) as error:
        algorithm.resolve(setting(**changes))
    return str(error.value)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("word", ["auto", "theory"])
def test_missing_constants(name, word):
    algorithm = replace(METHODS[name], step_size=word)
    assert complaint(algorithm, constants=None) == (
        f"{name}: step_size = '{word}' needs the constants L, l1, l2 and sigma, which "
        "the problem does not give; set step_size to a number, or add constants() to "
        "the problem"
    )


@pytest.mark.parametrize("word", ["auto", "theory"])
def test_momentum_without_strong_convexity(word):
    flat = CONSTANTS._replace(sigma=0.0)
    algorithm = PMGTKatyushaX(momentum=word)
    assert complaint(algorithm, constants=flat, sigma_psi=0.0) == (
        f"pmgt-katyushax: momentum = '{word}' needs a strongly convex objective, and "
        "sigma is 0 here; add an l2 term to the problem or the regularizer, or set "
        "momentum to a number"
    )
    assert algorithm.resolve(setting(constants=flat, sigma_psi=0.1)).momentum > 0


@pytest.mark.parametrize("method", EPOCHS)
def test_theory_rounds_without_strong_convexity(method):
    algorithm = replace(METHODS[NAMES[method]], mix_rounds="theory")
    flat = CONSTANTS._replace(sigma=0.0)
    assert complaint(algorithm, constants=flat, sigma_psi=0.0) == (
        f"{NAMES[method]}: mix_rounds = 'theory' needs a strongly convex objective, "
        "and sigma is 0 here; add an l2 term to the problem or the regularizer, or set "
        "mix_rounds to a number"
    )
    assert complaint(algorithm, constants=flat, sigma_psi=0.1) == (
        f"{NAMES[method]}: mix_rounds = 'theory' needs a strongly convex f, and sigma_f"
        " is 0; give mix_rounds as a number or 'auto'"
    )


@pytest.mark.parametrize("method", EPOCHS)
def test_theory_rounds_with_a_step_beyond_the_theory(method):
    algorithm = replace(METHODS[NAMES[method]], mix_rounds="theory", step_size=0.5)
    assert complaint(algorithm) == (
        f"{NAMES[method]}: mix_rounds = 'theory' needs step_size < 1/L = 0.5, not 0.5; "
        "take a smaller step, or give mix_rounds as a number"
    )


@pytest.mark.parametrize("method", EPOCHS)
@pytest.mark.parametrize("from_section", [True, False])
def test_theory_rounds_on_a_matrix_that_is_not_psd(method, from_section):
    algorithm = method() if from_section else method(mix_rounds="theory")
    mix_rounds = "theory" if from_section else 3
    text = complaint(algorithm, psd=False, lambda_min=-0.25, mix_rounds=mix_rounds)
    assert text == (
        f"{NAMES[method]}: mix_rounds = 'theory' needs 0 ⪯ W, and lambda_min is -0.25; "
        "take weights 'laplacian' or 'metropolis', or give mix_rounds as a number"
    )


@pytest.mark.parametrize("method", EPOCHS)
def test_a_batch_larger_than_the_smallest_shard(method):
    assert method(batch_size=2990).resolve(setting()).batch_size == 2990
    assert complaint(method(batch_size=2991)) == (
        f"{NAMES[method]}: batch_size = 2991 is more than the 2990 rows of the smallest"
        " shard; take at most 2990, or fewer ranks"
    )


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("word", ["auto", "theory"])
def test_a_flat_f_has_no_step_of_its_own(name, word):
    algorithm = replace(METHODS[name], step_size=word)
    flat = CONSTANTS._replace(L=0.0, l1=0.0, l2=0.0, sigma=0.0, L_local=0.0)
    assert complaint(algorithm, constants=flat) == (
        f"{name}: step_size = '{word}' is made of L, which is 0 here: f is flat, as it "
        "is where all rows are zero; set step_size to a number, or look at the data"
    )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_rounds_of_a_flat_f_are_those_that_contract(name):
    """`auto` divides by what a step turns disagreement into: here by nothing."""
    flat = CONSTANTS._replace(L=0.0, l1=0.0, l2=0.0, sigma=0.0, L_local=0.0)
    s = setting(constants=flat)
    if not hasattr(METHODS[name], "mix_rounds"):
        return
    assert replace(METHODS[name], mix_rounds="auto").resolve(s).mix_rounds == ROUNDS
    assert asked(s) == [0.2]


EXTREME = [5e-324, 1e-200, 1e-99, 1e-14, 1e14, 1e99, 1e200, 1.7e308]


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("word", ["auto", "theory"])
def test_whatever_the_numbers_there_are_parameters_or_a_sentence(name, word):
    """Constants as `Constants.checked` lets them through, steps of any size."""
    method = ALGORITHMS.load(name)
    words = {"step_size", "momentum", "mix_rounds"} & {f.name for f in fields(method)}
    for value in EXTREME:
        for sigma in (0.0, 5e-324, 1e-150, 1e-40, min(value, 1.0) * 1e-14):
            c = CONSTANTS._replace(
                L=value, l1=value, l2=value, L_local=value, sigma=sigma,
                mu_local=-1e-3 * value,
            )  # fmt: skip
            for given in ({}, {"step_size": 1e-99}, {"step_size": 1e99}):
                chosen = method(**(dict.fromkeys(words, word) | given))
                with suppress(UserError):
                    used = chosen.resolve(setting(constants=c.checked()))
                    assert all(0 < number < inf for number in asdict(used).values())
