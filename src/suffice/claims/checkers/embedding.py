"""Check claims by meaning: sentences that say the same in other words have vectors with a high cosine.

Opposites have similar vectors too. So a cosine alone never supports a claim: the span must share some of its words, and
``lexical`` must find nothing missing or conflicting. A high cosine together with a conflict contradicts the claim.
"""

import asyncio
from collections.abc import Sequence

from suffice.claims.checkers.base import CheckerThresholds, EvidenceSpan, load_thresholds
from suffice.claims.checkers.lexical import Comparison, compare_sentences, find_verbatim
from suffice.types import Embed, Passage

MAX_SPANS = 12  # Spans embedded for one claim: those that share most words with it.


class EmbeddingChecker:
    """Compares the vectors of a claim and of the nearest sentences."""

    name = "embedding"

    def __init__(self, embed: Embed, thresholds: CheckerThresholds | None = None) -> None:
        self._embed = embed
        self._thresholds = thresholds or load_thresholds()

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
            found = classify_by_cosine(start, end, comparison, float(cosine), self._thresholds)
            known = best[number]
            if known is None or (found.stance is not None, found.overlap) > (known.stance is not None, known.overlap):
                best[number] = found
        return best


def classify_by_cosine(
    start: int, end: int, comparison: Comparison, cosine: float, thresholds: CheckerThresholds
) -> EvidenceSpan:
    """Return what a span says about a claim, given their comparison and their cosine."""
    score = max(0.0, min(1.0, cosine))
    reason = comparison.conflict or comparison.missing
    is_near = comparison.overlap >= thresholds.cosine_near
    if comparison.conflict:
        contradicts = is_near and cosine >= thresholds.cosine_contradicts
        return EvidenceSpan(start, end, "contradicts" if contradicts else None, score, comparison.overlap, reason)
    supports = is_near and not comparison.missing and cosine >= thresholds.cosine
    return EvidenceSpan(start, end, "supports" if supports else None, score, comparison.overlap, reason)
