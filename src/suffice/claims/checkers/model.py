"""A language model's reading: asked only about the passages nearest to a claim that words and vectors left open.

It is asked for a yes or no, and how surely it says yes comes from the likelihoods of the two words where the provider tells
them; where it does not, the model is asked for a mark instead. Its yes counts from a fitted sureness on
(``thresholds.json``), and never over a figure: a number that the passage does not have stays missing. Its no says only that
it saw no support: what speaks against a claim is found by words and figures.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from suffice.claims.checkers.base import CheckerThresholds, EvidenceSpan, load_thresholds
from suffice.claims.checkers.lexical import LexicalChecker, lacks_a_number
from suffice.prompts import CheckSupport, GradeSupport, SupportResponse
from suffice.types import Note, Passage

MAX_PASSAGES_ASKED = 2  # Passages a claim; each costs a call.
MAX_UNANSWERED = (
    2  # Questions without an answer, one after the other; then none is asked any more: each may cost a time-out.
)
_MAX_PASSAGE_CHARS = 4000  # Characters of a passage that are shown.

AskSupport = Callable[[CheckSupport], Awaitable[SupportResponse | None]]


class ModelChecker:
    name = "model"

    def __init__(self, ask: AskSupport, limits: CheckerThresholds | None = None) -> None:
        self._ask = ask
        self._limits = limits or load_thresholds()
        self._answers: dict[tuple[str, str], EvidenceSpan] = {}  # A claim is checked again when there is new evidence.
        self._unanswered = 0  # In a row.
        self._uses_grades = False  # Until the provider turns out to tell no likelihoods.

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        found = await LexicalChecker()(claim, passages)
        near = [(one.overlap, number) for number, one in enumerate(found) if one is not None and one.stance is None]
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
            mark = self._limits.model_mark if self._uses_grades else self._limits.model_yes
            self._answers[key] = apply_answer(answer, nearest, claim, passage, mark)
        return self._answers[key]

    async def _ask_model(self, claim: str, passage: Passage) -> SupportResponse | None:
        if not self._uses_grades:
            answer = await self._ask(CheckSupport(claim, (to_note(passage),)))
            if answer is None or answer.sure is not None:
                return answer
            self._uses_grades = True
        return await self._ask(GradeSupport(claim, (to_note(passage),)))


def to_note(passage: Passage) -> Note:
    """The passage as the model gets it."""
    return Note(passage.text[:_MAX_PASSAGE_CHARS], (), passage.title, passage.kind)


def apply_answer(
    answer: SupportResponse, nearest: EvidenceSpan, claim: str, passage: Passage, mark: float
) -> EvidenceSpan:
    """What the model's answer makes of the nearest stretch."""
    if answer.sure is None or answer.sure < mark or lacks_a_number(claim, passage.text):
        return nearest
    return replace(nearest, stance="supports", score=answer.sure, reason="")
