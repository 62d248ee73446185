"""Evaluate a written answer, revise it where it is weak, and keep the best version."""
