"""Reading a config file, and writing it back resolved."""

from __future__ import annotations

import tomllib

import pytest
import tomli_w

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.read import check_config, read_config, read_toml
from pmgt_mpi.config.write import toml_values
from pmgt_mpi.errors import UserError
from tests.launcher import ROOT
from tests.support.methods import ON_NETWORKS, TRAITS
from tests.unit.config.configs import config, config_of


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(tomli_w.dumps(config(run={"name": "filed"})))
    return path


def test_a_file_gives_its_values_and_its_folder(file, monkeypatch):
    assert read_config(file).folder == str(file.parent)
    monkeypatch.chdir(file.parent)
    config = read_config(file.relative_to(file.parent))
    assert config.folder == str(file.parent)
    assert config.run.name == "filed"


def test_a_folder_whose_name_is_no_text(tmp_path):
    """The config of a run is written, with the paths of its files."""
    folder = tmp_path / "lat\udce9"
    folder.mkdir()
    (folder / "a.csv").touch()
    values = config() | {"data": {"source": "csv", "path": "a.csv"}}
    (folder / "c.toml").write_text(tomli_w.dumps(values))
    written = tomli_w.dumps(toml_values(read_config(folder / "c.toml"))).encode()
    assert tomllib.loads(written.decode())["data"]["path"] == "a.csv"


def test_a_file_with_overrides(file):
    config = read_config(file, ["run.seed=9", "algorithm.0.step_size=0.5"])
    assert config.run.seed == 9
    assert config.algorithm[0].method == ALGORITHMS.load("nids")(step_size=0.5)


def test_a_wrong_key_names_the_file(file):
    with pytest.raises(UserError) as error:
        read_config(file, ["run.sed=9"])
    assert str(error.value).startswith(f"{file}: [run] has no key 'sed'")


def test_files_that_cannot_be_read(tmp_path):
    def complaint(path):
        with pytest.raises(UserError) as error:
            read_toml(path)
        return str(error.value)

    missing = tmp_path / "none.toml"
    assert complaint(missing) == f"config file {missing} does not exist"
    assert complaint(tmp_path) == (
        f"cannot read the config file {tmp_path}: [Errno 21] Is a directory: "
        f"'{tmp_path}'"
    )
    bad = tmp_path / "bad.toml"
    bad.write_text("[run]\nname = \n")
    assert complaint(bad) == (
        f"{bad} is not valid TOML: Invalid value (at line 2, column 8)"
    )
    bad.write_text(f"[run]\nseed = {'1' * 5000}\n")
    assert complaint(bad).startswith(f"{bad} is not valid TOML: Exceeds the limit")
    bad.write_text(f"[run]\nseed = 0x{'f' * 5000}\n")  # of these TOML takes any length
    with pytest.raises(UserError) as error:
        read_config(bad)
    assert str(error.value) == f"{bad}: [run] seed {TOO_LARGE}"
    bad.write_text("x = " + "[" * 5000)
    assert complaint(bad).startswith(f"{bad} is not valid TOML: ")
    bad.write_bytes(b"name = '\xff'")
    assert complaint(bad).startswith(f"cannot read the config file {bad}: 'utf-8'")


TOO_LARGE = (
    "holds an integer of more than 64 bits; expected numbers up to "
    "9223372036854775807 in size"
)


@pytest.mark.parametrize(
    "number", [f"0x{'f' * 5000}", f"0o{'7' * 9999}", str(2**63), str(10**30)]
)
@pytest.mark.parametrize(
    ("key", "where"),
    [
        ("stop.steps", "[stop] steps"),
        ("stop.seconds", "[stop] seconds"),
        ("data.rows", "[data] rows"),
        ("data.shares", "[data] shares"),
        ("mixing.rounds", "[mixing] rounds"),
        ("problem.l2", "[problem] l2"),
        ("problem.kind", "[problem] kind"),
        ("run.name", "[run] name"),
        ("run.seed", "[run] seed"),
        ("algorithm.0.step_size", "[[algorithm]] number 0 step_size"),
        ("algorithm.0.name", "[[algorithm]] number 0 name"),
    ],
)
def test_integers_beyond_64_bits_are_refused(file, key, where, number):
    for value in (number, f"[1, {number}]", f"[{{x = 1}}, {number}]"):
        with pytest.raises(UserError) as error:
            read_config(file, [f"{key}={value}"])
        assert str(error.value) == f"{file}: {where} {TOO_LARGE}"


@pytest.mark.parametrize(
    "assignment",
    [
        "stop.steps=" + "1" * 5000,
        "x" * 5000,
        "run.name=/" + "x" * 5000,
        "problem.kind=" + "x" * 5000,
        "problem.kind=a:" + "x" * 5000,
        'algorithm.0.label="' + r"\u001b" * 999 + '"',
    ],
    ids=lambda text: text[:20],
)
def test_what_is_long_is_told_shortened(file, assignment):
    with pytest.raises(UserError) as error:
        read_config(file, [assignment])
    assert len(str(error.value)) < 500 + len(str(file))


@pytest.mark.parametrize("value", [0, 2**63 - 1])
def test_the_largest_seed_is_one_that_a_config_can_hold(value):
    config = config_of(run={"seed": value})
    written = tomli_w.dumps(toml_values(config))
    assert check_config(tomllib.loads(written), "again", "/folder") == config


ROUND_TRIPS = {
    "smallest": {},
    "all algorithms": {"algorithm": [{"name": name} for name in ALGORITHMS]},
    "run": {"run": {"name": "ünï", "seed": 2**40, "dtype": "float32"}},
    "topology with options": {"network": {"topology": "grid", "rows": 2}},
    "drawn graph": {"network": {"topology": "erdos-renyi", "probability": 0.5}},
    "graph of a file": {"network": {"file": "g.graphml", "weights": "best-constant"}},
    "matrix of a file": {"network": {"weights_file": "W.npy", "exchange": "isend"}},
    "graph and matrix": {"network": {"topology": "star", "weights_file": "W.npy"}},
    "mixing": {"mixing": {"method": "fastmix", "rounds": 3}},
    "theory": {"mixing": {"rounds": "theory"}},
    "gaussian": {"data": {"source": "gaussian", "spectrum": [3.0, 2.0, 1.0, 0.5]}},
    "data": {
        "data": {"shares": [1, 2], "partition": "by-label", "scale": "minmax",
                 "layout": "sparse", "seed": 8},
        "network": {"topology": "two-neighbours", "seed": 7},
    },
    "pca": {"problem": {"kind": "shift-invert-pca", "ratio": 300}},
    "epsilon": {"problem": {"kind": "ridge", "epsilon": 1e-3}},
    "radius": {"problem": {"kind": "logistic", "epsilon": 1e-3, "radius": 5}},
    "l1": {"regularizer": {"kind": "l1", "strength": 1e-4}},
    "half a box": {"regularizer": {"kind": "box", "lower": 0.0}},
    "stop": {"stop": {"steps": 3, "seconds": 1, "relative_suboptimality": 1e-12}},
    "evaluate": {"evaluate": {"every": 0, "reference": False}},
    "bound": {"evaluate": {"theory_bound": True}},
    "algorithms of their own": {
        "stop": {"steps": 3},
        "evaluate": {"every": 2},
        "algorithm": [
            {"name": "pmgt-katyushax", "mixing": "plain", "steps": 5,
             "evaluate_every": 0, "momentum": 0.5, "batch_size": 3},
            {"name": "nids"},
            {"name": "nids", "label": "other", "step_size": "theory", "steps": 1},
        ],
    },
}  # fmt: skip


@pytest.mark.parametrize("case", ROUND_TRIPS)
def test_what_is_written_is_read_as_an_equal_config(case):
    config = config_of(**ROUND_TRIPS[case])
    written = tomli_w.dumps(toml_values(config))
    assert check_config(tomllib.loads(written), "again", "/folder") == config


def test_a_file_source_is_written():
    values = config()
    values["data"] = {"source": "csv", "path": "a.csv", "delimiter": "\t"}
    checked = check_config(values, "c.toml", "/folder")
    sections = toml_values(checked)
    assert sections["data"]["header"] is False
    assert "label_column" not in sections["data"], "TOML has no null"
    assert check_config(sections, "again", "/folder") == checked


def test_every_default_is_written_out():
    sections = toml_values(config_of(algorithm=[{"name": "pmgt-katyushax"}]))
    assert list(sections) == [
        "run", "network", "mixing", "data", "problem", "regularizer", "stop",
        "evaluate", "checkpoint", "cost", "algorithm",
    ]  # fmt: skip
    assert sections["algorithm"] == [
        {
            "name": "pmgt-katyushax", "batch_size": "auto", "step_size": "auto",
            "momentum": "auto", "mix_rounds": "section", "label": "pmgt-katyushax",
            "stream": "pmgt-katyushax", "guard": "auto",
        }
    ]  # fmt: skip
    assert sections["stop"] == {"steps": 1000}
    assert sections["problem"] == {"kind": "ridge", "l2": 0.0}


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "configs/every-method").iterdir()),
    ids=lambda path: path.stem,
)
def test_a_config_of_every_method_has_every_method_that_it_can(path):
    config = read_config(path)
    plain = config.regularizer.kind == "none"
    convex = config.problem.kind != "shift-invert-pca"
    assert [one.name for one in config.algorithm] == [
        name
        for name in ON_NETWORKS
        if (plain or TRAITS[name].proximal) and (convex or not TRAITS[name].linear)
    ]
    for one in config.algorithm:
        assert one.method == ALGORITHMS.load(one.name)(), "not everything is auto"


def test_the_sections_that_all_share_do_not_come_from_the_first_algorithm():
    written = config_of(algorithm=[{"name": "nids", "steps": 7}, {"name": "pg-extra"}])
    again = check_config(toml_values(written), "c.toml", "/folder")
    assert [again.steps(one) for one in again.algorithm] == [7, 1000]


OF_0_1 = """
[run]
name = "small"
seed = 1
dtype = "float64"
timeout = 600.0
engine = "python"

[network]
topology = "ring"
weights = "laplacian"
exchange = "persistent"
placement = "auto"

[mixing]
method = "chebyshev"
rounds = "auto"

[data]
source = "gaussian"
rows = 200
columns = 5
condition = 1.0
decay = "geometric"
rotate = true
labels = "linear"
noise = 0.1
heterogeneity = 0.0
partition = "contiguous"
scale = "none"
layout = "auto"

[problem]
kind = "ridge"
l2 = 0.01

[regularizer]
kind = "l1"
strength = 0.001

[stop]
steps = 30

[evaluate]
every = 1
reference = true
theory_bound = false

[checkpoint]
steps = 10
minutes = 10.0

[[algorithm]]
name = "pmgt-katyushax"
batch_size = "sqrt"
step_size = "auto"
momentum = "auto"
mix_rounds = "section"
label = "pmgt-katyushax"
stream = "pmgt-katyushax"

[[algorithm]]
name = "nids"
step_size = "auto"
label = "nids"
stream = "nids"
"""
"""What version 0.1 has written into a run folder, as it stood there."""


def test_a_config_of_version_0_1_is_read_with_the_same_values():
    values = tomllib.loads(OF_0_1)
    now = toml_values(check_config(values, "c.toml", "/folder"))
    for name, section in values.items():
        many = (now[name], section) if name == "algorithm" else ([now[name]], [section])
        for one, old in zip(*many, strict=True):
            assert {key: one[key] for key in old} == old
