"""Check claims by asking a language model about the nearest passages that words and vectors left open.

The model answers yes or no. How sure it is comes from the probabilities of the two words; where the provider returns none, the
model is asked for a grade instead. A yes counts from a fitted threshold on (``thresholds.json``), and only if the passage has
every number of the claim. A no says only that the model saw no support; contradictions are found by words and numbers.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from suffice.claims.checkers.base import Checker, CheckerThresholds, EvidenceSpan, load_thresholds
from suffice.claims.checkers.lexical import LexicalChecker, lacks_a_number
from suffice.prompts import CheckSupport, GradeSupport, SupportResponse
from suffice.types import Note, Passage

MAX_PASSAGES_ASKED = 2  # Passages for each claim; each costs a call.
MAX_UNANSWERED = 2  # Failed calls in a row after which the model is not asked again: each may cost a time-out.
_MAX_PASSAGE_CHARS = 4000  # Characters of a passage that the model reads.

AskSupport = Callable[[CheckSupport], Awaitable[SupportResponse | None]]


class ModelChecker:
    """Asks a language model and caches its answers."""

    name = "model"

    def __init__(
        self, ask: AskSupport, thresholds: CheckerThresholds | None = None, nearest: Checker | None = None
    ) -> None:
        """``nearest`` finds the spans that the model is asked about, those without a stance; by words if not given."""
        self._ask = ask
        self._nearest = nearest or LexicalChecker()
        self._thresholds = thresholds or load_thresholds()
        self._answers: dict[tuple[str, str], EvidenceSpan] = {}  # A claim is checked again when there is new evidence.
        self._unanswered = 0  # In a row.
        self._uses_grades = False  # Set when the provider turns out to return no probabilities.

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        found = await self._nearest(claim, passages)
        near = [(span.overlap, number) for number, span in enumerate(found) if span is not None and span.stance is None]
        for _, number in sorted(near, reverse=True)[:MAX_PASSAGES_ASKED]:
            nearest = found[number]
            if nearest is not None and self._unanswered < MAX_UNANSWERED:
                found[number] = await self._check_passage(claim, passages[number], nearest)
        return found

    async def _check_passage(self, claim: str, passage: Passage, nearest: EvidenceSpan) -> EvidenceSpan:
        key = claim, passage.text
        if key not in self._answers:
            answer = await self._ask_model(claim, passage)
            self._unanswered = self._unanswered + 1 if answer is None else 0
            if answer is None:
                return nearest
            threshold = self._thresholds.model_mark if self._uses_grades else self._thresholds.model_yes
            self._answers[key] = apply_answer(answer, nearest, claim, passage, threshold)
        return self._answers[key]

    async def _ask_model(self, claim: str, passage: Passage) -> SupportResponse | None:
        if not self._uses_grades:
            answer = await self._ask(CheckSupport(claim, (to_note(passage),)))
            if answer is None or answer.sure is not None:
                return answer
            self._uses_grades = True
        return await self._ask(GradeSupport(claim, (to_note(passage),)))


def to_note(passage: Passage) -> Note:
    """Return the passage as the model reads it."""
    return Note(passage.text[:_MAX_PASSAGE_CHARS], (), passage.title, passage.kind)


def apply_answer(
    answer: SupportResponse, nearest: EvidenceSpan, claim: str, passage: Passage, threshold: float
) -> EvidenceSpan:
    """Return the nearest span as support if the answer is sure enough; otherwise unchanged."""
    if answer.sure is None or answer.sure < threshold or lacks_a_number(claim, passage.text):
        return nearest
    return replace(
        nearest, stance="supports", score=answer.sure, reason="", checker=ModelChecker.name, probability=answer.sure
    )
