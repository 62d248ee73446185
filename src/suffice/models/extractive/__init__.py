"""The extractive model: research without a language model, deterministic and offline.

It selects and orders sentences of the sources and writes none of its own. Each module answers the prompts of the module of
the same name in ``suffice.prompts``.
"""

from suffice.models.extractive.model import ExtractiveModel

__all__ = ["ExtractiveModel"]
