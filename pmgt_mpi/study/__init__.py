"""Which method is better, over many draws of data, graph and chance."""
