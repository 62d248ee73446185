"""Plan, reflect and propose queries from the words of the question and the notes.

A question is split into facets, such as a name or a clause. What no note is about is a gap.
"""

from collections.abc import Sequence
from typing import Literal

from suffice.models.extractive.steps import StepReader
from suffice.models.reading import PassageReader
from suffice.prompts.planning import (
    Plan,
    PlannedQuery,
    PlanResponse,
    ProposeQuery,
    ProposeQueryResponse,
    Reflect,
    ReflectionResponse,
)
from suffice.text.descriptions import find_descriptions
from suffice.text.entities import Facet, content_stems, extract_facets
from suffice.text.question import asks_in_steps, read_question
from suffice.text.task_type import classify_task, parse_item_count
from suffice.types import Note

_KEYWORD_KINDS = {"setting": "", "howto": "example", "list": ""}  # Searched by their words too, with these added.
_MAX_NEXT_STEPS = 2  # Queries of one round.
_MIN_STEP = 0.3  # Probability of a step that was found.
_MIN_STEP_SHARE = 0.25  # Of the best step's probability.


def plan_queries(prompt: Plan) -> PlanResponse:
    """Plan the whole question as a query, which is not counted, and for a comparison one more query for each named thing.

    The whole question is the best single query; its parts alone find less, except where each compared thing has pages of its
    own. A question for a setting, an instruction, a list or a number is asked by its words alone as well: what answers it
    often has little else in common with it.
    """
    question = read_question(prompt.task)
    parts = extract_facets(prompt.task, limit=20, language=question.language)
    queries = [PlannedQuery(prompt.task, "the question itself")]
    if question.sides:
        taken = content_stems(" ".join(question.sides))
        words = dict.fromkeys(" ".join(facet.text for facet in parts).split())
        rest = " ".join(word for word in words if not content_stems(word) <= taken)
        queries += [PlannedQuery(f"{side} {rest}".strip(), f"about {side}") for side in question.sides]
    elif question.kind in _KEYWORD_KINDS:
        wording = " ".join(facet.text for facet in parts)
        queries.append(PlannedQuery(f"{wording} {_KEYWORD_KINDS[question.kind]}".strip(), "the words of the question"))
    kind, count = classify_task(prompt.task), parse_item_count(prompt.task)
    size: Literal["simple", "standard", "deep"] = (
        "simple" if len(parts) <= 1 else "standard" if len(parts) <= 4 else "deep"
    )
    return PlanResponse(tuple(queries[: prompt.most + 1]), size, kind, count)


def reflect(prompt: Reflect, reader: PassageReader | None = None) -> ReflectionResponse:
    """Judge sufficiency by the facets that notes cover; reword queries with few results, and follow the best lead.

    With a reader, a question that describes a thing is asked again with the name of the thing.
    """
    open_parts = find_uncovered_facets(prompt.task, prompt.notes)
    mentioned = frozenset[str]().union(*(content_stems(f"{note.title} {note.text}") for note in prompt.notes))
    reworded = [broaden_query(query, open_parts) for query in prompt.thin]
    # One lead per round: two or three found less for the same number of passages (bench/RESULTS.md).
    steps = _list_next_steps(prompt, reader)
    queries = [query for query in [*steps, *reworded, *prompt.leads[:1]] if query and query not in prompt.asked]
    return ReflectionResponse(
        sufficient=bool(prompt.notes) and not open_parts,
        confidence=None,  # Counting words gives no probability.
        gaps=tuple(f"Nothing found about: {facet.text}" for facet in open_parts if not facet.stems & mentioned),
        new_queries=tuple(map(PlannedQuery, dict.fromkeys(queries)))[: prompt.most],
    )


def _list_next_steps(prompt: Reflect, reader: PassageReader | None) -> list[str]:
    if reader is None or not asks_in_steps(prompt.task):
        return []
    steps = StepReader(prompt.task, prompt.notes, reader).follow()
    best = steps[0].probability if steps else 0.0
    queries = [step.question for step in steps if step.probability > _MIN_STEP_SHARE * best]
    if best < _MIN_STEP:  # What is described was not found yet.
        queries[:0] = [description.question for description in find_descriptions(prompt.task)[:1]]
    return [query for query in queries if query not in prompt.asked][:_MAX_NEXT_STEPS]


def find_uncovered_facets(task: str, notes: Sequence[Note]) -> list[Facet]:
    """Return the facets of the question that no note is about."""
    language = read_question(task).language
    facets = extract_facets(task, language=language)
    question = frozenset[str]().union(*(facet.stems for facet in facets))
    held = [content_stems(f"{note.title} {note.text}", language) for note in notes]
    return [facet for facet in facets if not any(_covers_facet(stems, facet, question) for stems in held)]


def _covers_facet(stems: frozenset[str], facet: Facet, question: frozenset[str]) -> bool:
    """Return whether a note with these stems is about a facet of the question; ``question`` holds the stems of all facets."""
    rest = question - facet.stems
    # A name of several words may be shortened on second mention, so most of it is enough; a single word must be there.
    is_mentioned = len(facet.stems & stems) >= max(1, round(len(facet.stems) * 0.6))
    # Several words of a clause together are about it; a name or a single word may be mentioned in passing.
    return is_mentioned and (not rest or bool(rest & stems) or (not facet.is_named and len(facet.stems) > 1))


def broaden_query(query: str, open_parts: list[Facet]) -> str:
    """Return a query with few results in other words: an open facet alone, else the first half of its content words."""
    for facet in open_parts:
        if facet.text.lower() not in query.lower() or len(facet.text) < len(query):
            return facet.text
    words = [word.strip("?!.,;:") for word in query.split() if content_stems(word)]
    return " ".join(words[: max(1, len(words) // 2)])


def propose_query(prompt: ProposeQuery) -> ProposeQueryResponse:
    """Combine the best lead with the part to look into, else with what no note is about."""
    part = prompt.part or " ".join(facet.text for facet in find_uncovered_facets(prompt.task, prompt.known))
    lead = prompt.leads[0] if prompt.leads else ""
    missing = [word for word in part.split() if not lead or not content_stems(word) <= content_stems(lead)]
    return ProposeQueryResponse(" ".join([*lead.split(), *missing]))
