"""Plain functions, formula and source in the docstring. They know nothing of runs, passages or gates."""
