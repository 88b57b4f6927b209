"""The compiled engine: gossip rounds and minibatch products in C, built where they run.

It is optional. Where it cannot be built, Python and numpy do the same work.
"""

from stat import S_IWGRP, S_IWOTH

from pmgt_mpi.errors import UserError

OTHERS_WRITE = S_IWGRP | S_IWOTH
"""What nobody but the user may do to a file whose code is run, and to its folder."""


class BuildError(UserError):
    """The engine cannot be built or loaded here; the message says why."""
