"""Ridge regression whose full gradient takes a given time, on any machine."""

from __future__ import annotations

import os
import time
from typing import Any

from pmgt_mpi.problems.ridge import Ridge

PAUSE = float(os.environ.get("PMGT_PAUSE", "0"))


class SlowRidge(Ridge):
    """The same numbers as `Ridge`, after PMGT_PAUSE seconds."""

    def grad(self, x: Any) -> Any:
        """∇f_i(x), later."""
        time.sleep(PAUSE)
        return super().grad(x)
