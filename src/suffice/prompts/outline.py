"""Prompts of the outline strategy."""

from suffice.prompts.base import Prompt, Response, TextResponse
from suffice.types import Note


class OutlineResponse(Response):
    topics: tuple[str, ...]


class DraftOutline(Prompt[OutlineResponse]):
    """The four or five topics that an answer has to cover, from the task and the results of the first searches."""

    role = "outline"
    bounded_field = "topics"
    temperature = 0.2
    max_tokens = 300
    truncation_order = (("notes", "first"),)

    task: str
    notes: tuple[Note, ...]
    most: int


class HypotheticalDocument(Prompt[TextResponse]):
    """A made-up paragraph about a topic, to find passages like it."""

    role = "hypothetical"
    output_format = "text"
    temperature = 0.4
    max_tokens = 300

    task: str
    topic: str


class LabelCluster(Prompt[TextResponse]):
    """The name of a topic that the outline lacks; empty when the passages have nothing in common that the task needs."""

    role = "label"
    output_format = "line"
    temperature = 0.2
    max_tokens = 16
    truncation_order = (("notes", "last"), ("topics", "last"))

    task: str
    topics: tuple[str, ...]
    notes: tuple[Note, ...]
