"""ε_f for a convex F: the paper's equation, and its conclusion where that fails."""

from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.optimum.accuracy import Accuracy, accuracy_of
from pmgt_mpi.optimum.general_convex import strongly_convex
from pmgt_mpi.optimum.reference import minimise
from pmgt_mpi.problems.ridge import Ridge
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.regularizers.shrinkage import L1, L2
from tests.unit.problems.examples import alone
from tests.unit.problems.test_plus_square import Parabola

NONE = NoRegularizer()


def least_squares(A, y, l2=0.0):
    return Ridge(Shard(np.ascontiguousarray(A), y, len(y), 1), alone(), l2=l2)


def deficient(size=1.0):
    """Rank 3 in 6 columns; the solution's norm grows with `size`."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 6))
    return A, A @ rng.standard_normal(6) * size + rng.standard_normal(50)


def choose(problem, accuracy, psi=NONE, *, with_reference=True):
    constants = problem.constants(alone()) if hasattr(problem, "constants") else None
    reference = None
    if with_reference:
        reference = minimise(problem, psi, alone(), 1.0, constants)
    return strongly_convex(
        accuracy, problem, psi, alone(), 1.0, constants, reference
    ), reference


def minimiser(problem, psi=NONE):
    found = minimise(problem, psi, alone(), 1.0, problem.constants(alone()))
    assert found is not None
    return found


@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("epsilon", [1e-1, 1e-5])
@pytest.mark.parametrize("psi", [NONE, L1(strength=0.3)], ids=repr)
def test_the_paper_s_equation(size, epsilon, psi):
    problem = least_squares(*deficient(size))
    (f, epsilon_f), reference = choose(problem, Accuracy(epsilon), psi)
    x = minimiser(f, psi).x
    paper = epsilon / max(1.0, np.linalg.norm(x) ** 2)
    assert paper / 1.02 <= epsilon_f <= paper
    assert f.constants(alone()).sigma == pytest.approx(epsilon_f)
    gap = problem.value(x) + psi.value(x) - reference.objective
    assert gap <= epsilon / 2


def almost_flat():
    """F(x) = ½λx² − bx with x* = b/λ = 1000; with ε_f = b²/ε x*_ε is only 10 long."""
    flat, b = 1e-6, 1e-3
    return least_squares(np.array([[np.sqrt(flat)]]), np.array([b / np.sqrt(flat)]))


def test_where_the_paper_s_equation_is_not_enough():
    """λ is made 0 for the choice: to the theory F is convex and no more."""
    problem, epsilon = almost_flat(), 1e-2
    constants = problem.constants(alone())
    assert constants.sigma == pytest.approx(1e-6)
    convex = constants._replace(sigma=0.0)
    reference = minimiser(problem)
    assert reference.x[0] == pytest.approx(1000.0)
    f, epsilon_f = strongly_convex(
        Accuracy(epsilon), problem, NONE, alone(), 1.0, convex, reference
    )
    # A root of ε_f ‖x*_ε‖² = ε, at which F(x*_ε) − F* is fifty times ε …
    root = 1e-3**2 / epsilon
    short = minimiser(problem.plus_square(root)).x
    assert root * short[0] ** 2 == pytest.approx(epsilon, rel=0.05)
    assert problem.value(short) - reference.objective > 10 * epsilon
    # … and the one that is chosen.
    x = minimiser(f).x
    assert problem.value(x) - reference.objective <= epsilon / 2
    assert epsilon_f * x[0] ** 2 <= epsilon * (1 + 1e-12)
    assert 1e-8 <= epsilon_f < root / 100


def test_where_the_gap_alone_decides():
    """With ε > (F(0) − F*)/2 the paper's equation holds for every ε_f up to ε."""
    problem, epsilon = almost_flat(), 0.3
    constants = problem.constants(alone())._replace(sigma=0.0)
    reference = minimiser(problem)
    f, _ = strongly_convex(
        Accuracy(epsilon), problem, NONE, alone(), 1.0, constants, reference
    )
    gap = problem.value(minimiser(f).x) - reference.objective
    assert 0.97 * epsilon / 2 <= gap <= epsilon / 2


@pytest.mark.parametrize(("radius", "expected"), [(0.5, 0.2), (4.0, 0.2 / 16)])
def test_a_radius_needs_no_minimiser(radius, expected):
    (f, epsilon_f), _ = choose(Parabola(), Accuracy(0.2, radius), with_reference=False)
    assert epsilon_f == pytest.approx(expected)
    x = np.ones((2, 2))
    assert f.value(x) == pytest.approx(2 + 2 * expected)


def test_a_radius_is_taken_at_its_word():
    problem = least_squares(*deficient(30.0))
    (_, epsilon_f), reference = choose(problem, Accuracy(0.1, 100.0))
    assert epsilon_f == pytest.approx(1e-5)
    assert np.linalg.norm(reference.x) < 100


def test_a_radius_below_every_minimiser_is_refused():
    problem, accuracy = almost_flat(), Accuracy(1e-2, 10.0)
    convex = problem.constants(alone())._replace(sigma=0.0)
    given = accuracy, problem, NONE, alone(), 1.0
    with pytest.raises(UserError) as told:
        strongly_convex(*given, convex, minimiser(problem))
    assert str(told.value) == (
        "radius = 10: no minimiser of F is so close to 0 (the one that was found has "
        "norm 1e+03), and with eps_f = 0.0001 from it F − F* would not fall below "
        "0.49, which is more than epsilon/2 = 0.005; give a radius of at least the "
        "norm of a minimiser, or leave it out: then eps_f is found here"
    )
    # Without a minimiser to hold it against it is taken at its word.
    assert strongly_convex(*given, convex, None)[1] == pytest.approx(1e-4)


@pytest.mark.parametrize("factor", [1.0, 1.5])
def test_a_radius_that_some_minimiser_has_is_taken(factor):
    """F = ½(x₁ + x₂ − 2)² is least on a line; the reference may lie anywhere on it."""
    problem = least_squares(np.array([[1.0, 1.0]]), np.array([2.0]))
    far = minimiser(problem)._replace(x=np.array([100.0, -98.0]))
    constants = problem.constants(alone())
    for epsilon in (1.0, 1e-6):
        accuracy = Accuracy(epsilon, factor * float(np.sqrt(2)))
        f, epsilon_f = strongly_convex(
            accuracy, problem, NONE, alone(), 1.0, constants, far
        )
        assert epsilon_f == pytest.approx(epsilon / (2 * factor**2))
        assert problem.value(minimiser(f).x) <= epsilon / 2


def test_a_radius_that_leaves_no_term_is_refused():
    problem = least_squares(*deficient())
    with pytest.raises(UserError) as told:
        choose(problem, Accuracy(0.1, 1e200))
    assert str(told.value) == (
        "radius = 1e+200: epsilon/radius² is 0 to the computer; give a smaller radius, "
        "or leave it out: then eps_f is found here"
    )


def test_a_radius_too_small_that_keeps_the_promise_is_taken():
    """F has fallen by more than it may already where the radius ends."""
    problem = least_squares(*deficient(0.01))
    reference = minimiser(problem)
    radius = 0.99 * float(np.linalg.norm(reference.x))
    (f, _), _ = choose(problem, Accuracy(1.0, radius))
    assert problem.value(minimiser(f).x) - reference.objective <= 0.5


@pytest.mark.parametrize(("l2", "psi"), [(0.25, NONE), (0.0, L2(strength=0.25))])
def test_a_strongly_convex_F_is_refused(l2, psi):
    problem = least_squares(*deficient(), l2=l2)
    with pytest.raises(UserError) as told:
        choose(problem, Accuracy(0.1), psi)
    assert str(told.value) == (
        "epsilon = 0.1 is for an F that is not strongly convex, and sigma is 0.25 "
        "here; leave epsilon out"
    )


def test_without_a_minimiser_a_radius_is_asked_for():
    for problem in (Parabola(), least_squares(*deficient())):
        with pytest.raises(UserError) as told:
            choose(problem, Accuracy(0.1), with_reference=False)
        assert str(told.value) == (
            "epsilon = 0.1 needs the norm of a minimiser, and none is found here "
            "(reference = false, or a problem without constants() and hessian()); give "
            "radius, a bound on ‖x*‖"
        )


def test_what_is_given():
    assert accuracy_of(None, None) is None
    assert accuracy_of(0.1, None) == Accuracy(0.1, None)
    assert accuracy_of(0.1, 3.0) == Accuracy(0.1, 3.0)
    with pytest.raises(UserError, match=r"^radius = 3 bounds ‖x\*‖ for epsilon, which"):
        accuracy_of(None, 3.0)
    for value in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(UserError, match=r"^epsilon = .*: expected a positive num"):
            accuracy_of(value, None)
        with pytest.raises(UserError, match=r"^radius = .*: expected a positive numb"):
            accuracy_of(0.1, value)
