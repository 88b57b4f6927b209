"""Sources, partition and scaling: this agent's rows and nothing more."""

from __future__ import annotations

from pmgt_mpi.registry import Registry

SOURCES = Registry(
    "data source",
    {
        "bernoulli": "pmgt_mpi.data.sources.bernoulli:Bernoulli",
        "gaussian": "pmgt_mpi.data.sources.gaussian:Gaussian",
        "npy": "pmgt_mpi.data.sources.npy:Npy",
        "libsvm": "pmgt_mpi.data.sources.libsvm:Libsvm",
        "csv": "pmgt_mpi.data.sources.csv:Csv",
    },
)

PARTITIONS = Registry(
    "partition",
    {
        "contiguous": "pmgt_mpi.data.partition:contiguous",
        "shuffled": "pmgt_mpi.data.partition:shuffled",
        "by-label": "pmgt_mpi.data.partition:by_label",
    },
)

SCALINGS = Registry(
    "scaling",
    {
        "none": "pmgt_mpi.data.scaling:none",
        "minmax": "pmgt_mpi.data.scaling:minmax",
        "standard": "pmgt_mpi.data.scaling:standard",
        "unit": "pmgt_mpi.data.scaling:unit",
    },
)
