"""Embeddings: the Embedder seam, the built-in MiniLM and its static table, and models on a server."""
