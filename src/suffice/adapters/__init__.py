"""Stop gates for other people's agents: one module a framework, imported only by those who use it."""
