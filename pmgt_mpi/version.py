"""The version, apart from the package itself, which knows its doors."""

from __future__ import annotations

__version__ = "0.2.0.dev0"
