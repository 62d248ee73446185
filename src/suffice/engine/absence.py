"""Bound what the passages that were not found can hold, when a question over files on this machine is refused.

The reader reads the nearest passages and some drawn at random from the others. How often it recognises a passage that answers
is measured (``python -m bench.breadth --absence``); what it misses is part of the bound.
"""

import asyncio
from collections.abc import Sequence
from random import Random

from suffice.measure.absence import CONFIDENCE, bound_share
from suffice.models.reader.model import find_reader
from suffice.models.reading import PassageReader
from suffice.search.base import ScopeSearch
from suffice.state.run import RunState
from suffice.types import Absence, Passage

# Passages that are read: about 35 ms each on two cores, so that a refusal waits less than 5 s.
_MAX_NEAREST, SAMPLED = 40, 80
_AT_ONCE = 16
MAX_LISTED = 20_000
MIN_PROBABILITY = 0.5  # From it on the reader holds that a passage answers.
FOUND, SHOWN = 44, 106  # Passages with the answer to a question in other words that it recognised, and all of them.


async def estimate_absence(run: RunState, documents: ScopeSearch) -> Absence | None:
    """Return how surely nothing in scope answers the question; ``None`` where that cannot be said.

    It cannot where the reader holds that one of the nearest passages answers, though the question was refused.
    """
    reader = find_reader() if run.embed is not None else None
    if reader is None or run.budget.is_spent():
        return None
    passages = await documents.list_passages(MAX_LISTED)
    nearest = (run.nearest or tuple(run.evidence))[:_MAX_NEAREST]
    if not passages or await _count_answers(run.question, nearest, reader):
        return None
    known = {passage.id for passage in nearest}
    others = [passage for passage in passages if passage.id not in known]
    drawn = Random(run.seed).sample(others, min(SAMPLED, len(others)))
    positive = await _count_answers(run.question, drawn, reader)
    at_most = bound_share(len(drawn), positive, len(others), found=FOUND, shown=SHOWN)
    return Absence(len(nearest), len(drawn), len(passages), at_most, CONFIDENCE)


async def _count_answers(question: str, passages: Sequence[Passage], reader: PassageReader) -> int:
    """Return how many passages answer by the reader. A few at a time: an interruption does not wait for all."""
    count, texts = 0, [f"{passage.title}\n{passage.text}" for passage in passages]
    for start in range(0, len(texts), _AT_ONCE):
        answers = await asyncio.to_thread(reader.read, question, texts[start : start + _AT_ONCE])
        count += sum(answer.probability >= MIN_PROBABILITY for answer in answers)
    return count
