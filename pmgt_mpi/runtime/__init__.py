"""The runtime: config, building, the loop, evaluation and output."""
