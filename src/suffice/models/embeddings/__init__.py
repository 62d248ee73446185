"""Texts to unit vectors: the Embedder seam and what is behind it."""

from suffice.models.embeddings.base import Embedder
from suffice.models.embeddings.minilm import MiniLM

__all__ = ["Embedder", "MiniLM"]
