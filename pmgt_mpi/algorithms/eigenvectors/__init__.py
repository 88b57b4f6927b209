"""Leading eigenvectors of the mean of C_i: one file for each method.

They are algorithms like the others; their iterates are d × k, and they ask the agent
for products C_i V, or for C_i, in place of gradients.
"""

from pmgt_mpi.registry import Registry

EIGENVECTORS = Registry(
    "eigenvector solver",
    {
        "covariance": "pmgt_mpi.algorithms.eigenvectors.covariance:GossipCovariance",
        "deepca": "pmgt_mpi.algorithms.eigenvectors.deepca:DeEPCA",
        "lanczos": "pmgt_mpi.algorithms.eigenvectors.lanczos:BlockLanczos",
        "shift-invert": "pmgt_mpi.algorithms.eigenvectors.shift_invert:ShiftInvert",
        "lazysvd": "pmgt_mpi.algorithms.eigenvectors.lazysvd:LazySVD",
    },
)
"""Those that look for eigenvectors."""
