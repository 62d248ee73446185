"""Memory as history: every accepted passage in order, older ones shortened when the prompt grows too long.

The newest stay whole; older ones become one line with their handle, so that nothing is lost from the record.
"""

from dataclasses import replace

from suffice.memory.base import MemoryContext
from suffice.memory.evidence import Evidence
from suffice.text.entities import content_stems, one_line_summary
from suffice.text.tokens import estimate_tokens
from suffice.types import Note, Round

_SUMMARY_SHARE = 5  # One fifth of the budget is kept for the one-line summaries of what no longer fits whole.


class TrajectoryMemory:
    def __init__(self, task: str, evidence: Evidence, context: MemoryContext) -> None:
        self._task_stems = content_stems(task)
        self._evidence = evidence
        self._notes: list[tuple[Note, int]] = []
        self._summaries: list[tuple[Note, int]] = []

    async def update(self, round: Round) -> None:
        for passage in round.new:
            handle = self._evidence.get_handle(passage)
            for kept, text, whole in (
                (self._notes, passage.text, True),
                (self._summaries, one_line_summary(passage.text, passage.kind, self._task_stems), False),
            ):
                note = Note(text, (handle,), passage.title, passage.kind, whole)
                kept.append((note, estimate_tokens(text) + estimate_tokens(passage.title) + 4))

    def render(self, budget: int) -> tuple[Note, ...]:
        chosen: list[Note] = []
        position = len(self._notes)
        left = budget
        reserve = budget // _SUMMARY_SHARE
        while position and self._notes[position - 1][1] <= left - (reserve if position > 1 else 0):
            position -= 1
            chosen.append(self._notes[position][0])
            left -= self._notes[position][1]
        while position and self._summaries[position - 1][1] <= left:
            position -= 1
            chosen.append(self._summaries[position][0])
            left -= self._summaries[position][1]
        return tuple(reversed(chosen))


class LobotomizedMemory:
    def __init__(self, task: str, evidence: Evidence, context: MemoryContext) -> None:
        self._init_args = (task, evidence, context)
        self._evidence = evidence
        self._current_round = TrajectoryMemory(*self._init_args)

    async def update(self, round: Round) -> None:
        """Forget everything but what came back this time, also what had come back before."""
        back = {passage.id: passage for passage in (*round.new, *round.raw) if passage.id in self._evidence}
        self._current_round = TrajectoryMemory(*self._init_args)
        await self._current_round.update(replace(round, new=tuple(back.values())))

    def render(self, budget: int) -> tuple[Note, ...]:
        return self._current_round.render(budget)
