"""What a config says when nothing is wrong with it: defaults, and every section."""

from __future__ import annotations

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.nids import NIDS
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import (
    AlgorithmSection,
    CheckpointSection,
    DataSection,
    EvaluateSection,
    MixingSection,
    NetworkSection,
    ProblemSection,
    RegularizerSection,
    RunSection,
    StopSection,
)
from tests.unit.config.configs import complaint, config_of


def test_defaults_of_the_smallest_config():
    config = config_of()
    assert config == Config(
        run=RunSection(
            name="run", seed=1, dtype="float64", timeout=600.0, engine="auto"
        ),
        network=NetworkSection(
            topology="ring",
            options={},
            file=None,
            weights="laplacian",
            weights_file=None,
            exchange="persistent",
            placement="auto",
            seed=None,
        ),
        mixing=MixingSection(method="chebyshev", rounds="auto"),
        data=DataSection(
            source="bernoulli",
            options={"rows": 60, "columns": 4},
            partition="contiguous",
            scale="none",
            layout="auto",
            shares=None,
            seed=None,
        ),
        problem=ProblemSection(kind="ridge", options={"l2": 0.0}),
        regularizer=RegularizerSection(kind="none", options={}),
        stop=StopSection(steps=1000, relative_suboptimality=None, seconds=None),
        evaluate=EvaluateSection(every=1, reference=True, theory_bound=False),
        checkpoint=CheckpointSection(steps=0, minutes=10.0),
        algorithm=(
            AlgorithmSection(
                name="nids",
                method=NIDS(step_size="auto"),
                label="nids",
                stream="nids",
                mixing=None,
                steps=None,
                evaluate_every=None,
            ),
        ),
    )
    assert config.folder == "/folder"


def test_run():
    run = config_of(run={"name": "try", "seed": 0, "dtype": "float32"}).run
    assert (run.name, run.seed, run.dtype) == ("try", 0, "float32")


def test_network_with_options_weights_and_exchange():
    network = config_of(
        network={
            "topology": "grid", "rows": 2, "weights": "metropolis", "exchange": "isend",
        }
    ).network  # fmt: skip
    assert network.topology == "grid"
    assert network.options == {"rows": 2}
    assert network.weights == "metropolis"
    assert network.exchange == "isend"


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
    network = config_of(network=given).network
    assert network.topology == topology
    assert network.file == file
    assert network.weights == weights
    assert network.weights_file == weights_file


def test_data():
    data = config_of(
        data={
            "source": "gaussian", "condition": 10, "partition": "shuffled",
            "scale": "unit", "layout": "dense", "shares": [1, 2.5], "seed": 8,
        }
    ).data  # fmt: skip
    assert data.source == "gaussian"
    assert data.options["condition"] == 10
    assert data.options["rows"] == 60
    assert (data.partition, data.scale, data.layout) == ("shuffled", "unit", "dense")
    assert data.shares == [1.0, 2.5]
    assert data.seed == 8


def test_problem_and_regularizer():
    config = config_of(
        problem={"kind": "ridge", "l2": 1},
        regularizer={"kind": "elastic-net", "l1": 0.1, "l2": 0.2},
    )
    assert config.problem.options == {"l2": 1.0}
    assert config.regularizer.kind == "elastic-net"
    assert config.regularizer.options == {"l1": 0.1, "l2": 0.2}
    assert config.problem.epsilon is None


def test_epsilon_is_no_option_of_the_problem():
    problem = config_of(problem={"kind": "ridge", "epsilon": 1e-3, "radius": 2}).problem
    assert (problem.epsilon, problem.radius) == (1e-3, 2.0)
    assert problem.options == {"l2": 0.0}


def test_checkpoint():
    config = config_of(checkpoint={"steps": 7, "minutes": 0})
    assert config.checkpoint == CheckpointSection(steps=7, minutes=0.0)
    assert config_of().checkpoint == CheckpointSection(steps=0, minutes=10.0)


def test_stop_and_evaluate():
    config = config_of(
        stop={"steps": 7, "gradient_mapping": 1e-3, "seconds": 2},
        evaluate={"every": 0, "reference": False},
    )
    assert config.stop == StopSection(steps=7, gradient_mapping=1e-3, seconds=2.0)
    assert config.evaluate.reference is False
    assert config.evaluate.theory_bound is False
    assert config_of(evaluate={"theory_bound": True}).evaluate.theory_bound is True
    assert config.steps(config.algorithm[0]) == 7
    assert config.every(config.algorithm[0]) == 0


def test_an_algorithm_may_overrule_the_sections():
    config = config_of(
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
    first, second = config.algorithm
    assert (first.label, second.label) == ("pmgt-svrg", "mine")
    mixings = [config.mixing_of(one).__name__ for one in config.algorithm]
    assert mixings == ["plain", "fastmix"]
    assert [config.steps(one) for one in config.algorithm] == [7, 9]
    assert [config.every(one) for one in config.algorithm] == [3, 0]
    assert config.mixing.rounds == 5
    assert first.method.mix_rounds == "section"
    assert second.method.mix_rounds == 2
    assert second.method.step_size == 1.0


def test_the_order_of_the_algorithms_is_kept():
    names = list(ALGORITHMS)[::-1]
    config = config_of(algorithm=[{"name": name} for name in names])
    assert [section.label for section in config.algorithm] == names


def test_the_given_values_are_made_into_objects():
    config = config_of(algorithm=[{"name": "nids", "step_size": 0.25}])
    (section,) = config.algorithm
    assert section.method.step_size == 0.25
    assert config.mixing_of(section).__name__ == "chebyshev"


def test_code_of_the_users_own(tmp_path, monkeypatch):
    (tmp_path / "my_parts.py").write_text(
        "class Mine:\n    def __init__(self, shard, collective, *, depth: int = 3):\n"
        "        self.depth = depth\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    problem = config_of(True, problem={"kind": "my_parts:Mine"}).problem
    assert problem == ProblemSection(kind="my_parts:Mine", options={"depth": 3})
    assert problem.make(None, None).depth == 3


@pytest.mark.parametrize("kw_only", [True, False])
def test_every_field_of_a_dataclass_is_a_key(tmp_path, monkeypatch, kw_only):
    (tmp_path / f"my_method_{kw_only}.py").write_text(
        "from dataclasses import dataclass\n"
        f"@dataclass(frozen=True, kw_only={kw_only})\n"
        "class Mine:\n    step_size: float = 0.5\n    depth: int = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    name = f"my_method_{kw_only}:Mine"
    (section,) = config_of(True, algorithm=[{"name": name, "depth": 4}]).algorithm
    assert (section.method.step_size, section.method.depth) == (0.5, 4)


def test_an_algorithm_must_be_a_dataclass(tmp_path, monkeypatch):
    (tmp_path / "my_class.py").write_text("class Mine:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert complaint(True, algorithm=[{"name": "my_class:Mine"}]) == (
        "[[algorithm]] number 0 algorithm 'my_class:Mine' is no dataclass; expected a "
        "frozen one with init, step and solution, whose fields are its parameters"
    )
