"""Embeddings: the Embedder seam, the built-in MiniLM, fastembed, and models on a server."""

from suffice.models.embeddings.base import Embedder
from suffice.models.embeddings.minilm import MiniLM, get_minilm

__all__ = ["Embedder", "MiniLM", "get_minilm"]
