"""Reflect without a language model: a facet is covered by a passage that is about it; leads say where to look next.

*About it* means: the passage holds the facet's words and, unless the question is nothing but that facet, another word of
the question as well. A name in passing is not coverage.
"""

from suffice.asks import Reflect, ReflectionResponse
from suffice.text.entities import Facet, content_stems, facets
from suffice.types import Note


def reflect(ask: Reflect) -> ReflectionResponse:
    parts = facets(ask.task)
    question = frozenset[str]().union(*(facet.stems for facet in parts))
    open_parts = [facet for facet in parts if not any(covers(note, facet, question) for note in ask.notes)]
    reworded = [broader(query, open_parts) for query in ask.thin]
    # One lead a round: two or three found less for the same number of passages (bench/RESULTS.md).
    queries = [query for query in [*reworded, *ask.leads[:1]] if query and query not in ask.asked]
    return ReflectionResponse(
        sufficient=bool(ask.notes) and not open_parts,
        confidence=None,  # Words can be counted; how sure to be of an answer cannot.
        gaps=tuple(f"Nothing found about: {facet.text}" for facet in open_parts),
        new_queries=tuple(dict.fromkeys(queries))[: ask.most],
    )


def covers(note: Note, facet: Facet, question: frozenset[str]) -> bool:
    own = content_stems(f"{note.title} {note.text}")
    rest = question - facet.stems
    # A name of several words may be shortened on second mention, so most of it is enough; a single word must be there.
    enough = len(facet.stems & own) >= max(1, round(len(facet.stems) * 0.6))
    # Several words of a clause together are about it; a name or a single word may be there in passing.
    return enough and (not rest or bool(rest & own) or (not facet.named and len(facet.stems) > 1))


def broader(query: str, open_parts: list[Facet]) -> str:
    """A thin query put differently: the parts still open alone, else its first half."""
    for facet in open_parts:
        if facet.text.lower() not in query.lower() or len(facet.text) < len(query):
            return facet.text
    pieces = query.split()
    return " ".join(pieces[: max(1, len(pieces) // 2)])
