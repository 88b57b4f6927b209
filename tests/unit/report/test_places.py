"""Where a report is written: never through a link that nobody has named."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is missing: the extra 'report'")

from pmgt_mpi.report.__main__ import main
from tests.support.run_folders import trace, write_run


@pytest.fixture
def linked(tmp_path, monkeypatch):
    """A run whose folder of the report leads to files of another kind."""
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "run", trace("one", [1.0, 0.1]))
    write_run(tmp_path / "two", trace("one", [1.0, 0.1]))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.html").write_text("kept")
    for place in (tmp_path, tmp_path / "run"):
        (place / "report").symlink_to(tmp_path / "mine")
    return tmp_path / "mine"


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["run"], "run/report"),
        (["run", "--follow"], "run/report"),
        (["run", "two"], "report"),
    ],
)
def test_a_report_does_not_follow_a_link_by_itself(linked, capsys, arguments, place):
    assert main(arguments) == 2
    assert capsys.readouterr().err == (
        f"pmgt_mpi: error: {place} is a link, and the report would overwrite files "
        "where it leads; remove it, or choose a folder with --out\n"
    )
    assert [path.name for path in linked.iterdir()] == ["report.html"]
    assert (linked / "report.html").read_text() == "kept"


def test_a_link_that_is_named_is_followed(linked):
    assert main(["run", "--out", "run/report"]) == 0
    assert (linked / "report.html").read_text() != "kept"
