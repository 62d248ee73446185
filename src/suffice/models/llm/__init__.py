"""Language models of any provider behind the Model seam. The heavy imports happen at the first call."""

from suffice.models.llm.endpoint import PROVIDERS, Endpoint
from suffice.models.llm.model import LanguageModel

__all__ = ["PROVIDERS", "Endpoint", "LanguageModel"]
