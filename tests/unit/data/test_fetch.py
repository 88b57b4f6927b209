"""Fetching a data set from a real HTTP server on this machine, and checking it."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pmgt_mpi.data import fetch as module
from pmgt_mpi.data.__main__ import main
from pmgt_mpi.data.fetch import CHUNK, DATASETS, Dataset, fetch
from pmgt_mpi.errors import UserError

CONTENT = b"".join(b"%d,%d\n" % (i, i * i) for i in range(20_000))
PACKED = gzip.compress(CONTENT, 1)


class Handler(BaseHTTPRequestHandler):
    """Gives the good file, and broken ones by name."""

    def do_GET(self) -> None:
        pages = {
            "/good.gz": PACKED,
            "/cut.gz": PACKED[:-2000],
            "/other.gz": gzip.compress(CONTENT[:-2] + b"0\n", 1),
            "/bomb.gz": gzip.compress(CONTENT + bytes(50 * CHUNK), 9),
            "/page.gz": b"<html>Please log in</html>",
        }
        if self.path not in pages and self.path != "/lost.gz":
            self.send_error(404)
            return
        content = pages.get(self.path, PACKED)
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        # The connection of lost.gz breaks half-way.
        half = len(content) // 2 if self.path == "/lost.gz" else len(content)
        try:
            self.wfile.write(content[:half])
        except ConnectionError:
            return  # the client has seen enough

    def log_message(self, *arguments: object) -> None:
        """Be quiet."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def known(*urls: str) -> Dataset:
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    return Dataset("numbers", "numbers.xz", len(CONTENT), sha256, urls, "no notice")


def test_it_is_downloaded_checked_and_kept_as_xz(server: str, tmp_path: Path) -> None:
    told: list[str] = []
    dataset = known(f"{server}/good.gz")
    path = fetch(dataset, tmp_path / "new", tell=told.append)
    assert path == tmp_path / "new" / "numbers.xz"
    assert lzma.decompress(path.read_bytes()) == CONTENT
    assert [file.name for file in path.parent.iterdir()] == ["numbers.xz"]
    written = path.stat().st_mtime_ns
    assert fetch(dataset, tmp_path / "new", tell=told.append) == path
    assert path.stat().st_mtime_ns == written
    assert told == [f"fetching {server}/good.gz", f"checking {path}"]


def test_where_one_home_fails_the_next_is_tried(server: str, tmp_path: Path) -> None:
    dataset = known(f"{server}/gone.gz", f"{server}/other.gz", f"{server}/good.gz")
    path = fetch(dataset, tmp_path)
    assert lzma.decompress(path.read_bytes()) == CONTENT


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gone.gz", "/gone.gz: HTTP Error 404: Not Found"),
        ("cut.gz", "/cut.gz gave another file: it is cut off"),
        ("lost.gz", "/lost.gz"),
        ("other.gz", "/other.gz gave another file: its sha256, unpacked, is "),
        ("bomb.gz", f"gave another file: it has more than {len(CONTENT):,} bytes"),
        ("page.gz", "gave another file: it is not a .gz file (Error -3 while decomp"),
    ],
)
def test_a_wrong_file_is_not_kept(
    server: str, tmp_path: Path, name: str, expected: str
) -> None:
    with pytest.raises(UserError) as error:
        fetch(known(f"{server}/{name}"), tmp_path)
    assert str(error.value).startswith("cannot fetch numbers: http://127.0.0.1:")
    assert expected in str(error.value)
    assert f"copy numbers.xz to {tmp_path}" in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_bomb_is_not_unpacked_to_its_end() -> None:
    kept = 0

    def keep(piece: bytes) -> None:
        nonlocal kept
        kept += len(piece)

    packed = iter([gzip.compress(bytes(100 * CHUNK), 9)])
    with pytest.raises(module.WrongFileError):
        module.check(known(), module.unpacked(packed), keep)
    assert kept <= len(CONTENT) + CHUNK


@pytest.mark.parametrize("content", [lzma.compress(CONTENT[:-1]), b"no xz"])
def test_a_wrong_file_that_is_there_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "numbers.xz"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"numbers.xz is (not the known|broken)"):
        fetch(known("http://127.0.0.1:9/never-asked"), tmp_path)
    assert path.read_bytes() == content


def test_offline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]  # and nobody listens there afterwards
    url = f"http://127.0.0.1:{port}/x.gz"
    assert main(["fetch", "covtype", "--out", str(tmp_path), "--url", url]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"pmgt_mpi: error: cannot fetch covtype: {url}: <urlopen")
    assert f"copy covtype.data.xz to {tmp_path}" in error
    assert error.count("\n") == 1


def test_the_command_refuses_what_is_not_covtype(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"{server}/good.gz"
    assert main(["fetch", "covtype", "--out", str(tmp_path), "--url", url]) == 2
    assert DATASETS["covtype"].sha256 in capsys.readouterr().err


def test_a_folder_must_be_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PMGT_DATA", raising=False)
    assert main(["fetch", "covtype"]) == 2
    assert "where is covtype.data.xz to go? Set PMGT_DATA" in capsys.readouterr().err


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "numbers.xz").mkdir()
    with pytest.raises(UserError, match=r"^cannot read .*numbers.xz: Is a directory$"):
        fetch(known(), tmp_path)
    with pytest.raises(UserError, match=r"^cannot read .*numbers.xz: File name too lo"):
        fetch(known(), tmp_path / ("x" * 300))


def test_the_real_file_is_the_known_one(needs_data) -> None:
    folder = needs_data("covtype.data.xz").parent
    command = [sys.executable, "-m", "pmgt_mpi.data", "fetch", "covtype"]
    env = {**os.environ, "PMGT_DATA": str(folder)}
    result = subprocess.run(
        command, env=env, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "covtype.data.xz is there and right. Covertype: copyright" in result.stdout
