"""What a guard watches: numbers that vanish where agents agree at the minimiser.

They are made of what an agent has anyway, and cost neither a message nor a gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent

Array = NDArray[Any]


def movement(before: Array, after: Array, alpha: float) -> float:
    """‖x^{k+1} − x^k‖/α, for methods whose tracker is no variable of theirs."""
    return float(np.linalg.norm(after - before)) / alpha


def mapping(agent: Agent, x: Array, s: Array, alpha: float) -> float:
    """‖x − prox_α(x − α s)‖/α, which is ‖s‖ without ψ; s tracks ∇f at x."""
    return movement(agent.prox(x - alpha * s, alpha), x, alpha)
