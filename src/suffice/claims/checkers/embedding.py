"""Meaning: sentences that say the same in other words, found by the cosine of their vectors.

Vectors of opposites lie close together, so a cosine alone never supports a claim: the stretch must share some of its words,
and nothing that ``lexical`` compares may be missing or turned round. It cannot tell what speaks against a claim; near in
meaning and at odds in a figure or a negation does.
"""

import asyncio
from collections.abc import Sequence

from suffice.claims.checkers.base import CheckerThresholds, EvidenceSpan, load_thresholds
from suffice.claims.checkers.lexical import Comparison, compare_sentences, find_verbatim
from suffice.types import Embed, Passage

MAX_SPANS = 12  # Stretches whose vectors are taken for one claim: those that share most words with it.


class EmbeddingChecker:
    name = "embedding"

    def __init__(self, embed: Embed, limits: CheckerThresholds | None = None) -> None:
        self._embed = embed
        self._limits = limits or load_thresholds()

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        best: list[EvidenceSpan | None] = [find_verbatim(claim, passage) for passage in passages]
        rows = [
            (number, start, end, comparison)
            for number, passage in enumerate(passages)
            if best[number] is None
            for start, end, comparison in compare_sentences(claim, passage)
        ]
        rows = sorted(rows, key=lambda row: -row[3].overlap)[:MAX_SPANS]
        if not rows:
            return best
        texts = [" ".join(passages[number].text[start:end].split()) for number, start, end, _ in rows]
        vectors = await asyncio.to_thread(self._embed, [claim, *texts])
        for (number, start, end, comparison), cosine in zip(rows, vectors[1:] @ vectors[0], strict=True):
            found = classify_by_cosine(start, end, comparison, float(cosine), self._limits)
            own = best[number]
            if own is None or (found.stance is not None, found.overlap) > (own.stance is not None, own.overlap):
                best[number] = found
        return best


def classify_by_cosine(
    start: int, end: int, comparison: Comparison, cosine: float, limits: CheckerThresholds
) -> EvidenceSpan:
    """What a stretch says to a claim when its cosine is known too."""
    near = max(0.0, min(1.0, cosine))
    why = comparison.conflict or comparison.missing
    if comparison.conflict:
        against = cosine >= limits.cosine_contradicts and comparison.overlap >= limits.cosine_near
        return EvidenceSpan(start, end, "contradicts" if against else None, near, comparison.overlap, why)
    for_it = not comparison.missing and cosine >= limits.cosine and comparison.overlap >= limits.cosine_near
    return EvidenceSpan(start, end, "supports" if for_it else None, near, comparison.overlap, why)
