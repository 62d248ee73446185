"""Prompts that write the answer.

===========  ==============  ======================================================================
``Draft``    ``draft.md``    the answer or one section of it (snippets: ``writing``)
``Revise``   ``revise.md``   the answer or one section, without the issues that a review found
``Compute``  ``compute.md``  a program for arithmetic that the answer needs
===========  ==============  ======================================================================

A model writes the answer as plain Markdown: models of every size do that best, and it can be shown while it streams. Its
first sentence is the summary; lists under known headings at its end become fields of the response.
"""

import re
from dataclasses import dataclass

from suffice.prompts.base import Prompt
from suffice.text.citations import skip_citations
from suffice.text.markdown import Section, find_headings, has_list_marker, split_list_items
from suffice.text.sentences import split_sentences
from suffice.types import ClosestPassage, Excerpt, Note, Sufficiency

_LIST_FIELDS = ("key_findings", "recommendations", "risks", "open_questions")
_OPENING_HEADINGS = ("answer", "final answer", "report", "summary")
_EMPTY_ITEM = re.compile(r"\W*(?:none|nothing|n/a|not applicable)\b.{0,40}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SynthesisResponse:
    """``answer`` is Markdown in which every statement is followed by the handles of its sources: ``… [3].``

    ``short_answer`` is the bare answer (a name, a number, yes or no), empty if there is none. A model that quotes instead of
    writing fills ``excerpts``, or ``closest`` when nothing answers the question. ``sufficiency`` is the writer's judgement.
    """

    answer: str
    summary: str = ""
    key_findings: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    short_answer: str = ""
    excerpts: tuple[Excerpt, ...] = ()
    closest: tuple[ClosestPassage, ...] = ()
    sufficiency: Sufficiency = "unknown"


@dataclass(frozen=True)
class Draft(Prompt[SynthesisResponse]):
    role = "draft"
    response_type = SynthesisResponse
    output_format = "text"
    temperature = 0.1
    max_tokens = 2000
    truncation_order = (("advice", "last"), ("gaps", "last"), ("notes", "first"))

    task: str
    notes: tuple[Note, ...]
    gaps: tuple[str, ...]
    caveats: tuple[str, ...]
    section: str = ""
    """The section to write; empty for the whole answer."""
    instruction: str = ""
    """How to write: one of the snippets in ``writing``."""
    count: int = 0
    """How many sections a list must have; 0 when the task gives no number."""
    advice: tuple[str, ...] = ()
    """What the planner noted before the search: advice, not evidence."""
    correction: str = ""
    """What was wrong with the last draft if it is requested again."""

    @classmethod
    def parse(cls, text: str) -> SynthesisResponse:
        return parse_markdown_answer(text)


@dataclass(frozen=True)
class Revise(Prompt[SynthesisResponse]):
    role = "revise"
    response_type = SynthesisResponse
    output_format = "text"
    temperature = 0.1
    max_tokens = 2500
    truncation_order = (("issues", "last"), ("notes", "first"))

    task: str
    instruction: str
    section: str
    """The section that ``text`` is; empty for the whole answer."""
    issues: tuple[str, ...]
    text: Note
    notes: tuple[Note, ...]

    @classmethod
    def parse(cls, text: str) -> SynthesisResponse:
        return parse_markdown_answer(text)


@dataclass(frozen=True, slots=True)
class ComputeResponse:
    """``code`` is empty when nothing needs to be computed."""

    code: str = ""


@dataclass(frozen=True)
class Compute(Prompt[ComputeResponse]):
    role = "compute"
    response_type = ComputeResponse
    truncation_order = (("notes", "first"),)

    task: str
    modules: str
    trouble: str
    """What was wrong with the last program; empty for the first."""
    notes: tuple[Note, ...]


def parse_markdown_answer(text: str) -> SynthesisResponse:
    """Return the parts of a written answer. Only known headings at its end are taken out; other headings belong to it."""
    text = text.strip()
    lists: dict[str, tuple[str, ...]] = {}
    while headings := find_headings(text, bold_lines=True):
        last = headings[-1]
        name = _heading_title(last).replace(" ", "_")
        if name not in _LIST_FIELDS or name in lists:
            break
        lists[name] = _parse_list_items(text[last.body_start :])
        text = text[: last.start].rstrip()
    if headings and headings[0].start == 0 and _heading_title(headings[0]) in _OPENING_HEADINGS:
        text = text[headings[0].body_start :].lstrip()
    if not text:  # Small models sometimes write only the lists: the findings are then the answer.
        text = "\n\n".join(lists.pop("key_findings", ()))
    findings, recommendations, risks, questions = (lists.get(name, ()) for name in _LIST_FIELDS)
    return SynthesisResponse(text, _extract_first_sentence(text), findings, recommendations, risks, questions)


def _heading_title(heading: Section) -> str:
    return heading.title.strip(" :").lower()


def _parse_list_items(text: str) -> tuple[str, ...]:
    """Return the items of a list, each in one line; without list markers, each paragraph is an item."""
    lines = (" ".join(piece.split()) for piece in split_list_items(text))
    return tuple(line for line in lines if line and not _EMPTY_ITEM.fullmatch(line))


def _extract_first_sentence(text: str) -> str:
    """Return the first sentence outside headings, quotations and lists, with the handles that follow it."""
    for paragraph in text.split("\n\n"):
        prose = paragraph.strip()
        if prose and not prose.startswith(("#", ">", "|", "```")) and not has_list_marker(prose):
            start, end = split_sentences(prose)[0]
            after = skip_citations(prose, end)
            return prose[start : after + (after > end and prose.startswith(".", after))]
    return ""
