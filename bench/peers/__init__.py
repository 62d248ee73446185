"""Comparisons with other deep-research tools and on a public benchmark that anyone can run again: ``python -m bench.peers``."""
