"""Which parameters of each method cost least, all methods being given as much."""
