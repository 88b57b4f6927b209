"""The compiled engine: gossip rounds and minibatch products in C.

It is built with the package, and optional: Python and numpy do the same work.
"""
