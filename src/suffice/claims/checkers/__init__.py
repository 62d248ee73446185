"""Checkers decide whether a passage supports or contradicts a claim: by words and numbers, by meaning, by asking a model."""

from suffice.claims.checkers.base import CascadeChecker, Checker, EvidenceSpan
from suffice.claims.checkers.embedding import EmbeddingChecker
from suffice.claims.checkers.lexical import LexicalChecker
from suffice.claims.checkers.model import AskSupport, ModelChecker
from suffice.claims.checkers.reader import ReaderChecker, has_reader
from suffice.types import Embed

__all__ = [
    "AskSupport",
    "CascadeChecker",
    "Checker",
    "EmbeddingChecker",
    "EvidenceSpan",
    "LexicalChecker",
    "ModelChecker",
    "ReaderChecker",
    "default_checker",
]


def default_checker(embed: Embed | None = None, ask: AskSupport | None = None) -> Checker:
    """Return rules and the reader, followed by the given model; words and vectors where the reader cannot be loaded."""
    first: Checker = ReaderChecker() if has_reader() else LexicalChecker()
    checkers = [first]
    if embed is not None and isinstance(first, LexicalChecker):
        checkers.append(EmbeddingChecker(embed))
    if ask is not None:
        checkers.append(ModelChecker(ask, nearest=first))
    return CascadeChecker(*checkers)
