from __future__ import annotations

from pathlib import Path

import pytest

from pmgt_mpi.data.files import find_file, is_private, own_path
from pmgt_mpi.errors import UserError


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    base, data = tmp_path / "config", tmp_path / "data"
    base.mkdir()
    data.mkdir()
    monkeypatch.setenv("PMGT_DATA", str(data))
    return base, data


def test_the_folder_of_the_config_comes_first(folders: tuple[Path, Path]) -> None:
    base, data = folders
    (data / "a.npy").touch()
    assert find_file("a.npy", base) == data / "a.npy"
    (base / "a.npy").touch()
    assert find_file("a.npy", base) == base / "a.npy"


def test_without_a_config_the_current_folder_counts(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, _ = folders
    (base / "a.npy").touch()
    monkeypatch.chdir(base)
    assert find_file("a.npy", None) == base / "a.npy"


def test_an_absolute_path_is_taken_as_it_is(folders: tuple[Path, Path]) -> None:
    base, data = folders
    (data / "a.npy").touch()
    assert find_file(str(data / "a.npy"), base) == data / "a.npy"
    with pytest.raises(UserError) as caught:
        find_file(str(data / "b.npy"), base)
    assert str(caught.value) == f"no file {data / 'b.npy'}; correct the path"


def test_a_missing_file_is_told_with_where_it_was_looked_for(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, data = folders
    (base / "a.npy").mkdir()  # a folder is no file
    with pytest.raises(UserError) as caught:
        find_file("a.npy", base)
    assert str(caught.value) == (
        f"no file 'a.npy' in {base} or in {data}; correct the path"
    )
    monkeypatch.delenv("PMGT_DATA")
    with pytest.raises(UserError) as caught:
        find_file("a.npy", base)
    assert str(caught.value) == (
        f"no file 'a.npy' in {base}; correct the path, or set PMGT_DATA to the folder "
        "of your data"
    )


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("x" * 5000, "cannot read {base}/{path}: File name too long"),
        ("~nobody-of-this-name/a", "no home folder for '{path}'; correct the path"),
    ],
)
def test_a_path_that_cannot_be_is_told(
    path: str, told: str, folders: tuple[Path, Path]
) -> None:
    base, _ = folders
    with pytest.raises(UserError) as caught:
        find_file(path, base)
    assert str(caught.value) == told.format(base=base, path=path)


def test_the_agent_is_filled_in() -> None:
    assert own_path("part-{agent}.npy", 3) == "part-3.npy"
    assert own_path("part-{agent:03d}.npy", 3) == "part-003.npy"
    assert own_path("{agent:01d}-{agent:05d}-{{x}}", 12) == "12-00012-{x}"
    assert own_path("{agent:99d}".replace(":", ":0"), 7) == "0" * 98 + "7"
    assert own_path("odd {name}.npy", 3) == "odd {name}.npy"
    assert is_private("part-{agent:03d}.npy")
    assert not is_private("odd {name}.npy")


@pytest.mark.parametrize(
    "path",
    [
        "{agent}-{0}",
        "{agent}-{name}",
        "{agent}-{}",
        "{agent}}",
        "{agent",
        "{agent:q}",
        "{agent:3d}",
        "{agent:0d}",
        "{agent:100d}",
        "{agent:0100d}",
        "{agent:9999999999d}",
        "{agent:09999999999d}",
        "{agent!r}",
        "{agent!r:>99999999}",
        "{agent:{agent}}",
        "{agent:0{agent}d}",
        "{agent.__class__}",
        "{agent[0]}",
        "{agents}",
    ],
)
def test_other_placeholders_are_refused(path: str) -> None:
    with pytest.raises(UserError) as caught:
        own_path(path, 0)
    assert str(caught.value) == (
        f"path '{path}' cannot be filled in; the only placeholder is {{agent}}, or "
        "{agent:03d} with leading zeros, of up to 99 digits"
    )
