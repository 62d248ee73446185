"""Rival hypotheses: which queries would decide between them, and how much of the evidence supports each.

    support(h, p) = share of h's own words in p · share of the question's words in p
    support(h)    = sum over the three passages that support it most
    weight(h)     = support(h) / support of all hypotheses

A hypothesis' own words are those that the question does not have. The weight says how the evidence is spread over the
hypotheses; it is not a probability, and a hypothesis is never treated as a fact. Source: docs/sources.md.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

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
        self._texts: list[str] | None = None
        self._times_asked: Counter[str] = Counter()

    async def propose(self, run: RunView) -> list[Query]:
        """Ask the model for hypotheses and return the queries that would test them, as many as the budget allows."""
        if self._texts is None:
            self._texts = []
            run.show_notes(lambda: self._render_standings(run))
        leads = tuple(query.text for query in run.propose_follow_ups(MAX_HYPOTHESES))
        standings = self._render_standings(run)
        answer = await run.try_ask(
            Hypothesize(run.task, run.render_notes(), standings, run.recent_queries, leads, MAX_HYPOTHESES)
        )
        if answer is None:
            return []
        queries = {
            rival.text: Query(rival.query, f"would tell whether: {rival.text}")
            for rival in answer.rivals[:MAX_HYPOTHESES]
        }
        self._texts = list(queries)
        ranked = [one.text for one in weigh_hypotheses(run.task, self._texts, run.evidence)]
        ranked.sort(key=self._times_asked.__getitem__)  # Those tested least often first, then by support.
        testable = [text for text in ranked if run.filter_new_queries([queries[text]])]
        chosen = testable[: _count_affordable_tests(run)]
        self._times_asked.update(chosen)
        return [queries[text] for text in chosen]

    def _render_standings(self, run: RunView) -> tuple[Note, ...]:
        return render_standings(weigh_hypotheses(run.task, self._texts or (), run.evidence))


def _count_affordable_tests(run: RunView) -> int:
    """Return how many hypotheses a round may test so that later rounds have queries left too; at least one."""
    queries_left, max_rounds = run.budget.queries_left, run.budget.bounds.rounds
    if queries_left is None or max_rounds is None:
        return MAX_HYPOTHESES
    return max(1, queries_left // max(1, max_rounds - len(run.records)) - 1)


@dataclass(frozen=True, slots=True)
class WeighedHypothesis:
    """A hypothesis and the passages that support it most, best first: (support, position in the evidence)."""

    text: str
    best_passages: tuple[tuple[float, int], ...]

    @property
    def support(self) -> float:
        return sum(score for score, _ in self.best_passages)


def weigh_hypotheses(question: str, texts: Iterable[str], evidence: Iterable[Passage]) -> list[WeighedHypothesis]:
    """Return the hypotheses, the best supported first, without those that only repeat the question or another one."""
    asked = content_stems(question)
    by_own_stems: dict[frozenset[str], str] = {}
    for text in texts:
        by_own_stems.setdefault(content_stems(text) - asked, text)
    by_own_stems.pop(frozenset(), None)
    passages = [content_stems(f"{passage.title} {passage.text}") for passage in evidence] if by_own_stems else []
    weighed = []
    for own, text in by_own_stems.items():
        supports = [
            (len(own & stems) / len(own) * (len(asked & stems) / len(asked) if asked else 1.0), position)
            for position, stems in enumerate(passages)
        ]
        best = sorted((pair for pair in supports if pair[0] > 0), reverse=True)[:_TOP_PASSAGES]
        weighed.append(WeighedHypothesis(text, tuple(best)))
    return sorted(weighed, key=lambda one: -one.support)


def render_standings(weighed: Iterable[WeighedHypothesis]) -> tuple[Note, ...]:
    """Return each hypothesis with its weight and the handles of its best passages."""
    ranked = list(weighed)
    total = sum(one.support for one in ranked)
    return tuple(
        Note(
            f"{one.support / total if total else 0:.0%} of the support: {one.text}",
            tuple(f"[{position + 1}]" for _, position in one.best_passages),
            kind=HYPOTHESIS_KIND,
            whole=False,
        )
        for one in ranked
    )
