"""The regularizers psi, found by name."""

from __future__ import annotations

from pmgt_mpi.registry import Registry

REGULARIZERS = Registry(
    "regularizer",
    {
        "none": "pmgt_mpi.regularizers.none:NoRegularizer",
        "l1": "pmgt_mpi.regularizers.shrinkage:L1",
        "l2": "pmgt_mpi.regularizers.shrinkage:L2",
        "elastic-net": "pmgt_mpi.regularizers.shrinkage:ElasticNet",
        "box": "pmgt_mpi.regularizers.box:Box",
    },
)
