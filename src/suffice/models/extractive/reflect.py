"""Reflect without a language model: a facet is covered by a passage that is about it; leads say where to look next.

*About it* means: the passage holds the facet's words and, unless the question is nothing but that facet, another word of
the question as well. A name in passing is not coverage.
"""

from suffice.asks import Reflect, ReflectionResponse
from suffice.text.entities import Facet, content_stems, extract_facets
from suffice.types import Note


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
