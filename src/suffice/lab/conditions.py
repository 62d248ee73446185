"""Memory conditions of an experiment: what a harness sees of its past, and what its answer is made from (docs/lab.md).

In all conditions but the first, the harness's own history (thoughts, steps, core memory) is wiped after every search. What it
writes between two searches stays until the next one. A belief is updated from the belief and the observation alone. Iter-RetGen
has no history, so its baseline is the lobotomized condition.
"""

from dataclasses import replace
from functools import partial

from suffice.errors import InputError
from suffice.memory.base import Memory, MemoryContext, MemoryFactory
from suffice.memory.evidence import Evidence
from suffice.memory.freeform import FreeformMemory
from suffice.memory.structured import StructuredMemory
from suffice.memory.trajectory import LobotomizedMemory, TrajectoryMemory
from suffice.types import BELIEF_KIND, Note, Round

ANSWER_TOKENS = 6_000  # What the answer is made from, cut to this; the same for every condition.


class BaselineCondition(TrajectoryMemory):
    """The harness keeps its own history."""

    def render(self, budget: int) -> tuple[Note, ...]:
        return super().render(min(budget, ANSWER_TOKENS))


class BeliefCondition:
    """The harness's history is replaced by a belief. A step also sees the current observation; the answer does not."""

    replaces_history = True

    def __init__(
        self, kind: type[StructuredMemory | FreeformMemory], task: str, evidence: Evidence, context: MemoryContext
    ) -> None:
        self._memory = kind(task, evidence, context)
        self._observation = LobotomizedMemory(task, evidence, context)

    async def update(self, round: Round) -> None:
        await self._observation.update(round)
        # The observation is what the search returned, also what it had returned before.
        await self._memory.update(replace(round, new=round.raw))

    def render(self, budget: int) -> tuple[Note, ...]:
        return (*self.render_belief(), *self._observation.render(budget))

    def render_belief(self) -> tuple[Note, ...]:
        """Return the belief as one note; nothing before the first observation."""
        notes = self._memory.render(ANSWER_TOKENS)
        if not notes and not self._memory.open_questions:
            return ()
        return (Note(self.render_text(), (), kind=BELIEF_KIND, whole=False),)

    def render_text(self) -> str:
        return self._memory.render_text()


CONDITIONS: dict[str, MemoryFactory] = {
    "baseline": BaselineCondition,
    "lobotomized": LobotomizedMemory,
    "structured": partial(BeliefCondition, StructuredMemory),
    "freeform": partial(BeliefCondition, FreeformMemory),
}


def get_condition(name: str) -> MemoryFactory:
    """Return a memory condition by name; ``trajectory`` is another name of ``baseline``."""
    name = "baseline" if name == "trajectory" else name
    if name not in CONDITIONS:
        raise InputError(f"There is no memory condition {name!r}; choose one of: {', '.join(CONDITIONS)}")
    return CONDITIONS[name]


def render_for_answer(memory: Memory) -> tuple[Note, ...]:
    """Return what the answer is made from: the belief, or else all that the harness sees."""
    return memory.render_belief() if isinstance(memory, BeliefCondition) else memory.render(ANSWER_TOKENS)
