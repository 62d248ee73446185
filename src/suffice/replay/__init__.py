"""Recorded runs: read them, and judge them by other gates without a model or a search."""
