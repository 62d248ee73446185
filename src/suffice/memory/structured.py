"""Memory as typed belief: facts with their sources, and the open questions (S3). It is bounded, whatever comes.

Its text rendering can be read back without loss::

    FACTS
    - Ada built the bridge. ← [1] [4]
    OPEN
    - Who taught Ada?
"""

import re
from dataclasses import dataclass

from suffice.errors import InputError
from suffice.memory.base import MemoryContext
from suffice.memory.curation import MAX_FACTS, curate_belief
from suffice.memory.evidence import Evidence
from suffice.memory.extraction import extract_facts
from suffice.memory.fitting import select_within_budget
from suffice.types import BELIEF_KIND, Note, Round

_FACT_LINE = re.compile(r"- (?P<text>.*) ← (?P<handles>\[\d+\](?: \[\d+\])*)")


@dataclass(frozen=True, slots=True)
class Belief:
    """What is believed, most important first, and what is still asked."""

    facts: tuple[Note, ...] = ()
    open: tuple[str, ...] = ()

    def __str__(self) -> str:
        facts = [f"- {_collapse_whitespace(fact.text)} ← {' '.join(fact.handles)}" for fact in self.facts]
        return "\n".join(["FACTS", *facts, "OPEN", *(f"- {_collapse_whitespace(question)}" for question in self.open)])

    @classmethod
    def parse(cls, text: str) -> "Belief":
        """The belief that was rendered as this text; an ``InputError`` naming the line that is none."""
        facts: list[Note] = []
        questions: list[str] = []
        part = ""
        for number, line in enumerate(text.split("\n"), 1):
            fact = _FACT_LINE.fullmatch(line)
            if line in ("FACTS", "OPEN"):
                part = line
            elif part == "OPEN" and line.startswith("- "):
                questions.append(line[2:])
            elif part == "FACTS" and fact is not None:
                facts.append(Note(fact["text"], tuple(fact["handles"].split()), kind=BELIEF_KIND, whole=False))
            else:
                raise InputError(
                    f"Line {number} of this belief is neither a fact with its sources nor an open question"
                )
        return cls(tuple(facts), tuple(questions))


class StructuredMemory:
    def __init__(self, task: str, evidence: Evidence, context: MemoryContext) -> None:
        self._task = task
        self._evidence = evidence
        self._context = context
        self._facts: tuple[Note, ...] = ()

    @property
    def belief(self) -> Belief:
        return Belief(self._facts, self._context.open_questions.open)

    async def update(self, round: Round) -> None:
        new = await extract_facts(round, self._facts, self._task, self._evidence, self._context)
        if new:
            self._facts = tuple(await curate_belief([*self._facts, *new], self._task, self._context))

    def restore(self, facts: tuple[Note, ...]) -> None:
        self._facts = facts[:MAX_FACTS]

    def render(self, budget: int) -> tuple[Note, ...]:
        return select_within_budget(self._facts, budget)


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
