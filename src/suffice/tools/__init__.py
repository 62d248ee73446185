"""Tools that a run may use in addition to search and model."""
