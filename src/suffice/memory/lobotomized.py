"""No memory: only the current round is known. The condition against which every other memory is measured (S3)."""

from dataclasses import replace

from suffice.memory.base import MemoryContext
from suffice.memory.evidence import Evidence
from suffice.memory.trajectory import TrajectoryMemory
from suffice.types import Note, Round


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
