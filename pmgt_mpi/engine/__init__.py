"""The compiled engine: gossip rounds and minibatch products in C, built where they run.

It is optional. Where it cannot be had, Python and numpy do the same work.
"""
