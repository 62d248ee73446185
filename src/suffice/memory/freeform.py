"""Memory as running notes and verbatim memories: each fact of the belief, and the sentence of its source that says it (S3)."""

from suffice.memory.base import Mind
from suffice.memory.evidence import Evidence
from suffice.memory.fitting import fitting
from suffice.memory.structured import Structured
from suffice.text.entities import content_stems
from suffice.text.sentences import units
from suffice.types import Note, Passage, Round

_QUOTED = 400  # Characters of a verbatim memory.


class Freeform:
    def __init__(self, task: str, evidence: Evidence, mind: Mind) -> None:
        self._evidence = evidence
        self._notes = Structured(task, evidence, mind)
        self._memories: dict[tuple[str, str], Note | None] = {}

    async def update(self, round: Round) -> None:
        await self._notes.update(round)
        self._remember()

    def restore(self, facts: tuple[Note, ...]) -> None:
        self._notes.restore(facts)
        self._remember()

    def _remember(self) -> None:
        pairs = [(fact.text, handle) for fact in self._notes.belief.facts for handle in fact.handles]
        self._memories = {
            pair: self._memories[pair] if pair in self._memories else self._quote(*pair) for pair in pairs
        }

    def render(self, budget: int) -> tuple[Note, ...]:
        """The notes, then the memories behind them, each once."""
        memories = dict.fromkeys(note for note in self._memories.values() if note is not None)
        return fitting([*self._notes.belief.facts, *memories], budget)

    def _quote(self, fact: str, handle: str) -> Note | None:
        """The sentence that says it, unless the fact is that very sentence."""
        passage = self._evidence.find(handle)
        text = None if passage is None else _nearest(fact, passage)
        if passage is None or text is None or " ".join(text.split()) == fact:
            return None
        return Note(text[:_QUOTED], (handle,), passage.title, passage.kind, False)


def _nearest(fact: str, passage: Passage) -> str | None:
    wanted = content_stems(fact)
    sentences = [passage.text[start:end] for start, end in units(passage.text, passage.kind)]
    return max(sentences, key=lambda sentence: len(wanted & content_stems(sentence)), default=None)
