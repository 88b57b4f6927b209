"""A run from the command line: what it prints and what it leaves behind."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from tests.support.running import SMALL, SMALL_ALGORITHMS, Left, run_config


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return run_config(folder).expect(0), Left(folder / "out")


def test_the_table_names_every_algorithm_the_folder_and_the_plot(finished):
    result, _ = finished
    lines = result.stdout.splitlines()
    for name in SMALL_ALGORITHMS:
        assert sum(line.startswith(name) for line in lines) == 1
    assert "run folder: out" in lines
    assert "plot: out/convergence.png" in lines
    header = next(line for line in lines if line.startswith("algorithm"))
    for column in ("seconds", "gradients", "rounds", "messages", "rel. subopt."):
        assert column in header


def test_files_of_the_folder(finished):
    _, left = finished
    names = {path.name for path in left.path.iterdir()}
    assert names == {
        "asked.toml", "config.toml", "meta.json", "metrics.jsonl", "summary.json",
        "ranks.csv", "edges.csv", "solution.npz", "convergence.png", "checkpoint",
    }  # fmt: skip
    assert (left.path / "convergence.png").read_bytes().startswith(b"\x89PNG")


def test_metrics_have_the_promised_names_and_only_grow_in_cost(finished):
    _, left = finished
    for name in SMALL_ALGORITHMS:
        trace = [r for r in left.metrics if r["algorithm"] == name]
        assert [record["step"] for record in trace] == list(range(9))
        assert set(trace[0]) == {
            "algorithm", "step", "seconds", "compute_seconds", "comm_seconds",
            "gradients", "gradients_paper", "rounds", "messages", "bytes", "objective",
            "suboptimality", "relative_suboptimality", "consensus",
        }  # fmt: skip
        for key in ("seconds", "gradients", "rounds", "messages", "bytes"):
            values = [record[key] for record in trace]
            assert values == sorted(values)
        assert trace[-1]["relative_suboptimality"] < 1
        assert trace[0]["relative_suboptimality"] == pytest.approx(1)


DIAMETER = 2


def asked_by_the_guard(summary, rounds):
    """Rounds beside those of the method; in them a message holds one number."""
    asked = summary["rounds"] - rounds
    assert summary["messages"] == summary["rounds"] * 2 * 4
    assert summary["bytes"] == 8 * 2 * 4 * (8 * rounds + asked)
    return asked


def test_costs_of_pg_extra_and_nids_are_what_their_docstrings_say(finished):
    _, left = finished
    last = {s["algorithm"]: s for s in left.summary}
    for name, rounds in (("pg-extra", 8), ("nids", 7)):
        summary = last[name]
        assert summary["gradients"] == 8 * 150
        assert asked_by_the_guard(summary, rounds) == DIAMETER  # once, at the start


def test_costs_of_the_epochs_follow_from_T(finished):
    _, left = finished
    for summary in left.summary[:2]:
        b, M = summary["parameters"]["batch_size"], summary["parameters"]["mix_rounds"]
        inner = (summary["gradients_paper"] - 150 * 9) / b
        assert inner == int(inner)
        assert inner >= 8
        assert summary["gradients"] == 150 * 9 + 2 * b * inner
        outer = {"pmgt-katyushax": 3, "pmgt-svrg": 2}[summary["algorithm"]]
        asked = asked_by_the_guard(summary, M * (1 + 8 * outer + 2 * inner))
        assert asked in [DIAMETER * questions for questions in range(1, 9)]


def test_both_ends_of_an_edge_tell_what_they_sent(finished):
    _, left = finished
    rows = left.table("edges.csv")
    assert set(rows[0]) == {
        "algorithm", "agent", "neighbour", "messages_sent", "bytes_sent",
    }  # fmt: skip
    edges = {(e["algorithm"], int(e["agent"]), int(e["neighbour"])): e for e in rows}
    assert len(rows) == len(edges) == 4 * 8
    for (algorithm, i, j), edge in edges.items():
        back = edges[algorithm, j, i]  # a round sends one message each way
        assert int(edge["messages_sent"]) == int(back["messages_sent"]) > 0
        assert int(edge["bytes_sent"]) == int(back["bytes_sent"]) > 0
    for summary in left.summary:
        mine = [e for e in rows if e["algorithm"] == summary["algorithm"]]
        for name in ("messages", "bytes"):
            assert sum(int(e[f"{name}_sent"]) for e in mine) == summary[name]


def test_ranks_are_told_one_by_one(finished):
    _, left = finished
    rows = left.table("ranks.csv")
    assert len(rows) == 16
    for summary in left.summary:
        mine = [r for r in rows if r["algorithm"] == summary["algorithm"]]
        assert [int(r["agent"]) for r in mine] == [0, 1, 2, 3]
        assert sum(int(r["messages"]) for r in mine) == summary["messages"]
        assert sum(int(r["bytes"]) for r in mine) == summary["bytes"]
        for row in mine:
            assert float(row["compute_seconds"]) > 0
            assert float(row["comm_seconds"]) > 0
            assert float(row["evaluation_seconds"]) > 0
            assert int(row["rows"]) == 150
            assert int(row["peak_memory_bytes"]) > 1 << 20


def test_summary_and_meta(finished):
    _, left = finished
    for summary in left.summary:
        assert summary["status"] == "budget"
        assert summary["ranks"] == 4
        assert summary["lambda_2"] == pytest.approx(0.5)
        assert all(not isinstance(v, str) for v in summary["parameters"].values())
    meta = left.meta
    assert 0 < meta["constants_seconds"] < meta["setup_seconds"]
    assert meta["schema"] == 2
    assert meta["seed"] == 3
    assert len(meta["hosts"]) == 4
    assert meta["neighbours"] == [[1, 3], [0, 2], [1, 3], [0, 2]]
    assert meta["pid"] > 1
    assert "Open MPI" in meta["mpi"] or "MPICH" in meta["mpi"]
    assert meta["reference_residual"] < 1e-13


def test_the_summary_is_written_last(finished):
    _, left = finished
    written = {
        path.name: path.stat().st_mtime_ns
        for path in left.path.iterdir()
        if path.name != "convergence.png"
    }
    assert written["summary.json"] == max(written.values())


def test_the_solution_is_the_average_of_the_agents(finished):
    _, left = finished
    solution = left.solution
    for name in SMALL_ALGORITHMS:
        agents = solution[f"{name}/agents"]
        assert agents.shape == (4, 8)
        np.testing.assert_allclose(solution[name], agents.mean(axis=0), rtol=1e-12)
        distance = np.linalg.norm(solution[name] - solution["reference"])
        assert distance < np.linalg.norm(solution["reference"])


def test_the_config_with_numbers_and_that_with_words_give_the_same_bits(
    finished, tmp_path
):
    _, left = finished
    for name, numbers in (("asked.toml", False), ("config.toml", True)):
        text = (left.path / name).read_text()
        first = tomllib.loads(text)["algorithm"][0]
        assert numbers != (first["batch_size"] == "auto")
        assert numbers == isinstance(first["step_size"], float)
        (tmp_path / name).mkdir()
        run_config(tmp_path / name, text).expect(0)
        again = Left(tmp_path / name / "out")
        for label, array in left.solution.items():
            assert again.solution[label].tobytes() == array.tobytes()
        # Numbers stay as they are: the run is described to the last bit.
        resolved = (again.path / "config.toml").read_text()
        assert resolved == (left.path / "config.toml").read_text()


def test_order_and_company_of_algorithms_do_not_change_a_run(finished, tmp_path):
    _, left = finished
    head, *sections = SMALL.split("[[algorithm]]")
    alone = "[[algorithm]]".join([head, sections[3], sections[0]])
    run_config(tmp_path, alone).expect(0)
    other = Left(tmp_path / "out").solution
    for name in ("nids", "pmgt-katyushax"):
        assert other[f"{name}/agents"].tobytes() == (
            left.solution[f"{name}/agents"].tobytes()
        )


def test_overrides_labels_and_the_other_exchange(tmp_path):
    result = run_config(
        tmp_path,
        set=("stop.steps=3", "algorithm.0.label=mine", "network.exchange=isend",
             "algorithm.0.mixing=fastmix", "algorithm.0.mix_rounds=7"),
    ).expect(0)  # fmt: skip
    left = Left(tmp_path / "out")
    assert "mine" in result.stdout
    assert left.summary[0]["algorithm"] == "mine"
    assert left.summary[0]["name"] == "pmgt-katyushax"
    assert left.summary[0]["step"] == 3
    assert left.summary[0]["parameters"]["mix_rounds"] == 7
    config = tomllib.loads((left.path / "config.toml").read_text())
    assert config["algorithm"][0]["mixing"] == "fastmix"
    assert config["network"]["exchange"] == "isend"


def test_one_rank_without_mpirun_sends_nothing(tmp_path):
    result = run_config(tmp_path, ranks=1, set=("stop.steps=3",)).expect(0)
    left = Left(tmp_path / "out")
    assert "run folder" in result.stdout
    assert all(s["messages"] == s["rounds"] == 0 for s in left.summary)


def test_an_algorithm_that_diverges_leaves_the_others_running(tmp_path):
    result = run_config(
        tmp_path, set=("algorithm.2.step_size=1e3", "stop.steps=400",
                       "evaluate.every=0")
    ).expect(3)  # fmt: skip
    left = Left(tmp_path / "out")
    statuses = {s["algorithm"]: s["status"] for s in left.summary}
    assert statuses == {
        "pmgt-katyushax": "budget",
        "pmgt-svrg": "budget",
        "pg-extra": "diverged",
        "nids": "budget",
    }
    said = "pg-extra diverged: take a smaller step_size (1e+03 was used, the theory "
    (line,) = [s for s in result.stdout.splitlines() if s.startswith(said)]
    assert left.summary[2]["advice"] == line
    theory = float(line.partition("gives ")[2].partition(")")[0])
    assert 0 < theory < 1e3
    assert "advice" not in left.summary[0]
    assert "Traceback" not in result.stderr


def test_single_precision_and_a_box_that_does_not_hold_zero(tmp_path):
    text = SMALL + '\n[regularizer]\nkind = "box"\nlower = 0.1\nupper = 0.5\n'
    run_config(tmp_path, text, set=("run.dtype=float32", "stop.steps=60")).expect(0)
    left = Left(tmp_path / "out")
    for summary in left.summary:
        assert summary["relative_suboptimality"] < 1e-6
        x = left.solution[summary["algorithm"]]
        assert x.dtype == np.float32
        assert x.min() >= 0.1 - 1e-6
        assert x.max() <= 0.5 + 1e-6


def test_the_resolved_config_finds_the_files_from_its_own_folder(tmp_path):
    A = np.random.default_rng(0).choice([-1.0, 1.0], size=(600, 8))
    for agent, rows in enumerate(np.split(A, 4)):
        np.save(tmp_path / f"part-{agent}.npy", rows)
    text = SMALL.replace("rows = 600\ncolumns = 8\n", 'path = "part-{agent}.npy"\n')
    text = text.replace('source = "bernoulli"', 'source = "npy"')
    run_config(tmp_path, text).expect(0)
    resolved = (tmp_path / "out" / "config.toml").read_text()
    (tmp_path / "elsewhere").mkdir()
    run_config(tmp_path / "elsewhere", resolved).expect(0)
    first, again = (
        Left(folder / "out").solution["nids/agents"]
        for folder in (tmp_path, tmp_path / "elsewhere")
    )
    assert first.tobytes() == again.tobytes()


def test_entries_of_one_method_share_their_chance(tmp_path):
    entry = '[[algorithm]]\nname = "pmgt-katyushax"\nlabel = "{}"\n'
    text = SMALL.partition("[[algorithm]]")[0]
    text += entry.format("a") + entry.format("b") + 'mixing = "fastmix"\n'
    text += entry.format("c") + 'stream = "other"\n'
    run_config(tmp_path, text, ranks=2).expect(0)
    left = Left(tmp_path / "out")
    a, b, c = ([r["gradients"] for r in left.metrics if r["algorithm"] == label]
               for label in "abc")  # fmt: skip
    assert a == b  # T of every epoch
    assert a != c
    assert not np.array_equal(left.solution["a"], left.solution["b"])


def test_a_picture_that_cannot_be_drawn_ends_no_run(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise RuntimeError('broken')\n")
    result = run_config(tmp_path, ranks=1, set=("stop.steps=2",)).expect(0)
    assert "no plot: out: RuntimeError: broken" in result.stdout
    assert (tmp_path / "out" / "summary.json").exists()
