"""Writing any valid config and reading it again gives an equal one."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.compare import differences, with_numbers
from pmgt_mpi.config.read import check_config
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.write import toml_values
from pmgt_mpi.data import PARTITIONS, SCALINGS
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.graphs import WEIGHTS

positive = st.floats(1e-12, 1e12)
seeds = st.integers(0, 2**62)
counts = st.integers(1, 2**40)
text = st.text(
    st.characters(
        codec="utf-8", categories=["L", "N", "P", "S"], exclude_characters="/"
    ),
    min_size=1,
    max_size=12,
).filter(lambda s: s.isprintable() and not s.startswith(".") and s != "reference")
names = text.filter(lambda s: not s.endswith(".npy"))
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
cadences = st.integers(0, 2**40) | st.just("auto")

METHODS = {
    "nids": {"step_size": positive | st.sampled_from(["auto", "theory"])},
    "pg-extra": {"step_size": positive | st.sampled_from(["auto", "theory"])},
    "pmgt-katyushax": {
        "step_size": positive | st.sampled_from(["auto", "theory"]),
        "momentum": st.floats(1e-9, 1.0) | st.sampled_from(["auto", "theory"]),
        "batch_size": counts | st.just("sqrt"),
        "mix_rounds": st.integers(1, 10**6)
        | st.sampled_from(["auto", "theory", "section"]),
    },
}


def some(keys: dict[str, Any], **needed: Any) -> st.SearchStrategy[dict[str, Any]]:
    """A section with some of the keys."""
    return st.fixed_dictionaries(needed, optional=keys)


def algorithm(name: str) -> st.SearchStrategy[dict[str, Any]]:
    own = {
        "stream": names,
        "mixing": st.sampled_from(list(MIXINGS)),
        "steps": counts,
        "evaluate_every": cadences,
    }
    return some({**METHODS.get(name, {}), **own}, name=st.just(name))


def labelled(sections: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**one, "label": f"{i} {one['name']}"} for i, one in enumerate(sections)]


network = st.one_of(
    some({"topology": st.sampled_from(["ring", "star", "complete"])}),
    some({"rows": st.integers(1, 99)}, topology=st.just("grid")),
    some({}, topology=st.just("erdos-renyi"), probability=st.floats(0.01, 1)),
    some({}, file=paths),
    some({}, weights_file=paths),
)
data = st.one_of(
    some({}, source=st.just("bernoulli"), rows=counts, columns=counts),
    some({"label_column": st.integers(-9, 9)}, source=st.just("npy"), path=paths),
    some(
        {"header": st.booleans(), "delimiter": st.sampled_from([",", ";", "\t"])},
        source=st.just("csv"),
        path=paths,
    ),
)
problem = st.one_of(
    some({"l2": st.floats(0, 1e9)}, kind=st.just("ridge")),
    some({"ratio": positive}, kind=st.just("shift-invert-pca")),
)
regularizer = st.one_of(
    some({}, kind=st.just("none")),
    some({}, kind=st.just("elastic-net"), l1=positive, l2=positive),
    some({"lower": st.floats(-9, 0), "upper": st.floats(0, 9)}, kind=st.just("box")),
)


@st.composite
def configs(draw: Any) -> dict[str, Any]:
    """TOML values of a config that is valid."""
    values = {
        "run": draw(
            some(
                {
                    "name": names,
                    "seed": seeds,
                    "dtype": st.sampled_from(["float64", "float32"]),
                    "timeout": positive,
                    "engine": st.sampled_from(["auto", "python", "compiled"]),
                }
            )
        ),
        "network": {
            **draw(network),
            **draw(
                some(
                    {
                        "exchange": st.sampled_from(list(EXCHANGES)),
                        "placement": st.sampled_from(["auto", "none", [0, 2, 1]]),
                        "seed": seeds,
                    }
                )
            ),
        },
        "mixing": draw(
            some(
                {
                    "method": st.sampled_from(list(MIXINGS)),
                    "rounds": st.integers(1, 10**6)
                    | st.sampled_from(["auto", "theory"]),
                }
            )
        ),
        "data": {
            **draw(data),
            **draw(
                some(
                    {
                        "partition": st.sampled_from(list(PARTITIONS)),
                        "scale": st.sampled_from(list(SCALINGS)),
                        "layout": st.sampled_from(["auto", "dense", "sparse"]),
                        "shares": st.lists(positive, min_size=1, max_size=4),
                        "seed": seeds,
                    }
                )
            ),
        },
        "problem": {
            **draw(problem),
            **draw(
                st.sampled_from([{}, {"epsilon": 1e-3}, {"epsilon": 1, "radius": 2}])
            ),
        },
        "regularizer": draw(regularizer),
        "stop": draw(
            some({"steps": counts, "gradient_mapping": positive, "seconds": positive})
        ),
        "evaluate": draw(some({"every": cadences, "reference": st.booleans()})),
        "checkpoint": draw(
            some({"steps": st.integers(0, 2**40), "minutes": st.floats(0, 1e6)})
        ),
        "algorithm": labelled(
            draw(
                st.lists(
                    st.sampled_from(list(ALGORITHMS)).flatmap(algorithm),
                    min_size=1,
                    max_size=3,
                )
            )
        ),
    }
    if "weights_file" not in values["network"] and draw(st.booleans()):
        values["network"]["weights"] = draw(st.sampled_from(list(WEIGHTS)))
    return values


def read(values: dict[str, Any], folder: str) -> Config:
    return check_config(values, "c.toml", folder)


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
)
@given(values=configs(), numbers=st.lists(positive, min_size=3, max_size=3))
def test_what_is_written_is_read_as_an_equal_config(values, numbers):
    config = read(values, "/nowhere")
    written = tomli_w.dumps(toml_values(config))
    again = read(tomllib.loads(written), "/elsewhere")
    assert again == config
    assert differences(config, config, again) == []
    # With numbers in the place of words, as a run leaves it.
    resolved = replace(
        config,
        run=replace(config.run, engine="python"),
        algorithm=tuple(
            replace(one, method=replace(one.method, step_size=step), evaluate_every=7)
            if hasattr(one.method, "step_size")
            else one
            for one, step in zip(config.algorithm, numbers, strict=False)
        ),
    )
    written = tomli_w.dumps(toml_values(resolved))
    assert read(tomllib.loads(written), "/elsewhere") == resolved
    assert with_numbers(config, resolved).algorithm == resolved.algorithm
    assert differences(config, resolved, resolved) == []
