"""Novelty and judgement without a language model: counted in words."""

from suffice.asks import Judge, JudgeResponse, Novelty, NoveltyResponse
from suffice.text.tokens import jaccard, words

_STALE = 0.6  # Queries that share more than this of their words ask the same thing.


def novelty(ask: Novelty) -> NoveltyResponse:
    """The share of the results' words that are not known, times ten."""
    known = {word for note in ask.known for word in words(note.text)}
    found = {word for note in ask.results for word in words(note.text)}
    if not found:
        return NoveltyResponse(0)
    return NoveltyResponse(round(10 * len(found - known) / len(found)) if known else 10)


def judge(ask: Judge) -> JudgeResponse:
    """Nothing new is exhausted; a repeated query is stale; everything else is productive."""
    if not ask.results:
        return JudgeResponse("EXHAUSTED")
    if len(ask.queries) > 1 and jaccard(words(ask.queries[-1]), words(ask.queries[-2])) > _STALE:
        return JudgeResponse("QUERY_STALE")
    return JudgeResponse("PRODUCTIVE")
