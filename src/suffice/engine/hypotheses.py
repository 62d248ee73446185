"""Rival hypotheses: which queries would decide between them, and how much of the evidence supports each.

    support(h, p) = share of h's own words in p · share of the question's words in p
    support(h)    = sum over the three passages that support it most
    weight(h)     = support(h) / support of all hypotheses

A hypothesis' own words are those that the question does not have. The weight says how the evidence is spread over the
hypotheses; it is not a probability, and a hypothesis is never treated as a fact. Each passage is read once for each
hypothesis, so a round costs O(what is new). Source: docs/sources.md.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from suffice.prompts.planning import Hypothesize
from suffice.strategies.base import RunView
from suffice.text.entities import content_stems
from suffice.types import Note, Passage, Query

HYPOTHESIS_KIND = "hypothesis"  # The kind of a note that states a hypothesis.
MAX_HYPOTHESES = 3  # Hypotheses weighed at a time.
_TOP_PASSAGES = 3


class HypothesisTester:
    """Proposes queries that would decide between hypotheses, and shows their weights in the trace."""

    def __init__(self) -> None:
        self._tracker: HypothesisTracker | None = None

    async def propose(self, run: RunView) -> list[Query]:
        """Ask the model for hypotheses and return the queries that would test them, as many as the budget allows."""
        tracker = self._update_tracker(run)
        leads = tuple(query.text for query in run.propose_follow_ups(MAX_HYPOTHESES))
        standings = tracker.render_standings()
        answer = await run.try_ask(
            Hypothesize(run.task, run.render_notes(), standings, run.recent_queries, leads, MAX_HYPOTHESES)
        )
        if answer is None:
            return []
        queries = {
            rival.text: Query(rival.query, f"would tell whether: {rival.text}")
            for rival in answer.rivals[:MAX_HYPOTHESES]
        }
        tracker.set_hypotheses(list(queries))
        testable = [text for text in tracker.rank_for_testing() if run.filter_new_queries([queries[text]])]
        chosen = testable[: _count_affordable_tests(run)]
        for text in chosen:
            tracker.mark_asked(text)
        return [queries[text] for text in chosen]

    def _update_tracker(self, run: RunView) -> "HypothesisTracker":
        """Return the tracker, up to date with the evidence; make it and show its notes at the first call."""
        if self._tracker is None:
            self._tracker = HypothesisTracker(run.task)
            run.show_notes(lambda: self._update_tracker(run).render_standings())
        self._tracker.add_passages(run.evidence.get_passages_after(self._tracker.passage_count))
        return self._tracker


def _count_affordable_tests(run: RunView) -> int:
    """Return how many hypotheses a round may test so that later rounds have queries left too; at least one."""
    queries_left, max_rounds = run.budget.queries_left, run.budget.bounds.rounds
    if queries_left is None or max_rounds is None:
        return MAX_HYPOTHESES
    return max(1, queries_left // max(1, max_rounds - len(run.records)) - 1)


@dataclass(slots=True)
class _TrackedHypothesis:
    text: str
    own_stems: frozenset[str]
    times_asked: int = 0
    best_passages: list[tuple[float, int]] = field(default_factory=list)
    """The passages that support it most: (support, position), as a heap."""

    @property
    def support(self) -> float:
        return sum(score for score, _ in self.best_passages)


class HypothesisTracker:
    """Weighs hypotheses against the evidence."""

    def __init__(self, question: str) -> None:
        self._question_stems = content_stems(question)
        self._hypotheses: dict[str, _TrackedHypothesis] = {}
        self._passages: list[tuple[frozenset[str], float]] = []  # The stems of each, and its share of the question's.

    def set_hypotheses(self, texts: Sequence[str]) -> None:
        """Replace the hypotheses. One that stays keeps its support; one that only repeats the question is dropped."""
        hypotheses: dict[str, _TrackedHypothesis] = {}
        for text in texts:
            one = self._hypotheses.get(text) or _TrackedHypothesis(text, content_stems(text) - self._question_stems)
            if one.own_stems and all(one.own_stems != other.own_stems for other in hypotheses.values()):
                hypotheses[text] = one
        added = [one for text, one in hypotheses.items() if text not in self._hypotheses]
        self._hypotheses = hypotheses
        for position, (stems, share) in enumerate(self._passages):
            _add_support(added, position, stems, share)

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Add passages in the order of the evidence: a passage's position gives its handle."""
        for passage in passages:
            stems = content_stems(f"{passage.title} {passage.text}")
            share = len(self._question_stems & stems) / len(self._question_stems) if self._question_stems else 1.0
            self._passages.append((stems, share))
            _add_support(list(self._hypotheses.values()), len(self._passages) - 1, stems, share)

    @property
    def passage_count(self) -> int:
        return len(self._passages)

    def mark_asked(self, text: str) -> None:
        self._hypotheses[text].times_asked += 1

    def rank_for_testing(self) -> list[str]:
        """Return the hypotheses, those tested least often first, then by support."""
        ranked = sorted(self._hypotheses.values(), key=lambda one: (one.times_asked, -one.support))
        return [one.text for one in ranked]

    def render_standings(self) -> tuple[Note, ...]:
        """Return each hypothesis with its weight and the handles of its best passages, the strongest first."""
        total = sum(one.support for one in self._hypotheses.values())
        ranked = sorted(self._hypotheses.values(), key=lambda one: -one.support)
        return tuple(
            Note(
                f"{one.support / total if total else 0:.0%} of the support: {one.text}",
                tuple(f"[{position + 1}]" for _, position in sorted(one.best_passages, reverse=True)),
                kind=HYPOTHESIS_KIND,
                whole=False,
            )
            for one in ranked
        )


def _add_support(
    hypotheses: Sequence[_TrackedHypothesis], position: int, stems: frozenset[str], question_share: float
) -> None:
    for one in hypotheses:
        support = question_share * len(one.own_stems & stems) / len(one.own_stems)
        if support > 0:
            heapq.heappush(one.best_passages, (support, position))
            if len(one.best_passages) > _TOP_PASSAGES:
                heapq.heappop(one.best_passages)
