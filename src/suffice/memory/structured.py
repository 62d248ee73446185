"""Bring a belief down to its target size without losing a source or a link of a chain (S3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from suffice.errors import InputError
from suffice.memory.base import MemoryContext, select_within_budget
from suffice.memory.evidence import Evidence
from suffice.memory.extraction import MAX_FACT_CHARS, extract_facts, find_unsupported_term
from suffice.models.extractive.belief import are_linked, curate_facts
from suffice.prompts import Curate, Curation
from suffice.text.citations import is_handle
from suffice.text.entities import content_stems
from suffice.types import BELIEF_KIND, Note, Round

MAX_FACTS = 10
TARGET_FACTS = 6


async def curate_belief(facts: Sequence[Note], task: str, context: MemoryContext) -> list[Note]:
    """At most ``K_TRIGGER`` facts: the model's choice, else a rule's, and the facts that chains of reasoning need.

    Sources are joined by number, in code. A text that says what none of its facts said is not taken.
    """
    if len(facts) <= MAX_FACTS:
        return list(facts)
    numbered = tuple(Note(fact.text, (str(number),), kind=BELIEF_KIND) for number, fact in enumerate(facts, 1))
    prompt = Curate(task, context.open_questions.open, numbered, TARGET_FACTS)
    answer = await context.ask_model(prompt)
    groups = None if answer is None else _parse_groups(answer, len(facts))
    if groups is None:
        if answer is not None:
            context.record_refusal("a curation that names no fact; a rule curated instead")
        answer = curate_facts(prompt)
        groups = _parse_groups(answer, len(facts)) or {}
    kept = [
        _merge_facts([facts[n] for n in group], text, context) for group, text in list(groups.items())[:TARGET_FACTS]
    ]
    used = {number for group in list(groups)[:TARGET_FACTS] for number in group}
    for number, fact in enumerate(facts):
        if len(kept) < MAX_FACTS and number not in used and any(are_linked(fact, other, task) for other in kept):
            kept.append(fact)
    return kept


def _parse_groups(answer: Curation, count: int) -> dict[tuple[int, ...], str] | None:
    """Positions of the facts in each kept one, each fact once; ``None`` when the answer names none."""
    groups: dict[tuple[int, ...], str] = {}
    used: set[int] = set()
    for kept in answer.kept:
        own = tuple(dict.fromkeys(n - 1 for n in kept.of if 1 <= n <= count and n - 1 not in used))
        if own:
            used.update(own)
            groups[own] = " ".join(kept.text.split())
    return groups or None


def _merge_facts(facts: Sequence[Note], text: str, context: MemoryContext) -> Note:
    """One fact with the sources of all."""
    handles = tuple(dict.fromkeys(handle for fact in facts for handle in fact.handles))
    parts = [fact.text for fact in facts]
    if text and not _is_supported_by_parts(text, parts):
        context.record_refusal(f"a merged fact that does not say what its parts say: {text[:MAX_FACT_CHARS]!r}")
        joined = "; ".join(parts)
        text = joined if len(joined) <= MAX_FACT_CHARS else ""
    return Note(text or parts[0], handles, kind=BELIEF_KIND, whole=False)


def _is_supported_by_parts(text: str, parts: Sequence[str]) -> bool:
    own = content_stems(text)
    said = frozenset[str]().union(*(content_stems(part) for part in parts))
    return (
        bool(own)
        and len(text) <= MAX_FACT_CHARS
        and len(own & said) * 2 >= len(own)
        and find_unsupported_term(text, parts) is None
    )


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
            fact, _, handles = line.removeprefix("- ").rpartition(" ← ")
            if line in ("FACTS", "OPEN"):
                part = line
            elif part == "OPEN" and line.startswith("- "):
                questions.append(line[2:])
            elif part == "FACTS" and line.startswith("- ") and all(map(is_handle, handles.split(" "))):
                facts.append(Note(fact, tuple(handles.split(" ")), kind=BELIEF_KIND, whole=False))
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
