"""A language model's reading: asked only about the passages nearest to a claim that words and vectors left open.

It is asked for a yes or no, and how surely it says yes comes from the likelihoods of the two words where the provider tells
them; where it does not, the model is asked for a mark instead. Its yes counts from a fitted sureness on
(``thresholds.json``), and never over a figure: a number that the passage does not have stays missing. Its no says only that
it saw no support: what speaks against a claim is found by words and figures.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from suffice.asks import GradedSupport, Support, SupportResponse
from suffice.types import Note, Passage
from suffice.write.checkers.base import Finding
from suffice.write.checkers.lexical import Lexical, lacks_a_number
from suffice.write.checkers.thresholds import Thresholds, thresholds

ASKED = 2  # Passages a claim; each costs a call.
PATIENCE = 2  # Questions without an answer, one after the other; then none is asked any more: each may cost a time-out.
_LONGEST = 4000  # Characters of a passage that are shown.

Question = Callable[[Support], Awaitable[SupportResponse | None]]


class ModelChecker:
    name = "model"

    def __init__(self, ask: Question, limits: Thresholds | None = None) -> None:
        self._ask = ask
        self._limits = limits or thresholds()
        self._answers: dict[tuple[str, str], Finding] = {}  # A claim is checked again when there is new evidence.
        self._unanswered = 0  # In a row.
        self._graded = False  # Until the provider turns out to tell no likelihoods.

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[Finding | None]:
        found = await Lexical()(claim, passages)
        near = [(one.near, number) for number, one in enumerate(found) if one is not None and one.stance is None]
        for _, number in sorted(near, reverse=True)[:ASKED]:
            nearest = found[number]
            if nearest is not None and self._unanswered < PATIENCE:
                found[number] = await self._read(claim, passages[number], nearest)
        return found

    async def _read(self, claim: str, passage: Passage, nearest: Finding) -> Finding:
        key = claim, passage.text
        if key not in self._answers:
            answer = await self._answer(claim, passage)
            self._unanswered = self._unanswered + 1 if answer is None else 0
            if answer is None:
                return nearest
            mark = self._limits.model_mark if self._graded else self._limits.model_yes
            self._answers[key] = read_as(answer, nearest, claim, passage, mark)
        return self._answers[key]

    async def _answer(self, claim: str, passage: Passage) -> SupportResponse | None:
        if not self._graded:
            answer = await self._ask(Support(claim, (shown(passage),)))
            if answer is None or answer.sure is not None:
                return answer
            self._graded = True
        return await self._ask(GradedSupport(claim, (shown(passage),)))


def shown(passage: Passage) -> Note:
    """The passage as the model gets it."""
    return Note(passage.text[:_LONGEST], (), passage.title, passage.kind)


def read_as(answer: SupportResponse, nearest: Finding, claim: str, passage: Passage, mark: float) -> Finding:
    """What the model's answer makes of the nearest stretch."""
    if answer.sure is None or answer.sure < mark or lacks_a_number(claim, passage.text):
        return nearest
    return replace(nearest, stance="supports", score=answer.sure, why="")
