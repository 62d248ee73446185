"""Strategies: what to search for next. Each is one file and uses a run only through ``base.RunView``."""
