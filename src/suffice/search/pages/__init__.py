"""Read whole web pages: which may be read, how they are fetched, and what of them is text."""
