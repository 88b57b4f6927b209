"""The gossip room: neighbour exchange over MPI, mixing, and what they cost."""

from pmgt_mpi.registry import Registry

MIXINGS = Registry(
    "mixing",
    {
        "fastmix": "pmgt_mpi.gossip.polynomials:fastmix",
        "fastmix-optimal": "pmgt_mpi.gossip.polynomials:fastmix_optimal",
        "chebyshev": "pmgt_mpi.gossip.polynomials:chebyshev",
        "plain": "pmgt_mpi.gossip.polynomials:plain",
        "server": "pmgt_mpi.gossip.polynomials:server",
    },
)

EXCHANGES = Registry(
    "exchange",
    {
        "isend": "pmgt_mpi.gossip.exchange:IsendExchange",
        "persistent": "pmgt_mpi.gossip.exchange:PersistentExchange",
    },
)
