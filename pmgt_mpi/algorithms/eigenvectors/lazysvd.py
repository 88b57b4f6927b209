"""LazySVD: k eigenvectors, one after the other, by shift-and-invert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pmgt_mpi.algorithms.eigenvectors.shift_invert import ShiftInvert
from pmgt_mpi.algorithms.traits import Traits
from pmgt_mpi.options import AUTO, AutoMixRounds, Count, Tolerance

NAME = "lazysvd"


@dataclass(frozen=True, kw_only=True)
class LazySVD(ShiftInvert):
    """LazySVD (Allen-Zhu and Li 2016): k eigenvectors, one by one, by shift-and-invert.

    Vector s is found as in `shift-invert`, of (I − VVᵀ)C(I − VVᵀ) with V the agent's
    own s − 1 vectors: a row enters as a − V(Vᵀa), on the fly. Then w is appended, and V
    made orthonormal. The next search goes on from the shift of the last one, which is
    above λ_s too.

    Parameters
    ----------
    inner
        The method that solves the systems.
    batch_size
        Its b; ``"auto"`` are all rows, with which an epoch is one accelerated step.
    tolerance
        ‖w − w'‖ after a solve at which a vector is done.
    mix_rounds
        Its M; ``"auto"`` is made for how much one of m agents can differ.
    agree_rounds
        Plain rounds in which a flag gets to every agent; ``"auto"`` is m − 1.
    exact_rounds
        Of a mix that leaves nothing but rounding.

    References
    ----------
    Z. Allen-Zhu and Y. Li, "LazySVD: Even Faster SVD Decomposition Yet Without
    Agonizing Pain", NeurIPS 2016.
    """

    traits: ClassVar[Traits] = ShiftInvert.traits._replace(
        source="Allen-Zhu and Li 2016", instead="", single=False
    )

    inner: Literal["pmgt-katyushax", "pmgt-svrg", "sonata"] = "pmgt-katyushax"
    batch_size: Count | Literal["auto"] = "auto"
    tolerance: Tolerance = 1e-10
    mix_rounds: AutoMixRounds = AUTO
    agree_rounds: AutoMixRounds = AUTO
    exact_rounds: AutoMixRounds = AUTO
