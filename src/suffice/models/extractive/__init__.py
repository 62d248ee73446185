"""Research without a language model: deterministic, offline, one small function an ask.

It chooses and orders what sources say; it never writes a sentence that no source contains.
"""

from suffice.models.extractive.model import ExtractiveModel

__all__ = ["ExtractiveModel"]
