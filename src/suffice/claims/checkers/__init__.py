"""Checkers decide whether a passage supports or contradicts a claim: by words and numbers, by meaning, by asking a model."""

from suffice.claims.checkers.base import CascadeChecker, Checker, EvidenceSpan
from suffice.claims.checkers.embedding import EmbeddingChecker
from suffice.claims.checkers.lexical import LexicalChecker
from suffice.claims.checkers.model import AskSupport, ModelChecker
from suffice.types import Embed

__all__ = [
    "AskSupport",
    "CascadeChecker",
    "Checker",
    "EmbeddingChecker",
    "EvidenceSpan",
    "LexicalChecker",
    "ModelChecker",
    "default_checker",
]


def default_checker(embed: Embed | None = None, ask: AskSupport | None = None) -> Checker:
    """Return the lexical checker, followed by those that the given embeddings and model allow."""
    checkers: list[Checker] = [LexicalChecker()]
    if embed is not None:
        checkers.append(EmbeddingChecker(embed))
    if ask is not None:
        checkers.append(ModelChecker(ask))
    return CascadeChecker(*checkers)
