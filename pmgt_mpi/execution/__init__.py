"""How a run goes, from the config to its results."""
