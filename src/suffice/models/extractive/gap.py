"""The next query without a language model: the best open lead, joined with the part of the question nothing covers yet.

It cannot word a question of its own. A lead holds what the question asks and the open end of a passage; what is added are
words that the lead lacks. That is seldom anything: on 39 of 40 MuSiQue questions ``saturate`` asked word for word what
``reflect`` asks, so without a language model the two cannot be told apart by recall.
"""

from suffice.asks import ProposeQuery, ProposeQueryResponse
from suffice.models.extractive.reflect import covers_facet
from suffice.text.entities import content_stems, extract_facets


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
