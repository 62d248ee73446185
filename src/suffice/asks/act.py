"""Act: a thought and one action, Search, Lookup or Finish (ReAct, S3)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class ReActStepResponse:
    """``action`` is the model's own word; whoever asked checks it."""

    thought: str
    action: str
    argument: str = ""


@dataclass(frozen=True)
class ReActStep(Prompt[ReActStepResponse]):
    """``looked_up`` holds what lookups found since the last search; ``complaint`` says what was wrong with the last answer."""

    role = "act"
    response_type = ReActStepResponse
    max_tokens = 200
    truncation_order = (("steps", "first"), ("looked_up", "first"), ("notes", "first"))

    task: str
    notes: tuple[Note, ...]
    steps: tuple[str, ...]
    looked_up: tuple[Note, ...]
    complaint: str = ""
