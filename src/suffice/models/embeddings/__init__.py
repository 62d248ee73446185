"""Embeddings: the Embedder seam, the built-in MiniLM and its static table, and models on a server."""

from suffice.models.embeddings.base import Embedder
from suffice.models.embeddings.minilm import MiniLM, get_minilm
from suffice.models.embeddings.static import embed_static

__all__ = ["Embedder", "MiniLM", "embed_static", "get_minilm"]
