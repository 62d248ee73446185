"""Memories outside a run: fed round by round."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from suffice.memory.evidence import Evidence
from suffice.testing import make_memory_context
from suffice.types import Hits, Query, Round


@dataclass
class Fed:
    """A memory and what surrounds it."""

    memory: Any
    evidence: Evidence
    memory_context: Any
    refused: list[str] = field(default_factory=list)
    rounds: int = 0

    def round(self, *passages):
        """One accepted round with these passages."""
        self.rounds += 1
        for passage in passages:
            self.evidence.add(passage)
        asyncio.run(self.memory.update(Round(self.rounds, (Hits(Query("q"), passages),), passages, passages)))
        return self

    def hypothetical_answers(self, budget=10_000):
        return [note.text for note in self.memory.render(budget)]


@pytest.fixture
def fed():
    def make(kind, model=None, *, task="Where was the director of The Silver Lamp born?", grounded=False, open=()):
        refused: list[str] = []
        own = make_memory_context(model, refused=refused, grounded=grounded)
        for question in open:
            own.open_questions.add(question)
        evidence = Evidence()
        return Fed(kind(task, evidence, own), evidence, own, refused)

    return make
