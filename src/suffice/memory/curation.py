"""Bring a belief down to its target size without losing a source or a link of a chain (S3)."""

from collections.abc import Sequence

from suffice.asks import Curate, Curation
from suffice.memory.admission import MAX_FACT_CHARS, find_unsupported_term
from suffice.memory.base import MemoryContext
from suffice.models.extractive.curate import are_linked, curate_facts
from suffice.text.entities import content_stems
from suffice.types import BELIEF_KIND, Note

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
