"""Stop gates: they decide after each round whether a run has enough."""
