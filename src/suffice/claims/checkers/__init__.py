"""Checkers: does a passage say what a claim says? Words and figures always, meaning and a model where they are at hand."""

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
    """The default checker for what is at hand: vectors, and a language model to ask."""
    chosen: list[Checker] = [LexicalChecker()]
    if embed is not None:
        chosen.append(EmbeddingChecker(embed))
    if ask is not None:
        chosen.append(ModelChecker(ask))
    return CascadeChecker(*chosen)
