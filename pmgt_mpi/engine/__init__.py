"""The compiled engine: gossip rounds and minibatch products in C, built where they run.

It is optional. Where it cannot be had, Python and numpy do the same work.
"""

from pmgt_mpi.errors import UserError


class BuildError(UserError):
    """The engine cannot be built or loaded here; the message says why."""
