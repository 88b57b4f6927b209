"""The algorithms room: one file for each method, in the letters of its paper."""

from pmgt_mpi.algorithms.eigenvectors import EIGENVECTORS
from pmgt_mpi.registry import Registry

__all__ = ["ALGORITHMS", "EIGENVECTORS", "METHODS"]

ALGORITHMS = Registry(
    "algorithm",
    {
        # The paper's, and what it plots them against.
        "pmgt-katyushax": "pmgt_mpi.algorithms.pmgt_katyushax:PMGTKatyushaX",
        "pmgt-svrg": "pmgt_mpi.algorithms.pmgt_svrg:PMGTSVRG",
        "pg-extra": "pmgt_mpi.algorithms.pg_extra:PGExtra",
        "nids": "pmgt_mpi.algorithms.nids:NIDS",
        # The rest of its Table 1.
        "gt-svrg": "pmgt_mpi.algorithms.gt_svrg:GTSVRG",
        "gt-saga": "pmgt_mpi.algorithms.gt_saga:GTSAGA",
        "pmgt-saga": "pmgt_mpi.algorithms.pmgt_saga:PMGTSAGA",
        "pmgt-lsvrg": "pmgt_mpi.algorithms.pmgt_lsvrg:PMGTLSVRG",
        # Named in its text: with full gradients, …
        "extra": "pmgt_mpi.algorithms.extra:Extra",
        "exact-diffusion": "pmgt_mpi.algorithms.exact_diffusion:ExactDiffusion",
        "p2d2": "pmgt_mpi.algorithms.p2d2:P2D2",
        "sonata": "pmgt_mpi.algorithms.sonata:Sonata",
        "dgt": "pmgt_mpi.algorithms.dgt:DGT",
        # … with minibatches, for convex f_ij and for nonconvex F, …
        "dsa": "pmgt_mpi.algorithms.dsa:DSA",
        "dsba": "pmgt_mpi.algorithms.dsba:DSBA",
        "dvr": "pmgt_mpi.algorithms.dvr:DVR",
        "adfs": "pmgt_mpi.algorithms.adfs:ADFS",
        "d-get": "pmgt_mpi.algorithms.d_get:DGET",
        "gt-sarah": "pmgt_mpi.algorithms.gt_sarah:GTSARAH",
        "destress": "pmgt_mpi.algorithms.destress:DESTRESS",
        "dearest": "pmgt_mpi.algorithms.dearest:DEAREST",
        # … with steps that send nothing, …
        "network-svrg": "pmgt_mpi.algorithms.network_svrg:NetworkSVRG",
        "network-sarah": "pmgt_mpi.algorithms.network_sarah:NetworkSARAH",
        "network-dane": "pmgt_mpi.algorithms.network_dane:NetworkDANE",
        # … and on a single machine.
        "svrg": "pmgt_mpi.algorithms.svrg:SVRG",
        "saga": "pmgt_mpi.algorithms.saga:SAGA",
        "katyushax": "pmgt_mpi.algorithms.katyushax:KatyushaX",
        # Not named there: faster, or with fewer rounds.
        "vr-extra": "pmgt_mpi.algorithms.vr_extra:VRExtra",
        "mudag": "pmgt_mpi.algorithms.mudag:Mudag",
        "opapc": "pmgt_mpi.algorithms.opapc:OPAPC",
        "opapc-katyusha": "pmgt_mpi.algorithms.opapc_katyusha:OPAPCKatyusha",
        "proxskip": "pmgt_mpi.algorithms.proxskip:ProxSkip",
    },
)
"""Those that minimise."""

METHODS = Registry("algorithm", {**ALGORITHMS, **EIGENVECTORS})
"""All that an [[algorithm]] of a config may name."""
