"""The review loop (S4): evaluate → pass? → revise → check the claims again → evaluate …, and keep the best version.

It ends in one of the named ways below. A revision that no evaluation has read is never kept, and nothing is kept that the
claim check did not let through.

    passed          the composite reached the pass mark
    failed          it did not within the rounds there are
    no_progress     two rounds scored the same, or a revision changed nothing
    empty_revision  the model had nothing to say, or nothing of it could be supported
    unreadable      the evaluation could not be read, twice
    budget          time, tokens or money were used up
    cancelled       somebody interrupted it
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import asdict, replace
from typing import Any, TypeVar

from suffice.asks import Evaluate, Evaluation, SynthesisResponse
from suffice.asks.base import wording
from suffice.review.condense import LONGEST, condensed
from suffice.review.revise import parts, revised
from suffice.review.rubric import composite, issues, joined, scores
from suffice.run import Run
from suffice.settings import ReviewRules
from suffice.spending import spent
from suffice.text.tokens import estimate_tokens
from suffice.types import Note, Review, Reviewed
from suffice.write.instructions import instruction, kind
from suffice.write.report import before_the_writer

T = TypeVar("T")
Settle = Callable[[SynthesisResponse], Awaitable[SynthesisResponse]]

JUDGE = "judge"
PANEL = ("practitioner", "critic", "newcomer")
_MARGIN = 200  # Tokens for the reader's own description and a reminder.
_REMINDER = "Your last evaluation could not be read. Give all six scores as numbers from 0 to 10."


class Reviewing:
    """The review of one run. ``best`` is the version to report, at every moment; ``told`` is what became of it."""

    def __init__(self, run: Run, settle: Settle, rules: ReviewRules | None) -> None:
        """Without rules nothing is reviewed."""
        self.best: SynthesisResponse | None = None
        self._run = run
        self._settle = settle
        self._rules = rules
        self._rounds: list[Reviewed] = []
        self._kept = 0
        self._ending: str | None = None

    async def rounds(self, written: SynthesisResponse | None) -> AsyncGenerator[Reviewed, None]:
        """Review what was written, each evaluation as it is made."""
        self.best = written
        if self._rules is None or written is None or not written.answer.strip():
            return
        self._ending = "cancelled"  # Unless it ends in another way.
        text = written
        for number in range(1, self._rules.rounds + 1):
            judged = None if spent(self._run) else await self._in_time(self._judged(number, text, self._rules))
            if judged is None:
                self._ending = "budget"
                return
            ending = self._verdict(text, judged, self._rules)
            self._ending = ending or self._ending
            yield judged
            if ending:
                return
            revision = None if spent(self._run) else await self._in_time(self._revised(text, judged.issues))
            if revision is None or not revision.answer.strip() or revision.answer == text.answer:
                self._ending = "budget" if revision is None else _fruitless(revision)
                return
            text = revision

    def metadata(self) -> dict[str, Any]:
        """What the report says of it: ``review``, when there was one."""
        told = self.told()
        return {} if told is None else {"review": asdict(told)}

    def told(self) -> Review | None:
        """How the review went; ``None`` when there was none."""
        if self._rules is None or self._ending is None:
            return None
        kept = self._rounds[self._kept - 1] if self._kept else None
        return Review(
            ending=self._ending,
            passed=None if kept is None else kept.passed,
            composite=None if kept is None else kept.composite,
            kept=self._kept,
            pass_mark=self._rules.pass_mark,
            rounds=tuple(self._rounds),
        )

    def _verdict(self, text: SynthesisResponse, judged: Reviewed, rules: ReviewRules) -> str:
        """Book a round: is it the best so far, and is it the last? The ending, or nothing."""
        before = self._rounds[-1].composite if self._rounds else None
        best = self._rounds[self._kept - 1].composite if self._kept else None
        self._rounds.append(judged)
        if judged.composite is None:
            return "unreadable"
        if best is None or judged.composite > best:
            self.best, self._kept = text, judged.round
        if judged.passed:
            return "passed"
        if judged.composite == before:
            return "no_progress"
        return "failed" if judged.round == rules.rounds else ""

    async def _judged(self, number: int, text: SynthesisResponse, rules: ReviewRules) -> Reviewed:
        readers = PANEL if rules.panel else (JUDGE,)
        sections = tuple(part.title for part in parts(text.answer))
        ask = Evaluate(
            task=self._run.task,
            reader="",
            criteria=wording(f"criteria/{kind(self._run)}"),
            sections=sections,
            sources=tuple(f"{' '.join(note.handles)} {note.title}" for note in before_the_writer(self._run)),
            text=Note("", ()),
        )
        room = self._run.room(ask.max_tokens)[0] - estimate_tokens(ask.prompt()) - _MARGIN
        ask = replace(ask, text=Note(condensed(text.answer, max(0, min(LONGEST, 4 * room))), ()))
        asks = [replace(ask, reader=wording(f"readers/{reader}")) for reader in readers]
        read = [evaluation for evaluation in await asyncio.gather(*map(self._read, asks)) if evaluation is not None]
        found = joined([own for own in map(scores, read) if own is not None])
        if found is None:
            return Reviewed(number, None, None, None)
        value = composite(found)
        named = issues([issue for evaluation in read for issue in evaluation.issues], found, sections, rules.pass_mark)
        return Reviewed(number, found, value, value >= rules.pass_mark, named)

    async def _read(self, ask: Evaluate) -> Evaluation | None:
        """One reader's evaluation; asked once more when it cannot be read, ``None`` when that fails too."""
        for reminder in ("", _REMINDER):
            evaluation = await self._run.attempt(replace(ask, reminder=reminder))
            if evaluation is not None and scores(evaluation) is not None:
                return evaluation
        return None

    async def _revised(self, text: SynthesisResponse, named: tuple[str, ...]) -> SynthesisResponse:
        """The next version, claims checked; empty when there is none."""
        how = instruction(self._run).text
        revision = await revised(self._run, text, named, before_the_writer(self._run), how)
        return SynthesisResponse("") if revision is None else await self._settle(revision)

    async def _in_time(self, work: Awaitable[T]) -> T | None:
        """The work's result, or ``None`` when the run's time was up before it."""
        try:
            async with asyncio.timeout(self._run.seconds_left):
                return await work
        except TimeoutError:
            return None


def _fruitless(revision: SynthesisResponse) -> str:
    return "no_progress" if revision.answer.strip() else "empty_revision"
