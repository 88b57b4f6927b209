"""Whether somebody looks, and what is shown to whom."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import termios
from types import SimpleNamespace

import pytest

from pmgt_mpi import terminal
from pmgt_mpi.errors import DiskError
from pmgt_mpi.terminal import (
    LINE_EVERY,
    Progress,
    complain,
    open_terminal,
    printable,
    say,
)

RECORD = {"relative_suboptimality": 1.234e-5, "objective": 7.0}


def resize(terminal, lines, columns):
    size = struct.pack("HHHH", lines, columns, 0, 0)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)


@pytest.fixture
def pty(monkeypatch):
    """Standard output is a terminal; gives a function that reads what it shows."""
    outside, inside = os.openpty()
    resize(inside, 24, 100)
    with os.fdopen(inside, "w") as stream:
        # Not sys.stdout: pytest's capture puts its own there before each phase.
        monkeypatch.setattr(terminal, "sys", SimpleNamespace(stdout=stream))

        def shown():
            stream.flush()
            text = b""  # a terminal may give it in pieces
            while select.select([outside], [], [], 0.2)[0]:
                text += os.read(outside, 1 << 16)
            return text.decode()

        yield shown
    os.close(outside)


@pytest.fixture
def clock(monkeypatch):
    """Time that passes only when a test says so."""
    now = [100.0]
    monkeypatch.setattr(terminal, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def parent(monkeypatch, tmp_path):
    """A /proc in which the parent process has a name and writes somewhere."""

    def make(name, output):
        folder = tmp_path / str(os.getppid())
        (folder / "fd").mkdir(parents=True)
        (folder / "comm").write_text(f"{name}\n")
        (folder / "fd" / "1").symlink_to(output)
        monkeypatch.setattr(terminal, "Path", lambda _: tmp_path)

    return make


def test_a_terminal_is_found(pty):
    with open_terminal() as found:
        found.write("hello")
    assert pty() == "hello"


def test_a_file_is_no_terminal(monkeypatch, tmp_path):
    with (tmp_path / "log").open("w") as stream:
        monkeypatch.setattr(terminal, "sys", SimpleNamespace(stdout=stream))
        assert open_terminal() is None


@pytest.mark.parametrize("launcher", ["mpirun", "prterun", "mpiexec"])
@pytest.mark.parametrize("output", ["/dev/null", "/home/user/log.txt", "pipe:[4711]"])
def test_no_terminal_where_the_launcher_writes_elsewhere(pty, parent, launcher, output):
    del pty
    parent(launcher, output)
    assert open_terminal() is None


def test_the_terminal_is_the_launchers(pty, parent):
    outside, inside = os.openpty()
    parent("prterun", os.ttyname(inside))
    with open_terminal() as found:
        found.write("hello")
    assert os.read(outside, 100) == b"hello"
    del pty
    os.close(outside)
    os.close(inside)


def test_another_parent_does_not_count(pty, parent):
    del pty
    parent("bash", "/home/user/log.txt")
    with open_terminal() as found:
        assert found.isatty()


def test_say_writes_a_line_at_once(capsys):
    say("a line")
    say()
    assert capsys.readouterr().out == "a line\n\n"


def test_what_a_terminal_would_obey_is_written_out(capsys):
    say("one \x1b[31m\nλ\x07\r\u202e\ud800")
    assert capsys.readouterr().out == ("one \\x1b[31m\nλ\\x07\\r\\u202e\\ud800\n")
    assert complain(DiskError("no file \x1b]0;x")) == 1
    assert capsys.readouterr().err == "pmgt_mpi: error: no file \\x1b]0;x\n"
    assert printable("‖x‖² ≤ λ₂, 方法 🙂 \\") == "‖x‖² ≤ λ₂, 方法 🙂 \\"


def test_a_bar_on_a_terminal_that_lacks_signs_or_goes_away(monkeypatch):
    outside, inside = os.openpty()
    resize(inside, 24, 100)
    with os.fdopen(inside, "w", encoding="ascii") as stream:
        monkeypatch.setattr(terminal, "sys", SimpleNamespace(stdout=stream))
        progress = Progress("λ\x1b[31m", 8)
        progress._bar.mininterval = 0
        progress.show(2, RECORD)
        shown = b""
        while b"25%" not in shown:  # a terminal passes on as much as it likes
            shown += os.read(outside, 1 << 16)
        assert b"?\\x1b[31m:  25%" in shown
        assert b"\x1b" not in shown
        os.close(outside)
        progress.show(4, RECORD)
        progress.show(6, RECORD)
        progress.close()
        say("nobody reads this")
        say("nor this")


def test_plain_lines_come_now_and_then(capsys, clock):
    progress = Progress("nids", 500)
    progress.show(0, RECORD)
    clock[0] += LINE_EVERY - 0.01
    progress.show(1, RECORD)
    assert capsys.readouterr().out == ""
    clock[0] += 0.01
    progress.show(2, RECORD)
    assert capsys.readouterr().out == (
        "nids: step 2 of 500, relative suboptimality 1.23e-05\n"
    )
    clock[0] += LINE_EVERY / 2
    progress.show(3, RECORD)
    assert capsys.readouterr().out == ""
    clock[0] += LINE_EVERY / 2
    progress.show(4, None)
    assert capsys.readouterr().out == "nids: step 4 of 500\n"
    progress.close()
    assert capsys.readouterr().out == ""


def test_without_a_minimiser_the_objective_is_shown(capsys, clock):
    progress = Progress("nids", 5)
    clock[0] += LINE_EVERY
    progress.show(1, {"relative_suboptimality": None, "objective": -1234567.0})
    assert capsys.readouterr().out == "nids: step 1 of 5, objective -1.23457e+06\n"


def test_a_bar_on_a_terminal(pty):
    progress = Progress("nids", 8)
    progress.show(0, RECORD)
    progress._bar.mininterval = 0
    progress.show(2, RECORD)
    progress.show(6, None)
    progress.close()
    text = pty()
    assert "nids:   0%" in text
    assert "6/8" in text
    assert "relative suboptimality 1.23e-05" in text
    assert "step 2 of 8" not in text
