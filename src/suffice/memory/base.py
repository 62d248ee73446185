"""The Memory interface: what a run remembers of its accepted rounds, and how that fits into a prompt.

A memory is made by ``factory(task, evidence, context)``. It may use nothing else of the run.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from suffice.errors import InputError
from suffice.memory.evidence import Evidence
from suffice.memory.open_questions import OpenQuestions
from suffice.prompts.base import Prompt
from suffice.text.tokens import estimate_tokens
from suffice.types import Note, Round

A = TypeVar("A")

_NOTE_OVERHEAD_TOKENS = 4  # A note's handle and fence.


class ModelCaller(Protocol):
    async def __call__(self, prompt: Prompt[A]) -> A | None:
        """Return the model's answer; ``None`` when the call failed. The failure is logged by then."""


@dataclass(frozen=True, slots=True)
class BeliefLimits:
    """How many facts a belief holds: more than ``trigger`` are curated down to about ``target``."""

    trigger: int = 10
    target: int = 6

    def __post_init__(self) -> None:
        if not 1 <= self.target <= self.trigger:
            raise InputError(
                f"A belief is curated from {self.trigger} facts to {self.target}; give a target from 1 to that"
            )


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """The parts of a run that a memory may use.

    ``record_refusal`` logs what was not believed and why. With ``grounded``, facts about other entities than those of the
    question are refused.
    """

    ask_model: ModelCaller
    open_questions: OpenQuestions
    record_refusal: Callable[[str], None]
    grounded: bool = False
    limits: BeliefLimits = BeliefLimits()


class Memory(Protocol):
    """What every memory does.

    A memory of facts may also have ``restore(facts)``, to start from those of an earlier run whose evidence has the same
    handles, and ``render_text()``, which states facts and open questions as one text.
    """

    async def update(self, round: Round) -> None:
        """Take in an accepted round. Rejected rounds are not passed to a memory."""

    def render(self, budget: int) -> tuple[Note, ...]:
        """Return what is known, oldest first, in about ``budget`` tokens at most. The cost depends on ``budget`` only."""


@dataclass(eq=False)
class ModelMemory:
    """Base of the memories that ask the model to state what is known."""

    task: str
    evidence: Evidence
    context: MemoryContext

    @property
    def open_questions(self) -> tuple[str, ...]:
        return self.context.open_questions.open


MemoryFactory = Callable[[str, Evidence, MemoryContext], Memory]


def count_note_tokens(note: Note) -> int:
    return estimate_tokens(note.text) + estimate_tokens(note.title) + _NOTE_OVERHEAD_TOKENS


def select_within_budget(notes: Iterable[Note], budget: int) -> tuple[Note, ...]:
    """Return the notes that fit into ``budget`` tokens, in order. A note that does not fit is skipped."""
    chosen: list[Note] = []
    for note in notes:
        tokens = count_note_tokens(note)
        if tokens <= budget:
            chosen.append(note)
            budget -= tokens
    return tuple(chosen)
