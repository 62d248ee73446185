"""Memory as a rolling summary: at most 8 bullets and 1,500 characters, each bullet with its sources.

The first round that brings passages is summarised by their beginnings, without a model call. The model compresses every
later round into the summary. The limits are values of the source system, see docs/sources.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from suffice.memory.base import ModelMemory, select_within_budget
from suffice.memory.extraction import admit_fact
from suffice.prompts.belief import Compress, ExtractedFact
from suffice.types import BELIEF_KIND, Note, Passage, Round

MAX_SUMMARY_CHARS = 1_500
INITIAL_CHARS = 1_200  # Of the first round's passages, shared equally, so that one long page does not take it all.
MAX_RESULT_CHARS = 800  # Of each result that is compressed.
MAX_BULLETS = 8
MAX_RESULTS = 10


@dataclass(eq=False)
class RollingMemory(ModelMemory):
    """A summary that is rewritten each round and never grows beyond its limits."""

    _bullets: tuple[Note, ...] = ()

    async def update(self, round: Round) -> None:
        if not round.new:
            return
        if not self._bullets:
            first = round.new[:MAX_BULLETS]
            chars = INITIAL_CHARS // len(first)
            self._bullets = tuple(self._make_note(passage, chars) for passage in first if passage.text.strip())
            return
        results = tuple(self._make_note(passage, MAX_RESULT_CHARS, passage.kind) for passage in round.new[:MAX_RESULTS])
        answer = await self.context.ask_model(Compress(self.task, self._bullets, results))
        bullets = () if answer is None else self._validate_bullets(answer.bullets)
        if bullets:
            self._bullets = bullets
        else:
            self.context.record_refusal(f"round {round.index} could not be compressed; the summary stays as it was")

    def restore(self, facts: tuple[Note, ...]) -> None:
        self._bullets = facts[:MAX_BULLETS]

    def render(self, budget: int) -> tuple[Note, ...]:
        return select_within_budget(self._bullets, budget)

    def _make_note(self, passage: Passage, chars: int, kind: str = BELIEF_KIND) -> Note:
        text = " ".join(passage.text.split())[:chars]
        return Note(text, (self.evidence.get_handle(passage),), kind=kind, whole=False)

    def _validate_bullets(self, bullets: Sequence[ExtractedFact]) -> tuple[Note, ...]:
        """Return the bullets that pass as facts, each once, until the summary is full."""
        admitted: list[Note] = []
        left = MAX_SUMMARY_CHARS
        for bullet in bullets[:MAX_BULLETS]:
            note = admit_fact(bullet, admitted, self.task, self.evidence, self.context)
            if note is not None and len(note.text) <= left:
                admitted.append(note)
                left -= len(note.text)
        return tuple(admitted)
