"""Where the minimum is: the reference minimiser, and how far a point is from it."""
