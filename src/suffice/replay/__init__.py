"""Recorded runs, and gates over them without a model."""
