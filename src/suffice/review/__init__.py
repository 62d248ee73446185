"""Evaluate and revise: a written answer is read by a judge, mended where it is weak, and the best version is kept."""
