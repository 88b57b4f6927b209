"""What a config says when nothing is wrong with it: defaults, and every section."""

from __future__ import annotations

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.plan import (
    AlgorithmPlan,
    CheckpointPlan,
    Common,
    DataPlan,
    NetworkPlan,
    Part,
    Plan,
    Stop,
)
from pmgt_mpi.optimum.general_convex import Accuracy
from tests.unit.config.configs import plan_of

CHEBYSHEV = Part("chebyshev", "pmgt_mpi.gossip.polynomials:chebyshev")


def test_defaults_of_the_smallest_config():
    assert plan_of() == Plan(
        name="run",
        seed=1,
        dtype="float64",
        engine="auto",
        folder="/folder",
        network=NetworkPlan(
            topology=Part("ring", "pmgt_mpi.graphs.fixed:ring"),
            file=None,
            weights=Part("laplacian", "pmgt_mpi.graphs.weights:laplacian"),
            weights_file=None,
            exchange=Part("persistent", "pmgt_mpi.gossip.exchange:PersistentExchange"),
        ),
        data=DataPlan(
            source=Part(
                "bernoulli",
                "pmgt_mpi.data.bernoulli:Bernoulli",
                {"rows": 60, "columns": 4},
            ),
            partition="contiguous",
            scale="none",
            layout="auto",
            shares=None,
        ),
        problem=Part("ridge", "pmgt_mpi.problems.ridge:Ridge", {"l2": 0.0}),
        regularizer=Part("none", "pmgt_mpi.regularizers.none:NoRegularizer"),
        stop=Stop(relative_suboptimality=None, seconds=None),
        reference=True,
        common=Common(CHEBYSHEV, "auto", steps=1000, evaluate_every=1),
        algorithms=[
            AlgorithmPlan(
                label="nids",
                stream="nids",
                method=Part(
                    "nids", "pmgt_mpi.algorithms.nids:NIDS", {"step_size": "auto"}
                ),
                mixing=CHEBYSHEV,
                mix_rounds="auto",
                steps=1000,
                evaluate_every=1,
            )
        ],
    )


def test_run():
    plan = plan_of(run={"name": "try", "seed": 0, "dtype": "float32"})
    assert (plan.name, plan.seed, plan.dtype) == ("try", 0, "float32")


def test_network_with_options_weights_and_exchange():
    network = plan_of(
        network={
            "topology": "grid", "rows": 2, "weights": "metropolis", "exchange": "isend",
        }
    ).network  # fmt: skip
    assert network.topology.name == "grid"
    assert network.topology.options == {"rows": 2}
    assert network.weights.name == "metropolis"
    assert network.exchange.name == "isend"


@pytest.mark.parametrize(
    ("given", "topology", "file", "weights", "weights_file"),
    [
        ({}, "ring", None, "laplacian", None),
        ({"weights": "metropolis"}, "ring", None, "metropolis", None),
        ({"file": "g.edgelist"}, None, "g.edgelist", "laplacian", None),
        ({"weights_file": "W.npy"}, None, None, None, "W.npy"),
        ({"topology": "star", "weights_file": "W.npy"}, "star", None, None, "W.npy"),
        ({"file": "g", "weights_file": "W.npy"}, None, "g", None, "W.npy"),
    ],
)
def test_where_graph_and_weights_come_from(
    given, topology, file, weights, weights_file
):
    network = plan_of(network=given).network
    assert (network.topology and network.topology.name) == topology
    assert network.file == file
    assert (network.weights and network.weights.name) == weights
    assert network.weights_file == weights_file


def test_data():
    data = plan_of(
        data={
            "source": "gaussian", "condition": 10, "partition": "shuffled",
            "scale": "unit", "layout": "dense", "shares": [1, 2.5], "seed": 8,
        }
    ).data  # fmt: skip
    assert data.source.name == "gaussian"
    assert data.source.options["condition"] == 10
    assert data.source.options["rows"] == 60
    assert (data.partition, data.scale, data.layout) == ("shuffled", "unit", "dense")
    assert data.shares == [1.0, 2.5]
    assert data.seed == 8


def test_problem_and_regularizer():
    plan = plan_of(
        problem={"kind": "ridge", "l2": 1},
        regularizer={"kind": "elastic-net", "l1": 0.1, "l2": 0.2},
    )
    assert plan.problem.options == {"l2": 1.0}
    assert plan.regularizer.name == "elastic-net"
    assert plan.regularizer.options == {"l1": 0.1, "l2": 0.2}
    assert plan.accuracy is None


def test_epsilon_is_no_option_of_the_problem():
    plan = plan_of(problem={"kind": "ridge", "epsilon": 1e-3, "radius": 2})
    assert plan.accuracy == Accuracy(epsilon=1e-3, radius=2.0)
    assert plan.problem.options == {"l2": 0.0}


def test_checkpoint():
    plan = plan_of(checkpoint={"steps": 7, "minutes": 0})
    assert plan.checkpoint == CheckpointPlan(7, 0.0)
    assert plan_of().checkpoint == CheckpointPlan(0, 10.0)


def test_stop_and_evaluate():
    plan = plan_of(
        stop={"steps": 7, "gradient_mapping": 1e-3, "seconds": 2},
        evaluate={"every": 0, "reference": False},
    )
    assert plan.stop == Stop(gradient_mapping=1e-3, seconds=2.0)
    assert plan.reference is False
    assert plan.theory_bound is False
    assert plan_of(evaluate={"theory_bound": True}).theory_bound is True
    assert (plan.algorithms[0].steps, plan.algorithms[0].evaluate_every) == (7, 0)


def test_an_algorithm_may_overrule_the_sections():
    plan = plan_of(
        stop={"steps": 7},
        evaluate={"every": 3},
        mixing={"method": "plain", "rounds": 5},
        algorithm=[
            {"name": "pmgt-svrg"},
            {
                "name": "pmgt-svrg", "label": "mine", "mixing": "fastmix", "steps": 9,
                "evaluate_every": 0, "mix_rounds": 2, "step_size": 1,
            },
        ],
    )  # fmt: skip
    first, second = plan.algorithms
    assert (first.label, second.label) == ("pmgt-svrg", "mine")
    assert (first.mixing.name, second.mixing.name) == ("plain", "fastmix")
    assert (first.steps, second.steps) == (7, 9)
    assert (first.evaluate_every, second.evaluate_every) == (3, 0)
    assert first.mix_rounds == second.mix_rounds == 5
    assert first.method.options["mix_rounds"] == "section"
    assert second.method.options["mix_rounds"] == 2
    assert second.method.options["step_size"] == 1.0


def test_the_order_of_the_algorithms_is_kept():
    names = list(ALGORITHMS)[::-1]
    plan = plan_of(algorithm=[{"name": name} for name in names])
    assert [algorithm.label for algorithm in plan.algorithms] == names


def test_the_given_values_are_made_into_objects():
    plan = plan_of(algorithm=[{"name": "nids", "step_size": 0.25}])
    assert plan.algorithms[0].method.make().step_size == 0.25
    assert plan.algorithms[0].mixing.load().__name__ == "chebyshev"


def test_code_of_the_users_own(tmp_path, monkeypatch):
    (tmp_path / "my_parts.py").write_text(
        "class Mine:\n    def __init__(self, shard, collective, *, depth: int = 3):\n"
        "        self.depth = depth\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    problem = plan_of(True, problem={"kind": "my_parts:Mine"}).problem
    assert problem == Part("my_parts:Mine", "my_parts:Mine", {"depth": 3})
