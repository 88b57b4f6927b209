"""Pictures and tables of run folders; never imports mpi4py."""
