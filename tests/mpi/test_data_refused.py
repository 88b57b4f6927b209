"""Wrong data: all agents raise the same sentence, whichever of them has found it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.sources.bernoulli import Bernoulli
from pmgt_mpi.data.sources.csv import Csv
from pmgt_mpi.data.sources.libsvm import Libsvm
from pmgt_mpi.data.sources.npy import Npy
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from tests.support.verdicts import Together

SOURCES: dict[str, Any] = {"npy": Npy, "csv": Csv, "csv.gz": Csv, "svm": Libsvm}


@pytest.fixture
def folder(
    collective: Collective, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return one folder for all agents."""
    base = Path(collective.from_first(str(tmp_path)))
    monkeypatch.setenv("PMGT_CACHE", str(base / "cache"))
    monkeypatch.delenv("PMGT_DATA", raising=False)
    return base


def write(collective: Collective, path: Path, content: bytes) -> None:
    """Let agent 0 write a file, and the others wait for it."""
    if collective.agent == 0:
        packed = path.suffix == ".gz"
        path.write_bytes(gzip.compress(content) if packed else content)
    collective.comm.Barrier()


def refusal(collective: Collective, source: Any, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        load_shard(collective, source, **options)
    return str(caught.value)


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "svm"])
@pytest.mark.parametrize("bad", [0, 17, 39])
def test_a_line_is_named_by_its_number_in_the_file(
    bad: int, kind: str, collective: Collective, folder: Path, together: Together
) -> None:
    good = b"1 1:1 2:1\n" if kind == "svm" else b"1,1\n"
    lines = [good] * 40
    # The second fault is on a later line, and mostly on a later agent.
    for line in (bad, min(bad + 13, 39)):
        lines[line] = good.replace(b"1\n", b"nan\n")
    lines.insert(bad, b"\n")  # blank lines count
    write(collective, folder / f"a.{kind}", b"".join(lines))
    told = refusal(collective, SOURCES[kind](path=f"a.{kind}"), base=folder)
    what = (
        "'2:nan'; expected index:value, finite numbers"
        if kind == "svm"
        else "'nan' in column 1 (from 0); expected a finite number"
    )
    with together:
        assert told == f"{folder}/a.{kind}, line {bad + 2}: {what}"


@pytest.mark.parametrize("bad", [0, 17, 39])
def test_a_row_is_named_by_its_number_in_the_file(
    bad: int, collective: Collective, folder: Path, together: Together
) -> None:
    array = np.ones((40, 2))
    array[bad:, 1] = np.inf
    if collective.agent == 0:
        np.save(folder / "a.npy", array)
    collective.comm.Barrier()
    told = refusal(collective, Npy(path="a.npy"), base=folder)
    with together:
        assert told == (
            f"{folder}/a.npy, row {bad}, column 1 (counted from 0): inf; "
            "expected finite numbers"
        )


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("partition", ["contiguous", "shuffled"])
@pytest.mark.parametrize("kind", SOURCES)
def test_fewer_rows_than_agents(
    kind: str, partition: str, collective: Collective, folder: Path, together: Together
) -> None:
    rows = collective.agents - 1
    if kind == "npy":
        if collective.agent == 0:
            np.save(folder / "a.npy", np.ones((rows, 2)))
        collective.comm.Barrier()
    else:
        line = b"1 1:2\n" if kind == "svm" else b"1,2\n"
        write(collective, folder / f"a.{kind}", line * rows)
    source = SOURCES[kind](path=f"a.{kind}")
    told = refusal(collective, source, partition=partition, base=folder)
    with together:
        assert told == (
            f"{folder}/a.{kind} has {rows} rows for {collective.agents} agents; each "
            "needs at least one: start fewer ranks"
        )


@pytest.mark.mpi(min_size=2)
def test_fewer_synthetic_rows_than_agents(
    collective: Collective, together: Together
) -> None:
    told = refusal(collective, Bernoulli(rows=1, columns=2))
    with together:
        assert told.startswith(f"bernoulli has 1 rows for {collective.agents} agents;")


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "npy"])
def test_a_file_that_is_another_on_another_host(
    kind: str, collective: Collective, folder: Path, together: Together
) -> None:
    last = collective.agent + 1 == collective.agents
    own = folder / f"host {int(last)}"
    own.mkdir(exist_ok=True)
    collective.barrier()
    if collective.agent == 0 or last:
        rows = 40 + 10 * last
        (own / "a.csv").write_text("1,2\n" * rows)
        (own / "a.csv.gz").write_bytes(gzip.compress(b"1,2\n" * rows))
        np.save(own / "a.npy", np.ones((rows, 2)))
    collective.barrier()
    told = refusal(collective, SOURCES[kind](path=f"a.{kind}"), base=own)
    lengths = (160, 200) if kind == "csv" else (40, 50)
    with together:
        assert told == (
            f"{folder}/host 0/a.{kind} has length {lengths[0]} for agent 0 and "
            f"{lengths[1]} for agent {collective.agents - 1}; expected the same file "
            "on every host, and none that is still written to"
        )


def test_a_file_that_cannot_be_read(
    collective: Collective, folder: Path, together: Together
) -> None:
    for source in (Npy, Csv, Libsvm):
        told = refusal(collective, source(path="/proc/self/mem"), base=folder)
        with together:
            assert told == "cannot read /proc/self/mem: Input/output error"


def test_rows_that_one_agent_cannot_hold(
    collective: Collective, together: Together
) -> None:
    first = [1e9] + [1.0] * (collective.agents - 1)
    told = refusal(collective, Bernoulli(rows=10**13, columns=9), shares=first)
    with together:
        assert told.startswith("[data] rows = 10,000,000,000,000 and columns = 9 give")


def test_a_dense_layout_that_one_agent_cannot_hold(
    collective: Collective, folder: Path, together: Together
) -> None:
    # The rows of the last agent alone are many.
    own = b"1 67108864:1\n" * (1 + 99_999 * (collective.agent + 1 == collective.agents))
    (folder / f"{collective.agent}.svm").write_bytes(own)
    source = Libsvm(path="{agent}.svm")
    told = refusal(collective, source, layout="dense", base=folder)
    with together:
        assert told.startswith(
            "data.layout = 'dense' makes one agent's 100,000 rows of 67,108,864 "
            "columns 53,687 GB, and this machine has "
        )
        assert told.endswith(" GB; take 'sparse' or 'auto'")


@pytest.mark.parametrize("kind", ["csv", "svm", "npy"])
def test_data_without_columns(
    kind: str, collective: Collective, folder: Path, together: Together
) -> None:
    if kind == "npy" and collective.agent == 0:
        np.save(folder / "a.npy", np.ones((10, 0)))
    if kind != "npy":
        write(collective, folder / f"a.{kind}", b"1\n" * 10)
    collective.comm.Barrier()
    if kind == "csv":
        told = refusal(collective, Csv(path="a.csv", label_column=0), base=folder)
        expected = f"{folder}/a.csv has no column besides the label"
    else:
        told = refusal(collective, SOURCES[kind](path=f"a.{kind}"), base=folder)
        expected = f"{folder}/a.{kind} has no columns; expected at least one feature"
    with together:
        assert told.startswith(expected)


@pytest.mark.parametrize(
    "options", [{"partition": "shuffled"}, {"partition": "by-label"}, {"shares": [1.0]}]
)
def test_own_files_are_not_moved(
    options: Any, collective: Collective, folder: Path, together: Together
) -> None:
    np.save(folder / f"a-{collective.agent}.npy", np.ones((2, 2)))
    told = refusal(collective, Npy(path="a-{agent}.npy"), base=folder, **options)
    with together:
        assert told == (
            "with {agent} in data.path each agent keeps the rows of its own file; "
            "expected data.partition = 'contiguous' and no data.shares"
        )


@pytest.mark.mpi(min_size=2)
def test_own_files_must_be_of_one_width(
    collective: Collective, folder: Path, together: Together
) -> None:
    last = collective.agents - 1
    columns = 2 + (collective.agent == last)
    np.save(folder / f"a-{collective.agent}.npy", np.ones((2, columns)))
    told = refusal(collective, Npy(path="a-{agent}.npy"), base=folder)
    with together:
        assert told == (
            f"{folder}/a-{last}.npy has 3 columns, but {folder}/a-0.npy has 2; "
            "expected the same number in the files of all agents"
        )


def test_own_files_must_have_rows(
    collective: Collective, folder: Path, together: Together
) -> None:
    last = collective.agents - 1
    text = "" if collective.agent == last else "1,2\n" * 9
    (folder / f"a-{collective.agent}.csv").write_text(text)
    told = refusal(collective, Csv(path="a-{agent}.csv"), base=folder)
    with together:
        assert told == (
            f"{folder}/a-{last}.csv has no rows; expected at least one for each agent"
        )


def test_own_files_must_be_there(
    collective: Collective, folder: Path, together: Together
) -> None:
    last = collective.agents - 1
    if collective.agent != last:
        (folder / f"a-{collective.agent}.csv").write_text("1,2\n")
    told = refusal(collective, Csv(path="a-{agent}.csv"), base=folder)
    with together:
        assert told.startswith(f"no file 'a-{last}.csv' in {folder};")


def test_lines_of_own_files_are_counted_in_them(
    collective: Collective, folder: Path, together: Together
) -> None:
    last = collective.agents - 1
    text = "1,2\n" * 5 + ("x,1\n" if collective.agent == last else "")
    (folder / f"a-{collective.agent}.csv").write_text(text)
    told = refusal(collective, Csv(path="a-{agent}.csv"), base=folder)
    with together:
        assert told.startswith(f"{folder}/a-{last}.csv, line 6: 'x' in column 0")


def test_by_label_needs_labels(
    collective: Collective, folder: Path, together: Together
) -> None:
    write(collective, folder / "a.csv", b"1,2\n" * 20)
    told = refusal(collective, Csv(path="a.csv"), partition="by-label", base=folder)
    with together:
        assert told == (
            "data.partition = 'by-label' needs labels, and the data have none; give "
            "them (label_column, labels) or take another partition"
        )


def test_by_label_needs_classes(
    collective: Collective,
    folder: Path,
    together: Together,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On agent 0 alone: the others have one label each.
    first = b"".join(b"%d,1.00\n" % i for i in range(1, 5))
    write(collective, folder / "a.csv", first + b"1,1.00\n" * 4 * collective.agents)
    monkeypatch.setattr("pmgt_mpi.data.partition.MOST_LABELS", 3)
    source = Csv(path="a.csv", label_column=0)
    told = refusal(collective, source, partition="by-label", base=folder)
    with together:
        assert told == (
            "data.partition = 'by-label' found more than 3 different labels; it is "
            "meant for classes, take 'shuffled' or 'contiguous'"
        )
    monkeypatch.setattr("pmgt_mpi.data.partition.MOST_LABELS", 4)
    load_shard(collective, source, partition="by-label", base=folder)


def test_a_broken_archive(
    collective: Collective, folder: Path, together: Together
) -> None:
    path = folder / "a.csv.gz"
    write(collective, path, b"1,2\n" * 100)
    if collective.agent == 0:
        path.write_bytes(path.read_bytes()[:-9])
    collective.comm.Barrier()
    told = refusal(collective, Csv(path="a.csv.gz"), base=folder)
    with together:
        assert told == (
            f"{path} is broken or not a .gz file (Compressed file ended before the "
            "end-of-stream marker was reached); fetch or pack it again"
        )


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({"partition": "shufled"}, "unknown partition 'shufled'; did you mean"),
        ({"scale": "min-max"}, "unknown scaling 'min-max'; did you mean 'minmax'?"),
        ({"shares": [1.0] * 50}, "data.shares = [1.0, 1.0"),
    ],
)
def test_wrong_options(
    options: Any, start: str, collective: Collective, together: Together
) -> None:
    told = refusal(collective, Bernoulli(rows=100, columns=2), **options)
    with together:
        assert told.startswith(start)
