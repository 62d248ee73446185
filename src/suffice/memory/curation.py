"""Bring a belief down to its target size without losing a source or a link of a chain (S3)."""

from collections.abc import Sequence

from suffice.asks import Curate, Curation
from suffice.memory.admission import LONGEST, stray
from suffice.memory.base import Mind
from suffice.models.extractive.curate import curate, linked
from suffice.text.entities import content_stems
from suffice.types import BELIEF, Note

K_TRIGGER = 10
K_TARGET = 6


async def curated(facts: Sequence[Note], task: str, mind: Mind) -> list[Note]:
    """At most ``K_TRIGGER`` facts: the model's choice, else a rule's, and the facts that chains of reasoning need.

    Sources are joined by number, in code. A text that says what none of its facts said is not taken.
    """
    if len(facts) <= K_TRIGGER:
        return list(facts)
    numbered = tuple(Note(fact.text, (str(number),), kind=BELIEF) for number, fact in enumerate(facts, 1))
    ask = Curate(task, mind.predicates.open, numbered, K_TARGET)
    answer = await mind.ask(ask)
    groups = None if answer is None else _groups(answer, len(facts))
    if groups is None:
        if answer is not None:
            mind.refuse("a curation that names no fact; a rule curated instead")
        answer = curate(ask)
        groups = _groups(answer, len(facts)) or {}
    kept = [_merged([facts[n] for n in group], text, mind) for group, text in list(groups.items())[:K_TARGET]]
    used = {number for group in list(groups)[:K_TARGET] for number in group}
    for number, fact in enumerate(facts):
        if len(kept) < K_TRIGGER and number not in used and any(linked(fact, other, task) for other in kept):
            kept.append(fact)
    return kept


def _groups(answer: Curation, count: int) -> dict[tuple[int, ...], str] | None:
    """Positions of the facts in each kept one, each fact once; ``None`` when the answer names none."""
    groups: dict[tuple[int, ...], str] = {}
    used: set[int] = set()
    for kept in answer.kept:
        own = tuple(dict.fromkeys(n - 1 for n in kept.of if 1 <= n <= count and n - 1 not in used))
        if own:
            used.update(own)
            groups[own] = " ".join(kept.text.split())
    return groups or None


def _merged(facts: Sequence[Note], text: str, mind: Mind) -> Note:
    """One fact with the sources of all."""
    handles = tuple(dict.fromkeys(handle for fact in facts for handle in fact.handles))
    parts = [fact.text for fact in facts]
    if text and not _says_what(text, parts):
        mind.refuse(f"a merged fact that does not say what its parts say: {text[:LONGEST]!r}")
        joined = "; ".join(parts)
        text = joined if len(joined) <= LONGEST else ""
    return Note(text or parts[0], handles, kind=BELIEF, whole=False)


def _says_what(text: str, parts: Sequence[str]) -> bool:
    own = content_stems(text)
    said = frozenset[str]().union(*(content_stems(part) for part in parts))
    return bool(own) and len(text) <= LONGEST and len(own & said) * 2 >= len(own) and stray(text, parts) is None
