"""Feed a memory round by round, outside a run."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from memory_context import make_memory_context

from suffice.memory.evidence import Evidence
from suffice.types import Hits, Query, Round


@dataclass
class Fed:
    """A memory with its evidence, its context and the refusals it recorded."""

    memory: Any
    evidence: Evidence
    memory_context: Any
    refused: list[str] = field(default_factory=list)
    rounds: int = 0

    def round(self, *passages):
        """Pass one accepted round with these passages to the memory."""
        self.rounds += 1
        for passage in passages:
            self.evidence.add(passage)
        asyncio.run(self.memory.update(Round(self.rounds, (Hits(Query("q"), passages),), passages, passages)))
        return self

    def texts(self, budget=10_000):
        return [note.text for note in self.memory.render(budget)]


@pytest.fixture
def fed():
    def make(kind, model=None, *, task="Where was the director of The Silver Lamp born?", grounded=False, open=()):
        refused: list[str] = []
        context = make_memory_context(model, refused=refused, grounded=grounded)
        for question in open:
            context.open_questions.add(question)
        evidence = Evidence()
        return Fed(kind(task, evidence, context), evidence, context, refused)

    return make
