"""The algorithms room: one file for each method, in the letters of its paper."""

from pmgt_mpi.registry import Registry

ALGORITHMS = Registry(
    "algorithm",
    {
        "pmgt-katyushax": "pmgt_mpi.algorithms.pmgt_katyushax:PMGTKatyushaX",
        "pmgt-svrg": "pmgt_mpi.algorithms.pmgt_svrg:PMGTSVRG",
        "pg-extra": "pmgt_mpi.algorithms.pg_extra:PGExtra",
        "nids": "pmgt_mpi.algorithms.nids:NIDS",
    },
)
