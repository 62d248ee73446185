"""Checkers: does a passage say what a claim says? Words and figures always, meaning where vectors are at hand."""

from suffice.leads import Embed
from suffice.write.checkers.base import Checker, Finding
from suffice.write.checkers.combined import Combined
from suffice.write.checkers.embedding import Embedding
from suffice.write.checkers.lexical import Lexical

__all__ = ["Checker", "Combined", "Embedding", "Finding", "Lexical", "standard"]


def standard(embed: Embed | None = None) -> Checker:
    """The default checker for what is at hand."""
    return Lexical() if embed is None else Combined(Lexical(), Embedding(embed))
