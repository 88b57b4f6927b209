"""The methods that a search compares, by the names that configs have for them."""

from __future__ import annotations

KATYUSHAX, SVRG = "pmgt-katyushax", "pmgt-svrg"
NIDS, PG_EXTRA = "nids", "pg-extra"

FULL = (NIDS, PG_EXTRA)
"""Methods of full gradients: their only parameter is the step."""
