"""Thought: the next sentence of a chain of reasoning (IRCoT, S3)."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from suffice.prompts.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class IRCoTStepResponse:
    """One sentence; empty when the model has nothing to add."""

    sentence: str


@dataclass(frozen=True)
class IRCoTStep(Prompt[IRCoTStepResponse]):
    role = "thought"
    response_type = IRCoTStepResponse
    output_format = "line"
    max_tokens = 120
    truncation_order = (("thoughts", "first"), ("notes", "first"))

    task: str
    notes: tuple[Note, ...]
    thoughts: tuple[str, ...]


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


@dataclass(frozen=True, slots=True)
class ShortAnswerResponse:
    """A few words or one sentence; empty when the passages say nothing."""

    text: str


@dataclass(frozen=True)
class ShortAnswer(Prompt[ShortAnswerResponse]):
    role = "short_answer"
    response_type = ShortAnswerResponse
    output_format = "line"
    max_tokens = 100
    truncation_order = (("notes", "last"),)

    task: str
    notes: tuple[Note, ...]
