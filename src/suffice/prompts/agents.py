"""Prompts of the agent strategies."""

from collections.abc import Mapping
from dataclasses import field

from suffice.prompts.base import Prompt, Response, TextResponse
from suffice.types import Note


class IRCoTStep(Prompt[TextResponse]):
    """The next sentence of a chain of reasoning; empty when the model has nothing to add."""

    role = "thought"
    output_format = "line"
    max_tokens = 120
    truncation_order = (("thoughts", "first"), ("notes", "first"))

    task: str
    notes: tuple[Note, ...]
    thoughts: tuple[str, ...]
    left: str = ""
    """What is left of the budget, in one line."""


class ReActStepResponse(Response):
    """A thought and an action. ``action`` is unchecked: the caller validates it."""

    thought: str
    action: str
    argument: str = ""


class ReActStep(Prompt[ReActStepResponse]):
    """``looked_up`` holds what lookups found since the last search; ``complaint`` what was wrong with the last response."""

    role = "act"
    max_tokens = 200
    truncation_order = (("steps", "first"), ("looked_up", "first"), ("notes", "first"))

    task: str
    notes: tuple[Note, ...]
    steps: tuple[str, ...]
    looked_up: tuple[Note, ...]
    complaint: str = ""
    left: str = ""


class MemGPTStepResponse(Response):
    """A tool call. ``tool`` and ``arguments`` are unchecked: the caller validates them."""

    inner_monologue: str
    tool: str
    arguments: Mapping[str, str | int] = field(default_factory=dict)


class MemGPTStep(Prompt[MemGPTStepResponse]):
    """A tool call of an agent that manages its own memory.

    ``core`` is the memory block, ``page`` the result of the last recall, ``pressure`` the warnings about a full memory,
    ``complaint`` what was wrong with the last response."""

    role = "step"
    max_tokens = 500
    truncation_order = (("steps", "first"), ("page", "last"), ("notes", "first"))

    task: str
    core: tuple[Note, ...]
    notes: tuple[Note, ...]
    page: tuple[Note, ...]
    steps: tuple[str, ...]
    pressure: tuple[str, ...]
    complaint: str = ""
    left: str = ""


class ShortAnswer(Prompt[TextResponse]):
    """The answer in a few words or one sentence; empty when the passages do not have it."""

    role = "short_answer"
    output_format = "line"
    max_tokens = 100
    truncation_order = (("notes", "last"),)

    task: str
    notes: tuple[Note, ...]
