"""Step: an inner monologue and one tool call of an agent that manages its own memory (MemGPT, S3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class MemGPTStepResponse:
    """``tool`` and ``arguments`` are the model's own words; whoever asked checks them."""

    inner_monologue: str
    tool: str
    arguments: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class MemGPTStep(Prompt[MemGPTStepResponse]):
    """``core`` is the memory block, ``page`` what the last recall showed, ``pressure`` the warnings, ``complaint`` what was
    wrong with the last answer."""

    role = "step"
    response_type = MemGPTStepResponse
    max_tokens = 500
    truncation_order = (("steps", "first"), ("page", "last"), ("notes", "first"))

    task: str
    core: tuple[Note, ...]
    notes: tuple[Note, ...]
    page: tuple[Note, ...]
    steps: tuple[str, ...]
    pressure: tuple[str, ...]
    complaint: str = ""
