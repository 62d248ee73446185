"""Plan without a language model: the question itself; a question that compares also asks for each named thing."""

import re
from typing import Literal

from suffice.prompts import (
    HypothesesResponse,
    Hypothesis,
    Hypothesize,
    Plan,
    PlannedQuery,
    PlanResponse,
    ProposeQuery,
    ProposeQueryResponse,
    Reflect,
    ReflectionResponse,
)
from suffice.text.entities import Facet, content_stems, extract_facets, extract_names
from suffice.text.task_type import classify_task, parse_item_count
from suffice.types import Note

_COMPARISON = re.compile(r"\b(?:or|both|between|versus|vs|than|same|differ\w*|compar\w*)\b", re.IGNORECASE)


def plan_queries(prompt: Plan) -> PlanResponse:
    """The whole question is the best single query there is; its parts alone bring back less of what is wanted, except where
    two things stand side by side and each has its own pages."""
    parts = extract_facets(prompt.task)
    named = [facet for facet in parts if facet.is_named]
    queries = [PlannedQuery(prompt.task, "the question itself")]
    if len(named) > 1 and _COMPARISON.search(prompt.task):
        rest = " ".join(facet.text for facet in parts if not facet.is_named)
        queries += [PlannedQuery(f"{facet.text} {rest}".strip(), f"about {facet.text}") for facet in named]
    kind, count = classify_task(prompt.task), parse_item_count(prompt.task)
    return PlanResponse(tuple(queries[: prompt.most]), _classify_complexity(len(parts)), kind, count)


def _classify_complexity(parts: int) -> Literal["simple", "standard", "deep"]:
    if parts <= 1:
        return "simple"
    return "standard" if parts <= 4 else "deep"


def reflect(prompt: Reflect) -> ReflectionResponse:
    parts = extract_facets(prompt.task)
    question = frozenset[str]().union(*(facet.stems for facet in parts))
    open_parts = [facet for facet in parts if not any(covers_facet(note, facet, question) for note in prompt.notes)]
    reworded = [broaden_query(query, open_parts) for query in prompt.thin]
    # One lead a round: two or three found less for the same number of passages (bench/RESULTS.md).
    queries = [query for query in [*reworded, *prompt.leads[:1]] if query and query not in prompt.asked]
    return ReflectionResponse(
        sufficient=bool(prompt.notes) and not open_parts,
        confidence=None,  # Words can be counted; how sure to be of an answer cannot.
        gaps=tuple(f"Nothing found about: {facet.text}" for facet in open_parts),
        new_queries=tuple(dict.fromkeys(queries))[: prompt.most],
    )


def covers_facet(note: Note, facet: Facet, question: frozenset[str]) -> bool:
    own = content_stems(f"{note.title} {note.text}")
    rest = question - facet.stems
    # A name of several words may be shortened on second mention, so most of it is enough; a single word must be there.
    enough = len(facet.stems & own) >= max(1, round(len(facet.stems) * 0.6))
    # Several words of a clause together are about it; a name or a single word may be there in passing.
    return enough and (not rest or bool(rest & own) or (not facet.is_named and len(facet.stems) > 1))


def broaden_query(query: str, open_parts: list[Facet]) -> str:
    """A thin query put differently: the parts still open alone, else its first half."""
    for facet in open_parts:
        if facet.text.lower() not in query.lower() or len(facet.text) < len(query):
            return facet.text
    pieces = query.split()
    return " ".join(pieces[: max(1, len(pieces) // 2)])


def propose_query(prompt: ProposeQuery) -> ProposeQueryResponse:
    return ProposeQueryResponse(
        _append_missing_words(prompt.leads[0] if prompt.leads else "", prompt.part or _uncovered_facets(prompt))
    )


def _uncovered_facets(prompt: ProposeQuery) -> str:
    """The facets of the question that no note is about."""
    parts = extract_facets(prompt.task)
    question = frozenset[str]().union(*(facet.stems for facet in parts))
    return " ".join(
        facet.text for facet in parts if not any(covers_facet(note, facet, question) for note in prompt.known)
    )


def _append_missing_words(lead: str, part: str) -> str:
    known = content_stems(lead)
    missing = [word for word in part.split() if not content_stems(word) <= known] if lead else part.split()
    return " ".join([*lead.split(), *missing])


def propose_hypotheses(prompt: Hypothesize) -> HypothesesResponse:
    question = content_stems(prompt.task)
    likeness: dict[str, int] = {}
    for note in prompt.notes:
        shared = len(question & content_stems(f"{note.title} {note.text}"))
        for name in dict.fromkeys(extract_names(note.text)):
            if shared and not content_stems(name) <= question:
                likeness[name] = max(shared, likeness.get(name, 0))
    standing = [note.text.partition(": ")[2] for note in prompt.standing if not note.text.startswith("0%")]
    ranked = sorted(likeness, key=lambda name: -likeness[name])  # Ties in the order found.
    rivals = list(dict.fromkeys([*standing[: prompt.most - 1], *ranked]))[: prompt.most]
    return HypothesesResponse(tuple(Hypothesis(name, f"{prompt.task} {name}") for name in rivals))
