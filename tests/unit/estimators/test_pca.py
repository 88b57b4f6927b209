"""What pmgt_mpi.PCA is to scikit-learn, on one rank."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.utils.estimator_checks import parametrize_with_checks

from pmgt_mpi import PCA
from pmgt_mpi.estimators.components import with_signs


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([PCA(), PCA(solver="lanczos"), PCA(solver="deepca")])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_it_is_imported_when_it_is_asked_for_and_not_before():
    code = (
        "import sys, pmgt_mpi, pmgt_mpi.execution.run, pmgt_mpi.estimators\n"
        "assert 'sklearn' not in sys.modules\n"
        "pmgt_mpi.PCA\n"
        "assert 'sklearn' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_without_scikit_learn_one_sentence_says_what_to_do():
    code = "import sys; sys.modules['sklearn'] = None; import pmgt_mpi; pmgt_mpi.PCA"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: pmgt_mpi.PCA has its base classes from scikit-learn, "
        "which is not installed; pip install 'pmgt_mpi[sklearn]'"
    )


def test_the_signs_are_scikit_learns_and_stand_for_near_ties():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * np.arange(1, 7)
    theirs = decomposition.PCA(svd_solver="full").fit(X).components_
    flipped = theirs * rng.choice([-1, 1], size=(6, 1))
    np.testing.assert_array_equal(with_signs(flipped.T).T, theirs)
    tie = np.array([[0.5, -0.5, 0.1]]).T
    for rounding in (-1e-15, 1e-15):
        near = tie + np.array([[0, rounding, 0]]).T
        assert with_signs(near)[0, 0] > 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_components": 0}, "n_components = 0: expected a number from 1 on"),
        ({"n_components": 1.5}, "n_components = 1.5: expected"),
        ({"tol": 0}, "tol = 0: expected a positive number"),
        ({"share": "all"}, "share = 'all': expected one of"),
        ({"network": "rings"}, "did you mean 'ring'?"),
    ],
)
def test_wrong_arguments(options, told):
    with pytest.raises(Exception) as raised:  # noqa: PT011
        PCA(**options).fit(np.eye(4))
    assert told in str(raised.value)


def test_a_tolerance_that_is_not_reached_is_told(monkeypatch):
    from pmgt_mpi.estimators import pca

    monkeypatch.setattr(pca, "MOST_STEPS", 3)
    X = np.random.default_rng(1).normal(size=(300, 40))
    with pytest.warns(UserWarning, match="deepca did not reach tol = 1e-09 in 3 steps"):
        PCA(2, solver="deepca").fit(X)
