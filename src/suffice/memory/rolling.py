"""Memory as a rolling summary: 5–8 bullets, at most 1,500 characters, each with its sources (S2's knowledge state).

The first round that brought something makes it from the beginnings of the raw bodies, without a model call; every later one is
compressed into it.
"""

from collections.abc import Sequence

from suffice.memory.base import MemoryContext, select_within_budget
from suffice.memory.evidence import Evidence
from suffice.memory.extraction import admit_fact
from suffice.prompts import Compress, ExtractedFact
from suffice.types import BELIEF_KIND, Note, Passage, Round

MAX_SUMMARY_CHARS = 1_500
INITIAL_CHARS = 1_200  # Of the first round's bodies, shared among them: one long page does not take it all.
MAX_RESULT_CHARS = 800  # Of each result that is compressed.
MAX_BULLETS = 8
MAX_RESULTS = 10


class RollingMemory:
    def __init__(self, task: str, evidence: Evidence, context: MemoryContext) -> None:
        self._task = task
        self._evidence = evidence
        self._context = context
        self._bullets: tuple[Note, ...] = ()

    async def update(self, round: Round) -> None:
        if not round.new:
            return
        if not self._bullets:
            self._bullets = self._build_initial_bullets(round.new)
            return
        results = tuple(self._make_note(passage, MAX_RESULT_CHARS, passage.kind) for passage in round.new[:MAX_RESULTS])
        answer = await self._context.ask_model(Compress(self._task, self._bullets, results))
        bullets = () if answer is None else self._validate_bullets(answer.bullets)
        if bullets:
            self._bullets = bullets
        else:
            self._context.record_refusal(f"round {round.index} could not be compressed; the summary stays as it was")

    def restore(self, facts: tuple[Note, ...]) -> None:
        self._bullets = facts[:MAX_BULLETS]

    def render(self, budget: int) -> tuple[Note, ...]:
        return select_within_budget(self._bullets, budget)

    def _build_initial_bullets(self, passages: Sequence[Passage]) -> tuple[Note, ...]:
        chosen = passages[:MAX_BULLETS]
        return tuple(
            self._make_note(passage, INITIAL_CHARS // len(chosen)) for passage in chosen if passage.text.strip()
        )

    def _make_note(self, passage: Passage, chars: int, kind: str = BELIEF_KIND) -> Note:
        text = " ".join(passage.text.split())[:chars]
        return Note(text, (self._evidence.get_handle(passage),), kind=kind, whole=False)

    def _validate_bullets(self, bullets: Sequence[ExtractedFact]) -> tuple[Note, ...]:
        """What passes as a fact, each bullet once, until the summary is full."""
        chosen: list[Note] = []
        left = MAX_SUMMARY_CHARS
        for bullet in bullets[:MAX_BULLETS]:
            note = admit_fact(bullet, chosen, self._task, self._evidence, self._context)
            if note is not None and len(note.text) <= left:
                chosen.append(note)
                left -= len(note.text)
        return tuple(chosen)
