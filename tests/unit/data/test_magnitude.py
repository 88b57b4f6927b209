"""Numbers whose squares overflow are refused before a problem is made of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from pmgt_mpi.data.shard import Shard, check_magnitude
from pmgt_mpi.errors import UserError


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("dtype", "good", "bad"), [("f8", 1e150, 1e154), ("f4", 1e18, 1.9e19)]
)
def test_the_limit_depends_on_the_precision(form, dtype, good, bad):
    A = np.eye(4, 3, dtype=dtype)
    A[2, 2] = good
    check_magnitude(Shard(form(A), None, 4, 1))
    check_magnitude(Shard(form(np.zeros((4, 3), dtype)), None, 4, 1))
    A[2, 2] = bad
    with pytest.raises(UserError, match=r"\[data\] has a number of size 1") as caught:
        check_magnitude(Shard(form(A), None, 4, 1))
    assert str(caught.value).endswith(
        "set data.scale to 'unit', 'standard' or 'minmax', or take out what is wrong"
    )


def test_labels_are_looked_at_too_and_no_scaling_is_advised():
    with pytest.raises(UserError) as caught:
        check_magnitude(Shard(np.ones((2, 2)), np.array([1.0, -1e200]), 2, 1))
    assert str(caught.value) == (
        "[data] has a label of size 1e+200, and those above 6.7e+153 overflow when "
        "they are squared in float64; divide the labels by a number (data.scale leaves "
        "them as they are), or take out what is wrong"
    )


@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_what_is_no_finite_number_is_refused_too(number):
    with pytest.raises(UserError, match=f"has a label of size {number}"):
        check_magnitude(Shard(np.ones((2, 2)), np.array([number, 1.0]), 2, 1))
