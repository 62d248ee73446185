"""Rival hypotheses and how much of the evidence speaks for each (S3's parallel hypotheses with aggregation).

    speaks(h, p) = share of h's own words in p · share of the question's words in p
    support(h)   = sum over the three passages that speak most for it
    weight(h)    = support(h) / support of all rivals

A hypothesis' own words are those that the question does not have. The weight says how the evidence is spread over them; it
is no probability, and a hypothesis is never a fact. A passage is read once for each rival: a round costs O(what is new).
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from suffice.text.entities import content_stems
from suffice.types import Note, Passage

HYPOTHESIS = "hypothesis"  # The kind of a note that says what may be so.
_SPEAKERS = 3


@dataclass(slots=True)
class _Rival:
    text: str
    own: frozenset[str]
    asked: int = 0
    best: list[tuple[float, int]] = field(default_factory=list)
    """The passages that speak most for it, by their position."""

    @property
    def support(self) -> float:
        return sum(score for score, _ in self.best)


class Rivals:
    def __init__(self, question: str) -> None:
        self._question = content_stems(question)
        self._rivals: dict[str, _Rival] = {}
        self._read: list[tuple[frozenset[str], float]] = []

    def consider(self, texts: Sequence[str]) -> None:
        """These are the rivals from now on. One that was there keeps its weight; one that only repeats the question is none."""
        kept: dict[str, _Rival] = {}
        for text in texts:
            rival = self._rivals.get(text) or _Rival(text, content_stems(text) - self._question)
            if rival.own and all(rival.own != other.own for other in kept.values()):
                kept[text] = rival
        fresh = [rival for text, rival in kept.items() if text not in self._rivals]
        self._rivals = kept
        for position, (stems, share) in enumerate(self._read):
            _weigh(fresh, position, stems, share)

    def read(self, passages: Sequence[Passage]) -> None:
        """Take in the passages behind those read before."""
        for passage in passages:
            stems = content_stems(f"{passage.title} {passage.text}")
            share = len(self._question & stems) / len(self._question) if self._question else 1.0
            self._read.append((stems, share))
            _weigh(list(self._rivals.values()), len(self._read) - 1, stems, share)

    @property
    def taken(self) -> int:
        return len(self._read)

    def tried(self, text: str) -> None:
        self._rivals[text].asked += 1

    def next(self) -> list[str]:
        """The rivals, those asked about least first, then by support."""
        return [r.text for r in sorted(self._rivals.values(), key=lambda rival: (rival.asked, -rival.support))]

    def standing(self) -> tuple[Note, ...]:
        """Each rival with its weight and the handles of what speaks for it, the strongest first."""
        total = sum(rival.support for rival in self._rivals.values())
        ranked = sorted(self._rivals.values(), key=lambda rival: -rival.support)
        return tuple(
            Note(
                f"{rival.support / total if total else 0:.0%} of the support: {rival.text}",
                tuple(f"[{position + 1}]" for _, position in sorted(rival.best, reverse=True)),
                kind=HYPOTHESIS,
                whole=False,
            )
            for rival in ranked
        )


def _weigh(rivals: Sequence[_Rival], position: int, stems: frozenset[str], share: float) -> None:
    for rival in rivals:
        speaks = share * len(rival.own & stems) / len(rival.own)
        if speaks > 0:
            heapq.heappush(rival.best, (speaks, position))
            if len(rival.best) > _SPEAKERS:
                heapq.heappop(rival.best)
