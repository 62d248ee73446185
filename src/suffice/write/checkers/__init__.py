"""Checkers: does a passage say what a claim says? Words and figures always, meaning and a model where they are at hand."""

from suffice.write.checkers.base import Checker, Finding
from suffice.write.checkers.lexical import Lexical

__all__ = ["Checker", "Finding", "Lexical"]
