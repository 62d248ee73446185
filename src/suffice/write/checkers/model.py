"""A language model's reading: asked only about the passages nearest to a claim that words and vectors left open.

How sure it is comes from the likelihoods of its three words where the provider tells them, else from the mark it gives
itself; it counts from a fitted sureness on (``thresholds.json``), and never over a figure: a number that the passage does not
have stays missing.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from suffice.asks import Support, SupportResponse
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
        self._answers: dict[
            tuple[str, str], SupportResponse
        ] = {}  # A claim is checked again when there is new evidence.
        self._unanswered = 0  # In a row.

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
        answer = self._answers.get(key) or await self._ask(Support(claim, (shown(passage),)))
        self._unanswered = self._unanswered + 1 if answer is None else 0
        if answer is not None:
            self._answers[key] = answer
        return nearest if answer is None else read_as(answer, nearest, claim, passage, self._limits)


def shown(passage: Passage) -> Note:
    """The passage as the model gets it."""
    return Note(passage.text[:_LONGEST], (), passage.title, passage.kind)


def read_as(answer: SupportResponse, nearest: Finding, claim: str, passage: Passage, limits: Thresholds) -> Finding:
    """What the model's answer makes of the nearest stretch."""
    in_favour, against = _sureness(answer, "SUPPORTS", limits), _sureness(answer, "CONTRADICTS", limits)
    marks = (limits.model_supports, limits.model_contradicts) if answer.shares else (limits.model_mark,) * 2
    if in_favour >= marks[0] and in_favour >= against:
        missing = lacks_a_number(claim, passage.text)
        return nearest if missing else replace(nearest, stance="supports", score=in_favour, why="")
    if against >= marks[1]:
        return replace(nearest, stance="contradicts", score=against, why=nearest.why or "the source says otherwise")
    return nearest


def _sureness(answer: SupportResponse, word: str, limits: Thresholds) -> float:
    """How sure the model is of one of its words, from 0 to 1; a word without a mark just counts."""
    if answer.shares:
        return answer.shares[word]
    if answer.stance != word:
        return 0.0
    return limits.model_mark if answer.sure is None else answer.sure / 10
