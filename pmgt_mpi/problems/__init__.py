"""The problems: one agent's f_i each, found by name."""

from __future__ import annotations

from pmgt_mpi.registry import Registry

PROBLEMS = Registry(
    "problem",
    {
        "shift-invert-pca": "pmgt_mpi.problems.pca:ShiftInvertPCA",
        "ridge": "pmgt_mpi.problems.ridge:Ridge",
        "logistic": "pmgt_mpi.problems.logistic:Logistic",
        "indefinite-quadratic": (
            "pmgt_mpi.problems.indefinite_quadratic:IndefiniteQuadratic"
        ),
        "pca": "pmgt_mpi.problems.principal_components:PrincipalComponents",
    },
)
