"""Run parsers of untrusted data in child processes with limits on memory, CPU, time and output.

A child outlives neither its parent nor its idle time. Nothing that it prints reaches the user. Its answers are decoded as
plain data, so that a parser taken over by a hostile file cannot run code in the parent.

On Linux the memory limit holds for everything that a child allocates. macOS does not enforce it; there only the limits on CPU,
time and output hold.
"""
