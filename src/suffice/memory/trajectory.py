"""Memories of passages: the whole history (trajectory), or the current round only (lobotomized)."""

from dataclasses import replace

from suffice.memory.base import MemoryContext, count_note_tokens
from suffice.memory.evidence import Evidence
from suffice.text.entities import content_stems, one_line_summary
from suffice.types import Note, Round

_SUMMARY_SHARE = 5  # One fifth of the budget is reserved for one-line summaries of older passages.


class TrajectoryMemory:
    """Every accepted passage in order. The newest are rendered whole; older ones become one line with their handle."""

    def __init__(self, task: str, evidence: Evidence, context: MemoryContext) -> None:
        self._task_stems = content_stems(task)
        self._evidence = evidence
        self._notes: list[tuple[Note, int]] = []  # With their tokens.
        self._summaries: dict[int, tuple[Note, int]] = {}  # Made when they are first shown.

    async def update(self, round: Round) -> None:
        for passage in round.new:
            note = self._evidence.make_note(passage)
            self._notes.append((note, count_note_tokens(note)))

    def _summarize(self, position: int) -> tuple[Note, int]:
        if position not in self._summaries:
            note, _ = self._notes[position]
            summary = one_line_summary(note.text, note.kind, self._task_stems)
            short_note = replace(note, text=summary, whole=False)
            self._summaries[position] = short_note, count_note_tokens(short_note)
        return self._summaries[position]

    def render(self, budget: int) -> tuple[Note, ...]:
        chosen: list[Note] = []
        position = len(self._notes)
        left = budget
        reserve = budget // _SUMMARY_SHARE
        while position and self._notes[position - 1][1] <= left - (reserve if position > 1 else 0):
            position -= 1
            chosen.append(self._notes[position][0])
            left -= self._notes[position][1]
        while position and self._summarize(position - 1)[1] <= left:
            position -= 1
            chosen.append(self._summarize(position)[0])
            left -= self._summarize(position)[1]
        return tuple(reversed(chosen))


class LobotomizedMemory(TrajectoryMemory):
    """The passages of the current round only, including those that came back again. A baseline for comparisons.

    An agent's own notes of earlier steps are wiped too (``replaces_history``).
    """

    replaces_history = True

    async def update(self, round: Round) -> None:
        passages = {passage.id: passage for passage in (*round.new, *round.raw) if passage.id in self._evidence}
        self._notes.clear()
        self._summaries.clear()
        await super().update(replace(round, new=tuple(passages.values())))
