"""Memory as a rolling summary: 5–8 bullets, at most 1,500 characters, each with its sources (S2's knowledge state).

The first round that brought something makes it from the beginnings of the raw bodies, without a model call; every later one is
compressed into it.
"""

from collections.abc import Sequence

from suffice.asks import Compress, Finding
from suffice.memory.admission import admitted
from suffice.memory.base import Mind
from suffice.memory.evidence import Evidence
from suffice.memory.fitting import fitting
from suffice.types import BELIEF, Note, Passage, Round

KNOWLEDGE_CHARS = 1_500
FIRST_CHARS = 1_200  # Of the first round's bodies, shared among them: one long page does not take it all.
RESULT_CHARS = 800  # Of each result that is compressed.
MOST_BULLETS = 8
MOST_RESULTS = 10


class Rolling:
    def __init__(self, task: str, evidence: Evidence, mind: Mind) -> None:
        self._task = task
        self._evidence = evidence
        self._mind = mind
        self._bullets: tuple[Note, ...] = ()

    async def update(self, round: Round) -> None:
        if not round.new:
            return
        if not self._bullets:
            self._bullets = self._first(round.new)
            return
        results = tuple(self._note(passage, RESULT_CHARS, passage.kind) for passage in round.new[:MOST_RESULTS])
        answer = await self._mind.ask(Compress(self._task, self._bullets, results))
        bullets = () if answer is None else self._checked(answer.bullets)
        if bullets:
            self._bullets = bullets
        else:
            self._mind.refuse(f"round {round.index} could not be compressed; the summary stays as it was")

    def restore(self, facts: tuple[Note, ...]) -> None:
        self._bullets = facts[:MOST_BULLETS]

    def render(self, budget: int) -> tuple[Note, ...]:
        return fitting(self._bullets, budget)

    def _first(self, passages: Sequence[Passage]) -> tuple[Note, ...]:
        chosen = passages[:MOST_BULLETS]
        return tuple(self._note(passage, FIRST_CHARS // len(chosen)) for passage in chosen if passage.text.strip())

    def _note(self, passage: Passage, chars: int, kind: str = BELIEF) -> Note:
        text = " ".join(passage.text.split())[:chars]
        return Note(text, (self._evidence.handle(passage),), kind=kind, whole=False)

    def _checked(self, bullets: Sequence[Finding]) -> tuple[Note, ...]:
        """What passes as a fact, each bullet once, until the summary is full."""
        chosen: list[Note] = []
        left = KNOWLEDGE_CHARS
        for bullet in bullets[:MOST_BULLETS]:
            note = admitted(bullet, chosen, self._task, self._evidence, self._mind)
            if note is not None and len(note.text) <= left:
                chosen.append(note)
                left -= len(note.text)
        return tuple(chosen)
