"""Checkers: does a passage say what a claim says? Words and figures always, meaning and a model where they are at hand."""

from suffice.leads import Embed
from suffice.write.checkers.base import Checker, Finding
from suffice.write.checkers.combined import Combined
from suffice.write.checkers.embedding import Embedding
from suffice.write.checkers.lexical import Lexical
from suffice.write.checkers.model import ModelChecker, Question

__all__ = ["Checker", "Combined", "Embedding", "Finding", "Lexical", "ModelChecker", "Question", "standard"]


def standard(embed: Embed | None = None, ask: Question | None = None) -> Checker:
    """The default checker for what is at hand: vectors, and a language model to ask."""
    chosen: list[Checker] = [Lexical()]
    if embed is not None:
        chosen.append(Embedding(embed))
    if ask is not None:
        chosen.append(ModelChecker(ask))
    return Combined(*chosen)
