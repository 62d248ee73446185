"""A language model's reading: asked only about the passages nearest to a claim that words and vectors left open.

Its yes counts from a stated sureness on, and never over a figure: a number that the passage does not have stays missing.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from suffice.asks import Support, SupportResponse
from suffice.types import Note, Passage
from suffice.write.checkers.base import Finding
from suffice.write.checkers.lexical import Lexical, lacks_a_number

ASKED = 2  # Passages a claim; each costs a call.
SURE = 7  # Of 10.
_LONGEST = 4000  # Characters of a passage that are shown.

Question = Callable[[Support], Awaitable[SupportResponse | None]]


class ModelChecker:
    name = "model"

    def __init__(self, ask: Question) -> None:
        self._ask = ask
        self._silent = (
            False  # A model that did not answer once is not asked again: each question would cost its time-out.
        )

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[Finding | None]:
        found = await Lexical()(claim, passages)
        near = [(one.near, number) for number, one in enumerate(found) if one is not None and one.stance is None]
        for _, number in sorted(near, reverse=True)[:ASKED]:
            nearest = found[number]
            if nearest is not None and not self._silent:
                found[number] = await self._read(claim, passages[number], nearest)
        return found

    async def _read(self, claim: str, passage: Passage, nearest: Finding) -> Finding:
        shown = Note(passage.text[:_LONGEST], (), passage.title, passage.kind)
        answer = await self._ask(Support(claim, (shown,)))
        self._silent = answer is None
        if answer is None or answer.stance == "NEITHER" or (answer.sure is not None and answer.sure < SURE):
            return nearest
        score = 0.5 if answer.sure is None else answer.sure / 10
        if answer.stance == "CONTRADICTS":
            return replace(nearest, stance="contradicts", score=score, why=nearest.why or "the source says otherwise")
        if lacks_a_number(claim, passage.text):
            return nearest
        return replace(nearest, stance="supports", score=score, why="")
