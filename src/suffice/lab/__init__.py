"""Tools for comparing and fitting stop gates."""
