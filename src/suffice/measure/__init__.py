"""Measures as plain functions of numbers and texts, with formula and source. They do not import runs or gates."""
