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

HYPOTHESIS_KIND = "hypothesis"  # The kind of a note that says what may be so.
_TOP_PASSAGES = 3


@dataclass(slots=True)
class _TrackedHypothesis:
    text: str
    own_stems: frozenset[str]
    times_asked: int = 0
    best_passages: list[tuple[float, int]] = field(default_factory=list)
    """The passages that speak most for it, by their position."""

    @property
    def support(self) -> float:
        return sum(score for score, _ in self.best_passages)


class HypothesisTracker:
    def __init__(self, question: str) -> None:
        self._question_stems = content_stems(question)
        self._hypotheses: dict[str, _TrackedHypothesis] = {}
        self._seen_passages: list[tuple[frozenset[str], float]] = []

    def set_hypotheses(self, texts: Sequence[str]) -> None:
        """These are the rivals from now on. One that was there keeps its weight; one that only repeats the question is none."""
        kept: dict[str, _TrackedHypothesis] = {}
        for text in texts:
            rival = self._hypotheses.get(text) or _TrackedHypothesis(text, content_stems(text) - self._question_stems)
            if rival.own_stems and all(rival.own_stems != other.own_stems for other in kept.values()):
                kept[text] = rival
        fresh = [rival for text, rival in kept.items() if text not in self._hypotheses]
        self._hypotheses = kept
        for position, (stems, share) in enumerate(self._seen_passages):
            _score_hypotheses(fresh, position, stems, share)

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Take in the passages behind those read before."""
        for passage in passages:
            stems = content_stems(f"{passage.title} {passage.text}")
            share = len(self._question_stems & stems) / len(self._question_stems) if self._question_stems else 1.0
            self._seen_passages.append((stems, share))
            _score_hypotheses(list(self._hypotheses.values()), len(self._seen_passages) - 1, stems, share)

    @property
    def passage_count(self) -> int:
        return len(self._seen_passages)

    def mark_asked(self, text: str) -> None:
        self._hypotheses[text].times_asked += 1

    def rank_for_testing(self) -> list[str]:
        """The rivals, those asked about least first, then by support."""
        return [
            r.text for r in sorted(self._hypotheses.values(), key=lambda rival: (rival.times_asked, -rival.support))
        ]

    def render_standings(self) -> tuple[Note, ...]:
        """Each rival with its weight and the handles of what speaks for it, the strongest first."""
        total = sum(rival.support for rival in self._hypotheses.values())
        ranked = sorted(self._hypotheses.values(), key=lambda rival: -rival.support)
        return tuple(
            Note(
                f"{rival.support / total if total else 0:.0%} of the support: {rival.text}",
                tuple(f"[{position + 1}]" for _, position in sorted(rival.best_passages, reverse=True)),
                kind=HYPOTHESIS_KIND,
                whole=False,
            )
            for rival in ranked
        )


def _score_hypotheses(rivals: Sequence[_TrackedHypothesis], position: int, stems: frozenset[str], share: float) -> None:
    for rival in rivals:
        speaks = share * len(rival.own_stems & stems) / len(rival.own_stems)
        if speaks > 0:
            heapq.heappush(rival.best_passages, (speaks, position))
            if len(rival.best_passages) > _TOP_PASSAGES:
                heapq.heappop(rival.best_passages)
