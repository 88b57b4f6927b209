"""What the program touches: its run folder and its cache, and no port of its own."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.running import SMALL, run_config

HOOK = """
import json, os, sys

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
log = open(os.environ["DOORS"] + f".{os.getpid()}", "a", buffering=1)


def hook(event, arguments):
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, str) and isinstance(flags, int) and flags & WRITES:
            log.write(json.dumps([event, os.path.abspath(path)]) + "\\n")
    elif event in ("os.mkdir", "os.remove", "os.rmdir") and arguments[-1] == -1:
        log.write(json.dumps([event, os.path.abspath(str(arguments[0]))]) + "\\n")
    elif event == "os.rename":
        log.write(json.dumps([event, os.path.abspath(str(arguments[1]))]) + "\\n")
    elif event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.fork",
                           "pickle.find_class")):
        log.write(json.dumps([event, repr(arguments)]) + "\\n")


sys.addaudithook(hook)
"""

HARMLESS = ("socket.gethostname", "socket.__new__")


def events(folder: Path) -> list[tuple[str, str]]:
    logs = list((folder / "doors").glob("log.*"))
    assert len(logs) >= 4
    return [tuple(json.loads(s)) for log in logs for s in log.read_text().splitlines()]


def test_it_writes_only_where_it_may_and_opens_no_port(tmp_path):
    doors = tmp_path / "doors"
    doors.mkdir()
    (doors / "sitecustomize.py").write_text(HOOK)
    env = {
        "PYTHONPATH": str(doors),
        "DOORS": str(doors / "log"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    work = tmp_path / "work"
    work.mkdir()
    run_config(work, SMALL, set=("checkpoint.steps=3",), env=env).expect(0)
    allowed = (str(work / "out"), str(work / "cache"), "/dev/")
    seen = events(tmp_path)
    written = {path for event, path in seen if event in ("open", "os.rename")}
    assert any(path.endswith("manifest.json") for path in written), "the hook works"
    for event, what in seen:
        if event.startswith(("open", "os.mkdir", "os.re", "os.rm")):
            plot = "matplotlib" in what  # which has a cache of its own
            assert plot or what.startswith(allowed), (event, what)
        else:
            assert event in HARMLESS or event == "pickle.find_class", (event, what)
    logs = {path.name for path in work.iterdir()}
    assert logs == {"config.toml", "out", "cache"}
