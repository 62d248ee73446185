"""Benchmarks. ``python -m bench`` runs them and writes RESULTS.md."""
