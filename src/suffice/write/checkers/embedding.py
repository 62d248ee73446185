"""Meaning: sentences that say the same in other words, found by the cosine of their vectors.

Vectors of opposites lie close together, so a cosine alone never supports a claim: the stretch must share some of its words,
and nothing that ``lexical`` compares may be missing or turned round. It cannot tell what speaks against a claim; near in
meaning and at odds in a figure or a negation does.
"""

import asyncio
from collections.abc import Sequence

from suffice.leads import Embed
from suffice.types import Passage
from suffice.write.checkers.base import Finding
from suffice.write.checkers.lexical import Comparison, compared, verbatim
from suffice.write.checkers.thresholds import Thresholds, thresholds

STRETCHES = 12  # Stretches whose vectors are taken for one claim: those that share most words with it.


class Embedding:
    name = "embedding"

    def __init__(self, embed: Embed, limits: Thresholds | None = None) -> None:
        self._embed = embed
        self._limits = limits or thresholds()

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[Finding | None]:
        best: list[Finding | None] = [verbatim(claim, passage) for passage in passages]
        rows = [
            (number, start, end, comparison)
            for number, passage in enumerate(passages)
            if best[number] is None
            for start, end, comparison in compared(claim, passage)
        ]
        rows = sorted(rows, key=lambda row: -row[3].near)[:STRETCHES]
        if not rows:
            return best
        texts = [" ".join(passages[number].text[start:end].split()) for number, start, end, _ in rows]
        vectors = await asyncio.to_thread(self._embed, [claim, *texts])
        for (number, start, end, comparison), cosine in zip(rows, vectors[1:] @ vectors[0], strict=True):
            found = aligned(start, end, comparison, float(cosine), self._limits)
            own = best[number]
            if own is None or (found.stance is not None, found.near) > (own.stance is not None, own.near):
                best[number] = found
        return best


def aligned(start: int, end: int, comparison: Comparison, cosine: float, limits: Thresholds) -> Finding:
    """What a stretch says to a claim when its cosine is known too."""
    near = max(0.0, min(1.0, cosine))
    why = comparison.conflict or comparison.missing
    if comparison.conflict:
        against = cosine >= limits.cosine_contradicts and comparison.near >= limits.cosine_near
        return Finding(start, end, "contradicts" if against else None, near, comparison.near, why)
    for_it = not comparison.missing and cosine >= limits.cosine and comparison.near >= limits.cosine_near
    return Finding(start, end, "supports" if for_it else None, near, comparison.near, why)
