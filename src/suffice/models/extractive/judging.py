"""Rate novelty and judge progress by counting words."""

from suffice.prompts.judging import NOTHING_NEW, JudgeProgress, JudgeProgressResponse, NoveltyResponse, RateNovelty
from suffice.text.tokens import jaccard, tokenize

_STALE_THRESHOLD = 0.6  # Two queries with a larger Jaccard index of words count as the same.


def rate_novelty(prompt: RateNovelty) -> NoveltyResponse:
    """Return the share of the results' words that are not known, from 0 to 10."""
    known = {word for note in prompt.known for word in tokenize(note.text)}
    found = {word for note in prompt.results for word in tokenize(note.text)}
    if not found:
        return NoveltyResponse(0)
    return NoveltyResponse(round(10 * len(found - known) / len(found)) if known else 10)


def judge_progress(prompt: JudgeProgress) -> JudgeProgressResponse:
    """Return EXHAUSTED if the last round brought nothing new, QUERY_STALE for a repeated query, else PRODUCTIVE."""
    *earlier, last = prompt.rounds
    if last.text == NOTHING_NEW:
        return JudgeProgressResponse("EXHAUSTED")
    if earlier and jaccard(tokenize(last.title), tokenize(earlier[-1].title)) > _STALE_THRESHOLD:
        return JudgeProgressResponse("QUERY_STALE")
    return JudgeProgressResponse("PRODUCTIVE")
