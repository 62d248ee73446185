"""Stop gates for other agent frameworks. Each module imports its own framework only."""
