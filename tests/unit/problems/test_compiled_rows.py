"""Minibatches of the compiled engine: numpy's numbers, the same bits each time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.execution.engine import choose_engine
from pmgt_mpi.problems.compiled_rows import CompiledRows
from tests.unit.problems.examples import OPTIONS, alone, make_problem, make_shard

every_kind = pytest.mark.parametrize("kind", OPTIONS)  # the linear models
both_layouts = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])


def test_what_was_prepared_is_not_made_again(engine):
    problem = make_problem("ridge", make_shard(60, 5))
    problem.prepare()
    assert problem.Q is not None
    assert engine.problem(problem).Q is problem.Q


@pytest.fixture(scope="module")
def engine():
    chosen = choose_engine(alone(), "auto")
    if chosen.name != "compiled":
        pytest.skip(f"no compiled engine: {chosen.why}")
    return chosen


def points(d, dtype="float64"):
    rng = np.random.default_rng(5)
    return [rng.standard_normal(d).astype(dtype) for _ in range(2)]


@every_kind
@both_layouts
@pytest.mark.parametrize("d", [2, 5, 8, 50, 131])
@pytest.mark.parametrize("b", [1, 2, 3, 4, 7, 64, 173])
def test_gradients_agree_to_1e_13(engine, kind, sparse, d, b):
    plain = make_problem(kind, make_shard(40, d, sparse=sparse))
    compiled = engine.problem(plain)
    assert isinstance(compiled.A, CompiledRows)
    assert not isinstance(plain.A, CompiledRows), "the problem itself is left alone"
    w, w0 = points(d)
    rows = np.random.default_rng(b).integers(0, 40, b)
    for name, arguments in [
        ("minibatch_difference", (w, w0, rows)),
        ("minibatch_grad", (w, rows)),
        ("slopes", (w, rows)),
    ]:
        expected = getattr(plain, name)(*arguments)
        ours = getattr(compiled, name)(*arguments)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-13 * scale)
        assert ours.dtype == expected.dtype


@every_kind
@both_layouts
def test_single_precision(engine, kind, sparse):
    plain = make_problem(kind, make_shard(60, 9, sparse=sparse, dtype="float32"))
    w, w0 = points(9, "float32")
    rows = np.random.default_rng(0).integers(0, 60, 31)
    expected = plain.minibatch_difference(w, w0, rows)
    ours = engine.problem(plain).minibatch_difference(w, w0, rows)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, expected, rtol=0, atol=3e-6 * np.abs(ours).max())


@both_layouts
def test_a_vector_of_another_type_goes_the_way_of_numpy(engine, sparse):
    plain = make_problem("ridge", make_shard(60, 9, sparse=sparse, dtype="float32"))
    w, w0 = points(9)
    rows = np.arange(20)
    expected = plain.minibatch_difference(w, w0, rows)
    ours = engine.problem(plain).minibatch_difference(w, w0, rows)
    assert ours.dtype == np.float64
    assert ours.tobytes() == expected.tobytes()


@both_layouts
def test_arguments_of_every_kind(engine, sparse):
    plain = make_problem("ridge", make_shard(60, 9, sparse=sparse))
    rows, (w, w0) = np.arange(0, 60, 7), points(9)
    expected = plain.minibatch_difference(w, w0, rows)
    ours = engine.problem(plain)
    gaps = np.repeat(w, 2)[::2], np.repeat(w0, 2)[::2]
    assert not gaps[0].flags.c_contiguous
    for arguments in (
        (w, w0, np.repeat(rows, 2)[::2]),
        (w, w0, rows.astype(np.int32)),
        (*gaps, rows),
    ):
        found = ours.minibatch_difference(*arguments)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
        slopes = ours.slopes(arguments[0], arguments[2])
        np.testing.assert_allclose(slopes, plain.slopes(w, rows), rtol=0, atol=1e-13)
        sums = ours.combine(slopes, arguments[2])
        np.testing.assert_allclose(
            sums, plain.combine(slopes, rows), rtol=0, atol=1e-13
        )


@both_layouts
def test_wrong_arguments_are_refused_as_by_numpy(engine, sparse):
    A = engine.problem(make_problem("ridge", make_shard(60, 9, sparse=sparse))).A
    rows, (w, _) = np.arange(5), points(9)
    with pytest.raises(TypeError):
        A.normal(rows, w)
    with pytest.raises(TypeError):
        A.normal(rows, w, "1", 0.0)
    with pytest.raises((ValueError, IndexError)):
        A.gather(rows).dot(w[:-1])
    with pytest.raises((ValueError, IndexError)):
        A.gather(rows).tdot(w[:3])


@both_layouts
@pytest.mark.parametrize("wrong", [-1, 60, -(2**62), 2**62])
def test_an_index_of_no_row_goes_the_way_of_numpy(engine, sparse, wrong):
    """Which takes the nearest row, counts from the end, or says so."""
    problem = make_problem("ridge", make_shard(60, 9, sparse=sparse))
    plain, compiled = problem.A, engine.problem(problem).A
    rows, (w, _) = np.array([0, 59, wrong, 3]), points(9)
    told = []
    for A in (plain, compiled):
        for product in (
            lambda A=A: A.gather(rows).dot(w),
            lambda A=A: A.gather(rows).tdot(w[:4]),
            lambda A=A: A.normal(rows, w, 0.5, 2.0),
        ):
            try:
                told.append(product().tobytes())
            except (IndexError, ValueError) as error:
                told.append(str(error))
    assert told[:3] == told[3:]


def test_long_indices_of_columns(engine):
    shard = make_shard(30, 6, sparse=True)
    wide = shard.A.copy()
    wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
    w, w0 = points(6)
    rows = np.array([3, 3, 29, 15])
    results = [
        engine.problem(
            make_problem("ridge", Shard(A, shard.labels, 30, 1))
        ).minibatch_difference(w, w0, rows)
        for A in (shard.A, wide)
    ]
    assert results[0].tobytes() == results[1].tobytes()


@both_layouts
def test_the_same_bits_wherever_the_rows_lie(engine, sparse):
    shard = make_shard(64, 13, sparse=sparse)
    w, w0 = points(13)
    rows = np.random.default_rng(1).integers(0, 64, 50)
    results = set()
    for shift in range(4):
        room = np.zeros((shard.A.data if sparse else shard.A).size + shift)
        moved = room[shift:]
        if sparse:
            A = csr_array((moved, shard.A.indices, shard.A.indptr), shard.A.shape)
            moved[:] = shard.A.data
        else:
            A = moved.reshape(shard.A.shape)
            A[:] = shard.A
        problem = make_problem("logistic", Shard(A, shard.labels, 64, 1))
        compiled = engine.problem(problem)
        results |= {
            compiled.minibatch_difference(w, w0, rows).tobytes() for _ in range(3)
        }
    assert len(results) == 1


def test_a_problem_of_the_users_own_stays_as_it_is(engine):
    class Own:
        shape, rows = (3,), 4

    own = Own()
    assert engine.problem(own) is own
    assert engine.facts(own)["gradients"] == "python"
    ridge = make_problem("ridge", make_shard(10, 3))
    assert engine.facts(ridge) == {
        "name": "compiled",
        "build": engine.library.variant,
        "gradients": "compiled",
        "why": "",
    }
