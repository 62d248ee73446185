"""Prompts of the outline strategy.

========================  ===================  ===========================================================
``DraftOutline``          ``outline.md``       the topics that an answer has to cover
``HypotheticalDocument``  ``hypothetical.md``  a made-up paragraph about a topic, to find passages like it
``LabelCluster``          ``label.md``         the name of a topic that the outline lacks
========================  ===================  ===========================================================
"""

from dataclasses import dataclass

from suffice.prompts.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class OutlineResponse:
    topics: tuple[str, ...]


class DraftOutline(Prompt[OutlineResponse]):
    """Four or five topics, from the task and the results of the first searches."""

    role = "outline"
    bounded_field = "topics"
    temperature = 0.2
    max_tokens = 300
    truncation_order = (("notes", "first"),)

    task: str
    notes: tuple[Note, ...]
    most: int


@dataclass(frozen=True, slots=True)
class HypotheticalDocumentResponse:
    text: str


class HypotheticalDocument(Prompt[HypotheticalDocumentResponse]):
    role = "hypothetical"
    output_format = "text"
    temperature = 0.4
    max_tokens = 300

    task: str
    topic: str


@dataclass(frozen=True, slots=True)
class LabelClusterResponse:
    """``label`` is empty when the passages have nothing in common that the task needs."""

    label: str


class LabelCluster(Prompt[LabelClusterResponse]):
    role = "label"
    output_format = "line"
    temperature = 0.2
    max_tokens = 16
    truncation_order = (("notes", "last"), ("topics", "last"))

    task: str
    topics: tuple[str, ...]
    notes: tuple[Note, ...]
