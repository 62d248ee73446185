"""The Memory seam: what the agent keeps of the accepted rounds, and how it fits a prompt.

A memory is made by ``factory(task, evidence, mind)``. The mind is all it may use of the run besides the record of evidence.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from suffice.memory.evidence import Evidence
from suffice.memory.predicates import OpenQuestions
from suffice.prompts.base import Prompt
from suffice.text.tokens import estimate_tokens
from suffice.types import Note, Round

A = TypeVar("A")


class ModelCaller(Protocol):
    async def __call__(self, prompt: Prompt[A]) -> A | None:
        """The model's answer; ``None`` when it failed, which is logged already."""
        ...


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """``refuse`` records what was not believed and why. ``grounded``: a finding about another entity is no finding (S3)."""

    ask_model: ModelCaller
    open_questions: OpenQuestions
    record_refusal: Callable[[str], None]
    grounded: bool = False


@runtime_checkable
class Memory(Protocol):
    async def update(self, round: Round) -> None:
        """Take in an accepted round. Rejected rounds never get here."""
        ...

    def render(self, budget: int) -> tuple[Note, ...]:
        """What is known, oldest first, in at most about ``budget`` tokens. Costs O(budget), whatever came before."""
        ...


@runtime_checkable
class RestorableMemory(Protocol):
    """A memory that keeps facts can be given those of an earlier run, whose evidence stands under the same handles."""

    def restore(self, facts: tuple[Note, ...]) -> None: ...


MemoryFactory = Callable[[str, Evidence, MemoryContext], Memory]


_NOTE_OVERHEAD_TOKENS = 4  # Tokens around a note: its handle and its fence.


def select_within_budget(notes: Iterable[Note], budget: int) -> tuple[Note, ...]:
    chosen: list[Note] = []
    for note in notes:
        cost = estimate_tokens(note.text) + estimate_tokens(note.title) + _NOTE_OVERHEAD_TOKENS
        if cost <= budget:
            chosen.append(note)
            budget -= cost
    return tuple(chosen)
