"""Overriding a config's keys with ``--set``."""

from __future__ import annotations

import pytest
import tomli_w

from pmgt_mpi.config.overrides import override
from pmgt_mpi.config.read import check_config, read_config
from pmgt_mpi.config.write import toml_values
from pmgt_mpi.errors import UserError
from tests.unit.config.configs import config, config_of


@pytest.mark.parametrize(
    ("assignment", "section", "key", "value"),
    [
        ("run.name=quick", "run", "name", "quick"),
        ("run.name='a = b'", "run", "name", "a = b"),
        ('run.name="3"', "run", "name", "3"),
        ("run.name=a=b", "run", "name", "a=b"),
        ("run.name=", "run", "name", ""),
        ("run.seed=3", "run", "seed", 3),
        (" stop.seconds = 1e-3 ", "stop", "seconds", 1e-3),
        ("stop.seconds=inf", "stop", "seconds", float("inf")),
        ("data.shares=[1, 2.5]", "data", "shares", [1, 2.5]),
        ("evaluate.reference=false", "evaluate", "reference", False),
        ("problem.kind=my.module:Class", "problem", "kind", "my.module:Class"),
        ("data.path=rows-1.npy", "data", "path", "rows-1.npy"),
    ],
)
def test_an_override_is_a_toml_value_or_else_a_string(assignment, section, key, value):
    values = config()
    override(values, [assignment])
    assert values[section][key] == value
    assert type(values[section][key]) is type(value)


def test_overrides_leave_the_rest_and_the_last_one_counts():
    values = config(algorithm=[{"name": "nids"}, {"name": "pg-extra"}])
    override(values, ["algorithm.1.label=b", "run.seed=1", "run.seed=2"])
    assert values["algorithm"] == [{"name": "nids"}, {"name": "pg-extra", "label": "b"}]
    assert values["run"] == {"seed": 2}
    assert values["data"] == config()["data"]


@pytest.mark.parametrize(
    ("assignment", "text"),
    [
        ("stop", "expected section.key=value, such as stop.steps=10"),
        ("stop.steps", "expected section.key=value, such as stop.steps=10"),
        ("stop=3", "expected section.key=value, such as stop.steps=10"),
        (
            "algorithm.step_size=3",
            "expected algorithm.NUMBER.key=value with a number from 0 to 1",
        ),
        (
            "algorithm.2.step_size=3",
            "expected algorithm.NUMBER.key=value with a number from 0 to 1",
        ),
        (
            "algorithm.-1.step_size=3",
            "expected algorithm.NUMBER.key=value with a number from 0 to 1",
        ),
        (
            "algorithm.1=3",
            "expected algorithm.NUMBER.key=value with a number from 0 to 1",
        ),
        (
            "algorithm.².x=3",
            "expected algorithm.NUMBER.key=value with a number from 0 to 1",
        ),
        ("run.name=x", "'run' is not a section"),
        ("algorithm.0.stream=\udcff", "expected text in UTF-8, as a config is"),
        ("data.\udcff=1", "expected text in UTF-8, as a config is"),
    ],
)
def test_overrides_of_a_wrong_form(assignment, text):
    values = config(run=3, algorithm=[{"name": "nids"}, {"name": "pg-extra"}])
    with pytest.raises(UserError) as error:
        override(values, [assignment])
    assert str(error.value) == f"--set {assignment}: {text}"


def test_what_a_user_sets_wins_in_a_written_config():
    written = config_of(
        algorithm=[
            {"name": "nids"},
            {"name": "pg-extra", "steps": 7, "mixing": "plain"},
        ]
    )
    values = toml_values(written)
    override(values, ["stop.steps=5", "evaluate.every=2", "mixing.method=fastmix"])
    again = check_config(values, "c.toml", "/folder")
    told = [
        (again.steps(one), again.every(one), again.mixing_of(one).__name__)
        for one in again.algorithm
    ]
    assert told == [(5, 2, "fastmix"), (7, 2, "plain")]


@pytest.mark.parametrize(
    ("key", "own", "value"),
    [
        ("stop.steps", "steps", 7),
        ("evaluate.every", "evaluate_every", 7),
        ("mixing.method", "mixing", "plain"),
        ("mixing.rounds", "mix_rounds", 7),
    ],
)
def test_what_a_user_sets_is_refused_where_every_algorithm_has_its_own(
    tmp_path, key, own, value
):
    path = tmp_path / "c.toml"

    def read(*own_values):
        sections = [
            {"name": "pmgt-katyushax", "label": str(k), **({own: v} if v else {})}
            for k, v in enumerate(own_values)
        ]
        path.write_text(tomli_w.dumps(config(algorithm=sections)))
        assignment = f"{key}={'fastmix' if own == 'mixing' else 3}"
        return read_config(path, [assignment])

    assert len(read(None, value).algorithm) == 2
    assert len(read(None, None).algorithm) == 2
    with pytest.raises(UserError) as error:
        read(value, value)
    assert str(error.value) == (
        f"{path}: --set {key}={'fastmix' if own == 'mixing' else 3} would change "
        f"nothing, as every algorithm that takes {key} has its own {own} here; set "
        f"algorithm.NUMBER.{own}, or take the config from which the run was started "
        "(asked.toml in its folder)"
    )


def test_methods_without_a_mix_take_no_part_in_that(tmp_path):
    path = tmp_path / "c.toml"
    sections = [{"name": "nids"}, {"name": "pmgt-svrg", "mix_rounds": 4}]
    path.write_text(tomli_w.dumps(config(algorithm=sections)))
    with pytest.raises(UserError, match="every algorithm that takes"):
        read_config(path, ["mixing.rounds=3"])
    path.write_text(tomli_w.dumps(config()))
    assert read_config(path, ["mixing.rounds=3"]).mixing.rounds == 3
