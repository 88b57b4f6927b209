"""What a config says when something is wrong with it, word for word."""

from __future__ import annotations

import pytest

from pmgt_mpi.algorithms import METHODS
from tests.unit.config.configs import complaint

nan, inf = float("nan"), float("inf")
ALGORITHM = "[[algorithm]] number 0"
RUN = "[run]"


@pytest.mark.parametrize(
    ("section", "keys", "text"),
    [
        (
            "run",
            {"sed": 3},
            "[run] has no key 'sed'; did you mean 'seed'? "
            "valid: name, seed, dtype, timeout, engine",
        ),
        (
            "data",
            {"rws": 3},
            "[data] (bernoulli) has no key 'rws'; did you mean 'rows'? valid: rows, "
            "columns, source, partition, scale, layout, shares, seed",
        ),
        (
            "network",
            {"rows": 3},
            "[network] has no key 'rows'; valid: topology, file, weights, weights_file,"
            " exchange, placement, seed",
        ),
        (
            "problem",
            {"zzz": 3},
            "[problem] (ridge) has no key 'zzz'; valid: l2, kind, epsilon, radius",
        ),
        (
            "problem",
            {"epsilon": 0},
            "[problem] (ridge) epsilon = 0: expected greater than 0",
        ),
        (
            "problem",
            {"radius": 3.0},
            "[problem] radius = 3 bounds ‖x*‖ for epsilon, which is not given; add "
            "epsilon, or leave radius out",
        ),
        (
            "regularizer",
            {"kind": "l1"},
            "[regularizer] (l1) needs the key 'strength'",
        ),
        (
            "regularizer",
            {},
            "[regularizer] kind is missing; valid: none, l1, l2, elastic-net, box",
        ),
        (
            "data",
            {"source": 3},
            "[data] source = 3 is not a name; valid: bernoulli, gaussian, npy, libsvm, "
            "csv",
        ),
    ],
)
def test_keys(section, keys, text):
    assert complaint(**{section: keys}) == text


@pytest.mark.parametrize(
    ("section", "key", "value", "expected"),
    [
        ("run", "name", 3, "a valid string"),
        ("run", "seed", -1, "greater than or equal to 0"),
        ("run", "seed", 1.0, "a valid integer"),
        ("run", "dtype", "float16", "'float64' or 'float32'"),
        ("stop", "steps", True, "a valid integer"),
        ("stop", "steps", 0, "greater than or equal to 1"),
        ("stop", "steps", 1.5, "a valid integer"),
        ("stop", "seconds", 0, "greater than 0"),
        ("stop", "seconds", "1", "a valid number"),
        ("stop", "seconds", inf, "a finite number"),
        ("stop", "relative_suboptimality", nan, "a finite number"),
        ("evaluate", "every", -1, "greater than or equal to 0 or 'auto'"),
        ("evaluate", "reference", 1, "a valid boolean"),
        ("mixing", "method", 3, "a valid string"),
        ("mixing", "rounds", 0, "greater than or equal to 1 or 'auto' or 'theory'"),
        ("stop", "steps", 10**18, "less than or equal to 9007199254740992"),
        (
            "mixing",
            "rounds",
            10**18,
            "less than or equal to 1000000 or 'auto' or 'theory'",
        ),
        ("mixing", "rounds", "x", "a valid integer or 'auto' or 'theory'"),
        ("network", "file", 3, "a valid string"),
    ],
)
def test_values(section, key, value, expected):
    text = complaint(**{section: {key: value}})
    assert text == f"[{section}] {key} = {value!r}: expected {expected}"


@pytest.mark.parametrize(
    ("section", "keys", "text"),
    [
        ("data", {"rows": 0}, "(bernoulli) rows = 0: expected greater than or equal"),
        ("data", {"layout": "x"}, "expected 'auto', 'dense' or 'sparse'"),
        ("data", {"shares": 3}, "shares = 3: expected a valid list"),
        ("data", {"shares": [1, -1]}, "shares = -1: expected greater than 0"),
        ("problem", {"l2": -1}, "(ridge) l2 = -1: expected greater than or equal to 0"),
        (
            "network",
            {"topology": "grid", "rows": "x"},
            "(grid) rows = 'x': expected a valid integer or 'auto'",
        ),
    ],
)
def test_values_of_options(section, keys, text):
    assert text in complaint(**{section: keys})


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"step_size": "aut"},
            "(pmgt-katyushax) step_size = 'aut': expected a valid number or 'auto' or "
            "'theory'",
        ),
        (
            {"step_size": nan},
            "(pmgt-katyushax) step_size = nan: expected a finite number or 'auto' or "
            "'theory'",
        ),
        (
            {"step_size": True},
            "(pmgt-katyushax) step_size = True: expected a valid number or 'auto' or "
            "'theory'",
        ),
        (
            {"momentum": 1.5},
            "(pmgt-katyushax) momentum = 1.5: expected less than or equal to 1 or "
            "'auto' or 'theory'",
        ),
        (
            {"batch_size": 1.5},
            "(pmgt-katyushax) batch_size = 1.5: expected a valid integer or 'auto' or "
            "'sqrt'",
        ),
        (
            {"batch_size": "theory"},
            "(pmgt-katyushax) batch_size = 'theory': expected a valid integer or "
            "'auto' or 'sqrt'",
        ),
        (
            {"mix_rounds": 0},
            "(pmgt-katyushax) mix_rounds = 0: expected greater than or equal to 1 or "
            "'auto', 'theory' or 'section'",
        ),
        (
            {"steps": 0},
            "(pmgt-katyushax) steps = 0: expected greater than or equal to 1",
        ),
        (
            {"mixing": "x"},
            "unknown mixing 'x'; valid: fastmix, fastmix-optimal, chebyshev, plain, "
            "server",
        ),
    ],
)
def test_options_of_an_algorithm(options, text):
    section = {"name": "pmgt-katyushax", **options}
    assert complaint(algorithm=[section]) == f"{ALGORITHM} {text}"


@pytest.mark.parametrize(
    ("section", "keys", "text"),
    [
        ("data", {"source": "cvs"}, "[data] unknown data source 'cvs'; did you mean "),
        ("data", {"partition": "shuffle"}, "[data] unknown partition 'shuffle'; did "),
        ("data", {"scale": "min-max"}, "[data] unknown scaling 'min-max'; did you "),
        ("problem", {"kind": "rigde"}, "[problem] unknown problem 'rigde'; did you "),
        ("mixing", {"method": "cheby"}, "[mixing] unknown mixing 'cheby'; did you "),
        ("network", {"weights": "lap"}, "[network] unknown weights 'lap'; valid: lap"),
        ("network", {"exchange": "x"}, "[network] unknown exchange 'x'; valid: isend"),
        ("network", {"topology": "rign"}, "[network] unknown graph 'rign'; did you "),
        ("regularizer", {"kind": "l3"}, "[regularizer] unknown regularizer 'l3'; "),
    ],
)
def test_names(section, keys, text):
    assert complaint(**{section: keys}).startswith(text)


def test_several_keys_are_wrong_the_unknown_ones_first():
    text = complaint(data={"rows": "a", "columns": -1, "foo": 3, "bar": 2})
    assert text == (
        "[data] (bernoulli) has no key 'foo'; valid: rows, columns, source, partition, "
        "scale, layout, shares, seed (wrong too: bar, rows, columns)"
    )
    text = complaint(stop={"steps": 0, "seconds": -1, "relative_suboptimality": 0})
    assert text == (
        "[stop] steps = 0: expected greater than or equal to 1 (wrong too: "
        "relative_suboptimality, seconds)"
    )


def test_a_misspelt_key_is_told_before_the_one_that_is_missed():
    text = complaint(regularizer={"kind": "l1", "strenght": 0.1})
    assert text == (
        "[regularizer] (l1) has no key 'strenght'; did you mean 'strength'? valid: "
        "strength, kind (wrong too: strength)"
    )


def test_unknown_section():
    assert complaint(stopp={}) == (
        "unknown section [stopp]; did you mean 'stop'? valid: run, network, mixing, "
        "data, problem, regularizer, stop, evaluate, checkpoint, cost, "
        "algorithm"
    )


@pytest.mark.parametrize(
    "section",
    ["run", "network", "mixing", "data", "problem", "regularizer", "stop", "evaluate"],
)
@pytest.mark.parametrize("value", [3, "x", [{"kind": "ridge"}]])
def test_a_section_that_is_none(section, value):
    text = complaint(**{section: value})
    assert text == f"[{section}] must be a section with keys, not {value!r}"


@pytest.mark.parametrize("value", [[], {"name": "nids"}, "nids", None])
def test_no_algorithm(value):
    assert complaint(algorithm=value) == (
        "no algorithm is listed; add a section [[algorithm]] with name = one of "
        + ", ".join(METHODS)
    )


def test_an_algorithm_that_is_no_section_or_has_no_name():
    assert complaint(algorithm=[{"name": "nids"}, 3]) == (
        "[[algorithm]] number 1 must be a section with keys, not 3"
    )
    assert complaint(algorithm=[{"step_size": 1}]) == (
        f"{ALGORITHM} name is missing; valid: {', '.join(METHODS)}"
    )


@pytest.mark.parametrize("key", ["relative_suboptimality", "epsilon"])
def test_a_reason_to_stop_that_cannot_come(key):
    text = complaint(stop={key: 0.001}, evaluate={"reference": False})
    assert text == (
        f"[stop] {key} = 0.001 needs the minimiser, and [evaluate] reference = false; "
        "set reference = true, or stop by gradient_mapping, steps, seconds or "
        "wall_seconds"
    )


def test_two_algorithms_of_one_label():
    text = (
        "2 algorithms have the label 'nids', which names them in the log; give each "
        "a label of its own"
    )
    assert complaint(algorithm=[{"name": "nids"}, {"name": "nids"}]) == text
    other = {"name": "pg-extra", "label": "nids"}
    assert complaint(algorithm=[{"name": "nids"}, other]) == text


@pytest.mark.parametrize("label", ["reference", "a/agents", "a.npy"])
def test_labels_that_solution_npz_needs_itself(label):
    assert complaint(algorithm=[{"name": "nids", "label": label}]) == (
        f"{ALGORITHM} label = '{label}': solution.npz uses 'reference' and names with "
        "a '/' for other arrays, and takes '.npy' off a name; choose another label"
    )


@pytest.mark.parametrize("text", ["a\x00", "\x1b[31mred", "two\nlines", "\u202e", " "])
def test_labels_and_names_that_cannot_be_printed(text):
    expected = (
        f"= {text!a}: expected text that can be printed, in one line and without "
        "control characters"
    )
    given = [{"name": "nids", "label": text}]
    assert complaint(algorithm=given) == f"{ALGORITHM} label {expected}"
    assert complaint(run={"name": text}) == f"{RUN} name {expected}"


@pytest.mark.parametrize("name", ["/abs/../x", "a/b", "..", ".hidden", "x" * 201])
def test_run_names_that_are_no_folder(name):
    assert complaint(run={"name": name}) == (
        f"{RUN} name = '{name}' names the folder of the run below runs: expected no "
        "'/', no '.' at its start, and at most 200 bytes; a folder elsewhere is chosen "
        "with --out"
    )


def test_two_graphs_or_two_matrices():
    assert complaint(network={"topology": "ring", "file": "g"}) == (
        "[network] has both topology and file; give one of them"
    )
    assert complaint(network={"weights": "metropolis", "weights_file": "W"}) == (
        "[network] has both weights and weights_file; give one of them"
    )


@pytest.mark.parametrize(
    ("section", "changes", "kind"),
    [
        ("[problem]", {"problem": {"kind": "my:Own"}}, "problem"),
        ("[data]", {"data": {"source": "my:Own"}}, "data source"),
        ("[regularizer]", {"regularizer": {"kind": "my:Own"}}, "regularizer"),
        (ALGORITHM, {"algorithm": [{"name": "my:Own"}]}, "algorithm"),
    ],
)
def test_code_of_the_users_own_needs_a_word(section, changes, kind):
    assert complaint(**changes) == (
        f"{section} {kind} 'my:Own' is code of your own, and a config executes none "
        "unless you say so; add --allow-plugins if you trust it"
    )


def test_a_bound_without_a_minimiser():
    assert complaint(evaluate={"theory_bound": True, "reference": False}) == (
        "[evaluate] theory_bound = true bounds F − F*, which needs the minimiser; set "
        "reference = true, or leave theory_bound out"
    )


def test_an_option_with_the_name_of_another_key(tmp_path, monkeypatch):
    (tmp_path / "my_epsilon.py").write_text(
        "class Mine:\n    def __init__(self, shard, collective, *, epsilon: float):\n"
        "        self.epsilon = epsilon\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert complaint(True, problem={"kind": "my_epsilon:Mine"}) == (
        "[problem] problem 'my_epsilon:Mine' has an option 'epsilon', a key that means "
        "something else in this section; give the option another name"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"network": {"topology": "my:own"}},
        {"network": {"weights": "my:own"}},
        {"mixing": {"method": "my:own"}},
        {"data": {"partition": "my:own"}},
    ],
)
@pytest.mark.parametrize("allow_plugins", [True, False])
def test_no_advice_that_would_not_help(changes, allow_plugins):
    text = complaint(allow_plugins, **changes)
    assert "'my:own'; valid: " in text
    assert "plugins" not in text


HUGE = "expected less than or equal to 1000000000000000"


@pytest.mark.parametrize(
    ("section", "kind", "keys"),
    [
        ("problem", "ridge", {"l2": 1e308}),
        ("problem", "logistic", {"l2": 1e308}),
        ("problem", "shift-invert-pca", {"ratio": 1e308}),
        ("problem", "indefinite-quadratic", {"condition": 1e308}),
        ("problem", "indefinite-quadratic", {"smoothness": 1e308}),
        ("problem", "indefinite-quadratic", {"l1": 1e308}),
        ("problem", "indefinite-quadratic", {"l2": 1e308}),
        ("problem", "indefinite-quadratic", {"spread": 1e308}),
        ("regularizer", "l1", {"strength": 1e308}),
        ("regularizer", "l2", {"strength": 1e308}),
        ("regularizer", "elastic-net", {"l1": 1e308, "l2": 1.0}),
        ("regularizer", "elastic-net", {"l2": 1e308, "l1": 1.0}),
        ("regularizer", "box", {"tolerance": 1e308}),
    ],
)
def test_strengths_whose_square_is_no_number(section, kind, keys):
    key, value = next(iter(keys.items()))
    text = complaint(**{section: {"kind": kind, **keys}})
    assert text == f"[{section}] ({kind}) {key} = {value!r}: {HUGE}"


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("shift-invert-pca", "ratio"),
        ("indefinite-quadratic", "smoothness"),
        ("indefinite-quadratic", "l2"),
    ],
)
def test_strengths_too_near_to_zero_to_divide_by(kind, key):
    text = complaint(problem={"kind": kind, key: 1e-308})
    assert text.startswith(f"[problem] ({kind}) {key} = 1e-308: expected greater than")
