"""Search in corpora that a database or a search engine holds, named by an address instead of a path."""
