"""`solve` in a program under mpirun: solution, trace, counts, a user's own problem."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass

import networkx as nx
import numpy as np
import pytest
from mpi4py import MPI
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

import pmgt_mpi
from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.environment import BLAS_THREADS
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import AgreedError
from pmgt_mpi.problems.logistic import Logistic
from pmgt_mpi.problems.ridge import Ridge
from pmgt_mpi.regularizers.box import Box
from tests.support.methods import TRAITS, fits

N, D = 203, 6


def data():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(N, D)) * np.linspace(0.5, 2, D)
    return A, A @ np.arange(D) + 0.1 * rng.normal(size=N)


def own_rows(comm):
    A, y = data()
    return np.array_split(A, comm.size)[comm.rank], np.array_split(y, comm.size)[
        comm.rank
    ]


def ridge(comm, **options):
    A, y = own_rows(comm)
    problem = {"kind": "ridge", "l2": 0.05}
    cost = {"round_in_gradients": 100.0}  # not measured: bits depend on it
    return pmgt_mpi.solve(problem, A, y, comm=comm, **cost | options)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_auto_parameters_reach_the_direct_solution(comm, together, name):
    if not fits(name, comm.size):
        return
    rows = TRAITS[name].linear  # a step is a row, and moves one agent alone
    if rows and comm.size != 4:
        return  # for time
    result = ridge(
        comm, algorithm=name, relative_suboptimality=1e-13,
        steps=80_000 if rows else 20_000, evaluate_every=200 if rows else 5,
    )  # fmt: skip
    A, y = data()
    direct = np.linalg.solve(A.T @ A / N + 0.05 * np.eye(D), A.T @ y / N)
    with together:
        assert result.status == "converged"
        np.testing.assert_allclose(result.reference, direct, rtol=1e-12)
        np.testing.assert_allclose(result.x, direct, rtol=0, atol=1e-5)
        # Agents that do not send in every step are further apart.
        local = 1e-4 if rows or TRAITS[name].cost.rounds == "C" else 1e-5
        np.testing.assert_allclose(result.x_local, direct, rtol=0, atol=local)
        if not TRAITS[name].square:  # whose start is forced
            assert result.trace[0]["relative_suboptimality"] == pytest.approx(1)
        assert result.trace[-1]["relative_suboptimality"] <= 1e-13
        assert result.counts["gradients"] > 0
        assert (result.counts["messages"] > 0) == (comm.size > 1)
        assert all(not isinstance(v, str) for v in result.parameters.values())


def without_clocks(record):
    return {k: v for k, v in record.items() if not k.endswith("seconds")}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_cadence_of_evaluation_changes_neither_bits_nor_counts(comm, together, name):
    if not fits(name, comm.size):
        return
    results = [
        ridge(comm, algorithm=name, steps=40, evaluate_every=every)
        for every in (1, 10, 0)
    ]
    with together:
        for result in results[1:]:
            assert result.x_local.tobytes() == results[0].x_local.tobytes()
            assert without_clocks(result.trace[-1]) == without_clocks(
                results[0].trace[-1]
            )
        assert [len(result.trace) for result in results] == [41, 5, 2]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_same_seed_same_bits_other_seed_others(comm, together, name):
    if not fits(name, comm.size):
        return
    first, again, other = (
        ridge(comm, algorithm=name, steps=5, seed=seed) for seed in (3, 3, 4)
    )
    with together:
        assert first.x_local.tobytes() == again.x_local.tobytes()
        if "batch_size" in first.parameters:  # something is drawn
            assert first.x_local.tobytes() != other.x_local.tobytes()


def test_isend_and_persistent_give_the_same_bits(comm, together):
    first, second = (
        ridge(comm, steps=5, exchange=form) for form in ("isend", "persistent")
    )
    with together:
        assert first.x_local.tobytes() == second.x_local.tobytes()
        assert without_clocks(first.counts) == without_clocks(second.counts)


def test_the_engine_is_told_and_agrees(comm, together):
    python, auto = (ridge(comm, steps=5, engine=name) for name in ("python", "auto"))
    with pytest.raises(AgreedError, match="solve: engine = 'numba': expected 'auto', "):
        ridge(comm, engine="numba")
    with together:
        assert python.engine == "python"
        assert auto.engine in ("python", "compiled")
        np.testing.assert_allclose(auto.x_local, python.x_local, rtol=1e-11, atol=1e-12)
        assert without_clocks(auto.counts) == without_clocks(python.counts)


class Huber:
    """A user's own problem: nothing but the three methods."""

    def __init__(self, A, y):
        self.A, self.y = A, y
        self.rows, self.shape = len(y), (A.shape[1],)

    def value(self, x):
        z = np.abs(self.A @ x - self.y)
        return float(np.where(z < 1, z**2 / 2, z - 0.5).mean() + 0.05 * x @ x)

    def grad(self, x):
        return self.minibatch_grad(x, np.arange(self.rows))

    def minibatch_grad(self, x, rows):
        z = np.clip(self.A[rows] @ x - self.y[rows], -1, 1)
        return z @ self.A[rows] / len(rows) + 0.1 * x


def test_a_problem_of_the_users_own(comm, together):
    A, y = own_rows(comm)
    result = pmgt_mpi.solve(
        Huber(A, y),
        algorithm={
            "name": "pmgt-katyushax",
            "step_size": 0.1,
            "momentum": 0.3,
            "batch_size": 5,
            "mix_rounds": 8,
        },
        network={"topology": "star"},
        regularizer={"kind": "l1", "strength": 0.01},
        steps=300,
        evaluate_every=0,
        comm=comm,
    )
    A, y = data()
    whole = Huber(A, y)
    subgradient = whole.grad(result.x) + 0.01 * np.sign(result.x)
    with together:
        assert np.linalg.norm(subgradient) < 1e-6
        assert result.trace[-1]["suboptimality"] is None
        assert result.reference is None


class Careful(Huber):
    """Says in which order it is asked for things."""

    asked: list[str]

    def prepare(self):
        self.asked = ["prepare"]

    def grad(self, x):
        self.asked.append("grad")
        return super().grad(x)


def test_what_is_made_once_is_made_before_the_clock_runs(comm, together):
    problem = Careful(*own_rows(comm))
    pmgt_mpi.solve(
        problem, algorithm={"name": "nids", "step_size": 0.1}, steps=2, comm=comm
    )
    with together:
        assert problem.asked[0] == "prepare"
        assert set(problem.asked[1:]) == {"grad"}


class Threads(Huber):
    """Sees how many threads BLAS has while a gradient is computed."""

    seen: set[int]

    def grad(self, x):
        self.seen |= blas_threads()
        return super().grad(x)


def blas_threads():
    found = threadpool_info()
    return {one["num_threads"] for one in found if one["user_api"] == "blas"}


def test_blas_has_one_thread_meanwhile(comm, together, monkeypatch):
    for name in BLAS_THREADS:
        monkeypatch.delenv(name, raising=False)
    problem = Threads(*own_rows(comm))
    problem.seen = set()
    with threadpool_limits(2, user_api="blas"):
        pmgt_mpi.solve(
            problem, algorithm={"name": "nids", "step_size": 0.1}, steps=2, comm=comm
        )
        after = blas_threads()
    with together:
        assert problem.seen == {1}
        assert after == {2}, "what the program had is given back"


def test_a_problem_without_constants_gives_the_theory_nothing(comm, together):
    A, y = own_rows(comm)
    theory = {"name": "pmgt-katyushax", "step_size": "theory"}
    with together, pytest.raises(AgreedError) as error:
        pmgt_mpi.solve(Huber(A, y), algorithm=theory, comm=comm)
    with together:
        assert str(error.value) == (
            "pmgt-katyushax: step_size = 'theory' needs the constants L, l1, l2 and "
            "sigma, which the problem does not give; set step_size to a number, or "
            "add constants() to the problem"
        )


def test_a_networkx_graph_or_a_matrix_is_a_network(comm, together):
    by_name = ridge(comm, network="complete", steps=3)
    by_graph = ridge(comm, network=nx.complete_graph(comm.size), steps=3)
    W = np.full((comm.size, comm.size), 1 / comm.size)
    by_matrix = ridge(comm, network=None, weights=W, steps=3)
    with together:
        np.testing.assert_allclose(by_name.x, by_graph.x, rtol=1e-12)
        np.testing.assert_allclose(by_name.x, by_matrix.x, rtol=1e-9)


def test_an_automatic_cadence_reads_a_tenth_of_the_rows_at_most(comm, together):
    result = ridge(comm, algorithm="nids", steps=40, evaluate_every="auto")
    steps = [record["step"] for record in result.trace]
    with together:
        # A step reads all rows twice, a record three times: 3 / (0.1 · 2) = 15.
        assert steps == [0, 15, 30, 40]


class Counted:
    """Rows that count how many of them every product reads."""

    def __init__(self, rows, number, tally):
        self.rows, self.number, self.tally = rows, number, tally

    def dot(self, x):
        self.tally["read"] += self.number
        return self.rows.dot(x)

    def tdot(self, s):
        self.tally["read"] += self.number
        return self.rows.tdot(s)

    def gather(self, rows):
        return Counted(self.rows.gather(rows), rows.size, self.tally)

    def __getattr__(self, name):
        return getattr(self.rows, name)

    def normal(self, rows, x, factor, shift):
        self.tally["read"] += 2 * rows.size
        return self.rows.normal(rows, x, factor, shift)


@pytest.mark.parametrize(
    ("name", "steps", "mapping", "reference"),
    [
        ("nids", 60, None, True),
        ("nids", 60, 1e-300, True),
        ("nids", 60, 1e-300, False),
        ("nids", 60, None, False),
        ("gt-sarah", 290, 1e-300, True),
    ],
)
@pytest.mark.parametrize("kind", [Logistic, Ridge])
def test_records_at_an_automatic_cadence_read_a_tenth_of_the_rows(
    comm, together, kind, name, steps, mapping, reference
):
    _, y = own_rows(comm)
    # So sparse that a quadratic makes no matrix of them.
    A = sparse.random_array((y.size, 50), density=0.04, rng=comm.rank, format="csr")
    tally = {"read": 0}

    class Counting(kind):
        def __init__(self, shard, collective):
            super().__init__(shard, collective, l2=0.05)
            self.A = Counted(self.A, shard.rows, tally)

    def solve(steps, every):
        tally["read"] = 0
        result = pmgt_mpi.solve(
            Counting, A, np.sign(y), algorithm={"name": name, "step_size": 1e-3},
            steps=steps, evaluate_every=every, reference=reference,
            gradient_mapping=mapping, engine="python", comm=comm,
        )  # fmt: skip
        return tally["read"], result

    looked_at, result = solve(steps, "auto")
    cadence = result.trace[1]["step"]
    assert cadence < steps
    plain, _ = solve(steps, 0)
    a_record = (looked_at - plain) / (len(result.trace) - 2)
    further = 2 * result.parameters.get("period", 1)
    a_step = (solve(steps + further, 0)[0] - plain) / further
    share = a_record / (cadence * a_step)
    # A difference of gradients reads its rows three times where it is not quadratic.
    least = 0.06 if (kind, name) == (Logistic, "gt-sarah") else 0.09
    with together:
        assert least < share < 0.101  # n is that of the largest shard


@pytest.mark.parametrize("key", ["relative_suboptimality", "stop_epsilon"])
def test_a_target_that_nobody_can_see_is_refused(comm, together, key):
    options = {"algorithm": "nids", "comm": comm, "reference": False, key: 1e-3}
    with together, pytest.raises(AgreedError, match="needs the minimiser, and none"):
        ridge(**options)


def test_the_gradient_mapping_stops_a_problem_without_constants(comm, together):
    result = pmgt_mpi.solve(
        Huber(*own_rows(comm)), algorithm={"name": "nids", "step_size": 0.1},
        gradient_mapping=1e-6, steps=5000, comm=comm,
    )  # fmt: skip
    whole = Huber(*data())
    with together:
        assert result.status == "converged"
        assert result.trace[-1]["gradient_mapping"] <= 1e-6
        assert np.linalg.norm(whole.grad(result.x)) < 2e-6


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"steps": 10**5000}, "steps"),
        ({"seed": 2**63}, "seed"),
        ({"network": {"topology": "grid", "rows": 10**5000}}, "network: rows"),
        (
            {"algorithm": {"name": "nids", "step_size": 10**5000}},
            "algorithm: step_size",
        ),
    ],
)
def test_integers_beyond_64_bits_are_refused_by_all(comm, together, options, where):
    with together, pytest.raises(AgreedError, match=f"solve: {where} holds an integer"):
        ridge(comm, **options)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("number", "told"), [(1e200, "1e+200"), (np.nan, "nan"), (-np.inf, "inf")]
)
def test_a_row_of_one_rank_that_overflows_is_refused_by_all(
    comm, together, form, number, told
):
    for kind in ("number", "label"):
        A, y = own_rows(comm)
        if comm.rank == comm.size - 1:
            (A if kind == "number" else y).flat[3] = number
        place = "rows" if kind == "number" else "labels"
        with together, pytest.raises(AgreedError) as caught:
            pmgt_mpi.solve("ridge", form(A), y, algorithm="nids", comm=comm)
        with together:
            text = str(caught.value)
            assert text.startswith(f"solve: {place} has a {kind} of size {told}, and")
            assert text.endswith(
                f"divide the {place} by a number, or take out what is wrong"
            )


def test_sparse_rows_of_integers_are_rows_of_numbers(comm, together):
    A = np.arange(4 * D).reshape(4, D) % 5
    results = [
        pmgt_mpi.solve(
            {"kind": "ridge", "l2": 0.1}, rows, np.ones(4), algorithm="nids", steps=9,
            comm=comm,
        ).x
        for rows in (sparse.csr_array(A), A)
    ]  # fmt: skip
    with together:
        np.testing.assert_allclose(*results, rtol=1e-12)


@pytest.mark.parametrize("label", ["\x1b[31m", "a\x00", "two\nlines", " "])
def test_a_label_that_cannot_be_printed_is_refused_by_all(comm, together, label):
    with together, pytest.raises(AgreedError) as caught:
        ridge(comm, algorithm={"name": "nids", "label": label})
    with together:
        assert str(caught.value) == (
            f"solve: algorithm label = {label!a}: expected text that can be printed, "
            "in one line and without control characters"
        )


def test_unknown_options_are_refused_by_all(comm, together):
    with together, pytest.raises(AgreedError, match=r"did you mean 'step_size'"):
        ridge(comm, algorithm={"name": "nids", "stepsize": 0.1})


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Gradient tracking by itself: x ← W x − αy, y ← W y + ∇f_i(x) − ∇f_i(x old)."""

    step_size: float = 0.1

    def resolve(self, setting):  # noqa: ARG002
        return self

    def init(self, agent, x0):
        g = agent.grad(x0)
        return Tracked(x0, g, g)

    def step(self, agent, s):
        x = agent.gossip(s.x) - self.step_size * s.y
        g = agent.grad(x)
        return Tracked(x, agent.gossip(s.y) + g - s.g, g)

    def solution(self, s):
        return s.x


@dataclass
class Tracked:
    x: np.ndarray
    y: np.ndarray
    g: np.ndarray


def test_an_algorithm_of_the_users_own(comm, together):
    """A class, an object, its address: the same method, and the same bits."""
    address = f"{Descent.__module__}:Descent"
    ways = (Descent, Descent(), address, {"name": address, "step_size": 0.1})
    results = [ridge(comm, algorithm=way, steps=300) for way in ways]
    with together:
        assert results[0].trace[-1]["relative_suboptimality"] < 1e-9
        assert {one.x_local.tobytes() for one in results} == {
            results[0].x_local.tobytes()
        }
        assert all(one.parameters == {"step_size": 0.1} for one in results)


class Local:
    """What no rank could import by name."""

    algorithm = make_dataclass("Nameless", [], bases=(Descent,), frozen=True)


def test_an_algorithm_that_cannot_be_named(comm, together):
    named = ridge(comm, algorithm=Descent, steps=5)
    nameless = ridge(comm, algorithm=Local.algorithm, steps=5)
    with together:
        assert nameless.x_local.tobytes() == named.x_local.tobytes()


def test_an_algorithm_that_is_no_dataclass(comm, together):
    with together, pytest.raises(AgreedError, match="Huber is no dataclass; expected"):
        ridge(comm, algorithm=Huber(*own_rows(comm)))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"steps": 0}, "solve: steps = 0: expected greater than or equal to 1"),
        ({"steps": 1.5}, "solve: steps = 1.5: expected a valid integer"),
        ({"seconds": -1.0}, "solve: seconds = -1.0: expected greater than 0"),
        ({"stop_epsilon": 0}, "solve: stop_epsilon = 0: expected greater than 0"),
        ({"mix_rounds": "x"}, "solve: mix_rounds = 'x': expected a valid integer or "),
        ({"mixing": "cheby"}, "solve: unknown mixing 'cheby'; did you mean 'chebyshev"),
        ({"exchange": "x"}, "solve: unknown exchange 'x'; valid: isend, persistent"),
        ({"network": "rign"}, "solve: network unknown graph 'rign'; did you mean"),
        ({"weights": "lap"}, "solve: network unknown weights 'lap'; valid: laplacian"),
        ({"regularizer": "l3"}, "solve: regularizer unknown regularizer 'l3'"),
        ({"radius": 3.0}, "radius = 3 bounds ‖x*‖ for epsilon, which is not given"),
        ({"evaluate_every": -1}, "solve: evaluate_every = -1: expected greater than"),
        ({"timeout": -1}, "solve: timeout = -1: expected greater than 0"),
        ({"timeout": "x"}, "solve: timeout = 'x': expected a valid number"),
        ({"timeout": np.inf}, "solve: timeout = inf: expected a finite number"),
        ({"timeout": None}, "solve: timeout = None: expected a valid number"),
        ({"network": 5}, "solve: network is of type int: expected the name of a topol"),
        ({"network": [0, 1]}, "solve: network is of type list: expected the name of"),
        ({"network": nx.Graph}, "solve: network is of type type: expected the name"),
        ({"weights": 5}, "W: W has shape () and dtype int64; expected"),
        ({"regularizer": 7}, "solve: regularizer is of type int: expected a name, a m"),
        ({"regularizer": Box}, "solve: regularizer is the class Box: expected a name"),
        ({"x0": np.zeros(D - 1)}, "solve: x0 has shape (5,): expected (6,), which is"),
        ({"x0": [1.0]}, "solve: x0 has shape (1,): expected (6,), which is that of t"),
        ({"x0": np.zeros((D, 1))}, "solve: x0 has shape (6, 1): expected (6,), which"),
        ({"x0": [np.nan] * D}, "solve: x0 has an entry that is not finite: expected"),
        ({"x0": "here"}, "solve: x0: expected an array of numbers"),
        (
            {"theory_bound": True, "reference": False},
            "solve: theory_bound = true bounds F − F*, which needs the minimiser; set "
            "reference = true, or leave theory_bound out",
        ),
    ],
)
def test_arguments_are_checked_as_a_config_is(comm, together, options, told):
    with together, pytest.raises(AgreedError) as error:
        ridge(comm, **options)
    with together:
        assert str(error.value).startswith(told)


@pytest.mark.parametrize(
    ("no_comm", "told"),
    [
        (3, "solve: comm is of type int: expected an intracommunicator of mpi4py"),
        (MPI.COMM_NULL, "solve: comm is COMM_NULL, which has no ranks: let those"),
    ],
)
def test_what_is_no_communicator_is_refused(together, no_comm, told):
    with together, pytest.raises(UserError) as error:
        pmgt_mpi.solve("ridge", *data(), comm=no_comm)
    with together:
        assert str(error.value).startswith(told)


def test_an_object_that_is_no_problem_is_refused(comm, together):
    with together, pytest.raises(AgreedError) as error:
        pmgt_mpi.solve(5, comm=comm)
    with together:
        assert str(error.value) == (
            "solve: problem is of type int: expected a name, a mapping with kind and "
            "options, or an object with rows, shape, value, grad, minibatch_grad"
        )


@pytest.mark.mpi(min_size=2)
def test_a_start_that_is_wrong_on_one_agent_is_refused_by_all(comm, together):
    x0 = np.zeros(D if comm.rank == 0 else D + 1)
    with together, pytest.raises(AgreedError, match=r"solve: x0 has shape \(7,\)"):
        ridge(comm, x0=x0)


def test_where_to_start(comm, together):
    x0 = np.arange(D)
    result = ridge(comm, algorithm="nids", steps=1, x0=x0, evaluate_every=1)
    A, y = data()
    objective = ((A @ x0 - y) ** 2).mean() / 2 + 0.025 * (x0 @ x0)
    with together:
        assert result.trace[0]["objective"] == pytest.approx(objective)


def test_numbers_of_numpy_are_numbers(comm, together):
    plain, numpy = (
        ridge(comm, steps=kind(5), seed=kind(3), evaluate_every=kind(1))
        for kind in (int, np.int64)
    )
    with together:
        assert numpy.x_local.tobytes() == plain.x_local.tobytes()


def test_some_of_the_ranks_may_solve_by_themselves(comm, together):
    """Two halves at once, each a world of its own, with half of the data."""
    half = comm.Split(comm.rank % 2, comm.rank)
    A, y = data()
    rows = np.array_split(np.arange(comm.rank % 2, N, 2), half.size)[half.rank]
    own = np.arange(comm.rank % 2, N, 2)
    problem = {"kind": "ridge", "l2": 0.05}
    result = pmgt_mpi.solve(
        problem, A[rows], y[rows], algorithm="nids", steps=3000, comm=half,
        relative_suboptimality=1e-13,
    )  # fmt: skip
    n = len(own)
    direct = np.linalg.solve(
        A[own].T @ A[own] / n + 0.05 * np.eye(D), A[own].T @ y[own] / n
    )
    with together:
        assert result.status == "converged"
        np.testing.assert_allclose(result.x, direct, rtol=0, atol=1e-5)
    half.Free()


def test_some_of_the_ranks_may_have_objects_of_their_own(comm, together):
    """The halves have a problem and a graph as objects; each numbers its own agents."""
    half = comm.Split(comm.rank % 2, comm.rank)
    A, y = data()
    own = np.arange(comm.rank % 2, N, 2)
    rows = np.array_split(own, half.size)[half.rank]
    method = {"name": "nids", "step_size": 0.1}
    result = pmgt_mpi.solve(
        Huber(A[rows], y[rows]), network=nx.complete_graph(half.size),
        algorithm=method, gradient_mapping=1e-6, steps=5000, comm=half,
    )  # fmt: skip
    whole = Huber(A[own], y[own])
    with together:
        assert result.status == "converged"
        assert np.linalg.norm(whole.grad(result.x)) < 2e-6
    half.Free()


def test_a_network_of_the_wrong_size_is_refused_by_those_it_concerns(comm, together):
    """Where half of the ranks err they alone are told, and the others go their way."""
    half = comm.Split(comm.rank % 2, comm.rank)
    wrong = comm.rank % 2 == 1
    graph = nx.complete_graph(half.size + wrong)
    A, y = data()
    rows = np.array_split(np.arange(N), half.size)[half.rank]
    told = None
    try:
        pmgt_mpi.solve("ridge", A[rows], y[rows], network=graph, steps=2, comm=half)
    except AgreedError as error:
        told = str(error)
    with together:
        if wrong:
            assert told is not None
            assert told.startswith(f"networkx graph: the graph has {half.size + 1} nod")
        else:
            assert told is None
    half.Free()
