"""No memory: only the current round is known. The condition against which every other memory is measured (S3)."""

from dataclasses import replace

from suffice.memory.base import Mind
from suffice.memory.evidence import Evidence
from suffice.memory.trajectory import Trajectory
from suffice.types import Note, Round


class Lobotomized:
    def __init__(self, task: str, evidence: Evidence, mind: Mind) -> None:
        self._made_of = (task, evidence, mind)
        self._evidence = evidence
        self._now = Trajectory(*self._made_of)

    async def update(self, round: Round) -> None:
        """Forget everything but what came back this time, also what had come back before."""
        back = {passage.id: passage for passage in (*round.new, *round.raw) if passage.id in self._evidence}
        self._now = Trajectory(*self._made_of)
        await self._now.update(replace(round, new=tuple(back.values())))

    def render(self, budget: int) -> tuple[Note, ...]:
        return self._now.render(budget)
