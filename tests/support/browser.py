"""Headless Chromium: opens a page and gives what its DOM has become."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.launcher import run

NAMES = ("chromium", "chromium-browser", "google-chrome")

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def needs_chromium() -> str:
    """Return the path of Chromium, or skip the test."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    pytest.skip("no chromium on PATH; on Debian: apt-get install chromium")


def dump_dom(page: Path, profile: Path) -> str:
    """Open a file, let its scripts run, and give the document as HTML."""
    command = [needs_chromium(), *QUIET, f"--user-data-dir={profile}", "--dump-dom"]
    result = run([*command, page.resolve().as_uri()], timeout=60)
    assert result.returncode == 0, result
    return result.stdout
