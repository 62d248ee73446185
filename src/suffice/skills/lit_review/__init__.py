"""``/lit-review``: a literature review of papers, which a strong model writes, else from quotations that are checked."""
