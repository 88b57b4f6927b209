"""Three hosts of network namespaces, on links of 1 ms and 100 Mbit/s."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.launcher import SINGLE_MACHINE, Result, mpirun_path, run  # noqa: E402

HERE = Path(__file__).parent
HOSTS = ("h1", "h2", "h3")
RATE = 100_000_000
"""Bits a second, in each direction of a link."""
DELAY = 1000
"""Microseconds from host to host."""
NET = "10.213.8"
SHELL = """#!/bin/sh
host=$1
shift
exec ip netns exec "{prefix}-$host" unshare --uts sh -c \\
  'hostname "$1"; shift; exec sh -c "$*"' sh "$host" "$@"
"""


class NoSlowLinkError(Exception):
    """No such network can be made here; the message says why."""


class SlowLink:
    """The hosts; `mpirun` starts a rank on each.

    Parameters
    ----------
    folder
        For files of its own, which are left there.
    """

    def __init__(self, folder: Path) -> None:
        self.prefix = f"pmgt{os.getpid()}"
        self.shell = folder / "shell"
        self.shell.write_text(SHELL.format(prefix=self.prefix))
        self.shell.chmod(0o755)
        self.hostfile = folder / "hostfile"
        self.hostfile.write_text("".join(f"{host} slots=1\n" for host in HOSTS))

    def inside(self, host: str, *command: str | Path) -> list[str]:
        """Return the command that runs a command on a host."""
        name = f"{self.prefix}-{host}"
        return ["ip", "netns", "exec", name, *map(str, command)]

    def mpirun(self, *args: str | Path, timeout: float = 600) -> Result:
        """Run this interpreter with arguments on one rank a host."""
        settings = {
            **SINGLE_MACHINE,
            "PRTE_MCA_rmaps_default_mapping_policy": None,
            "PRTE_MCA_hwloc_default_binding_policy": "none",
            "PRTE_MCA_plm": "ssh",
            "PRTE_MCA_plm_ssh_agent": str(self.shell),
            "PRTE_MCA_prte_if_include": f"{NET}.0/24",
            "OMPI_MCA_btl_tcp_if_include": f"{NET}.0/24",
        }
        words = [mpirun_path(), "--hostfile", self.hostfile, "-n", str(len(HOSTS))]
        words += [sys.executable, *args]
        command = f"cd '{ROOT}' && exec " + " ".join(f"'{word}'" for word in words)
        return run([str(self.shell), HOSTS[0], command], timeout=timeout, env=settings)


@contextmanager
def slow_link(folder: Path) -> Iterator[SlowLink]:
    """Make the network, and remove it at the end."""
    compiler = shutil.which("cc")
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists() or compiler is None:
        raise NoSlowLinkError("it takes root, /dev/net/tun and cc")
    if shutil.which("ip") is None:
        raise NoSlowLinkError("it takes ip, of Debian's iproute2")
    program = folder / "slow_link"
    source = HERE / "slow_link.c"
    subprocess.run([compiler, "-O2", source, "-o", program], check=True, timeout=60)
    link = SlowLink(folder)
    switch = None
    taps = {host: f"tap{number}" for number, host in enumerate(HOSTS, 1)}
    try:
        for name in ("switch", *HOSTS):
            _ip("netns", "add", f"{link.prefix}-{name}")
        command = [*link.inside("switch", program), str(RATE), str(DELAY)]
        switch = subprocess.Popen(
            [*command, *taps.values()], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
        )
        assert switch.stdout is not None
        if switch.stdout.readline() != b"ready\n":
            raise NoSlowLinkError("no tap device can be made here")
        for number, (host, tap) in enumerate(taps.items(), 1):
            there = f"{link.prefix}-{host}"
            _ip("-n", f"{link.prefix}-switch", "link", "set", tap, "netns", there)
            _ip("-n", there, "addr", "add", f"{NET}.{number}/24", "dev", tap)
            _ip("-n", there, "link", "set", tap, "up")
            _ip("-n", there, "link", "set", "lo", "up")
        yield link
    finally:
        if switch is not None:
            switch.terminate()
            switch.wait()
        for name in ("switch", *HOSTS):
            there = f"{link.prefix}-{name}"
            subprocess.run(["ip", "netns", "del", there], capture_output=True)


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True)
    if done.returncode:
        raise NoSlowLinkError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
