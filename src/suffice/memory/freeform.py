"""Memory as running notes and verbatim memories: each fact of the belief, and the sentence of its source that says it (S3)."""

from suffice.memory.base import MemoryContext, select_within_budget
from suffice.memory.evidence import Evidence
from suffice.memory.structured import StructuredMemory
from suffice.text.entities import content_stems
from suffice.text.sentences import quotable_spans
from suffice.types import Note, Passage, Round

_MAX_QUOTE_CHARS = 400  # Characters of a verbatim memory.


class FreeformMemory:
    def __init__(self, task: str, evidence: Evidence, context: MemoryContext) -> None:
        self._evidence = evidence
        self._structured = StructuredMemory(task, evidence, context)
        self._quotes: dict[tuple[str, str], Note | None] = {}

    async def update(self, round: Round) -> None:
        await self._structured.update(round)
        self._refresh_quotes()

    def restore(self, facts: tuple[Note, ...]) -> None:
        self._structured.restore(facts)
        self._refresh_quotes()

    def _refresh_quotes(self) -> None:
        pairs = [(fact.text, handle) for fact in self._structured.belief.facts for handle in fact.handles]
        self._quotes = {pair: self._quotes[pair] if pair in self._quotes else self._find_quote(*pair) for pair in pairs}

    def render(self, budget: int) -> tuple[Note, ...]:
        """The notes, then the memories behind them, each once."""
        memories = dict.fromkeys(note for note in self._quotes.values() if note is not None)
        return select_within_budget([*self._structured.belief.facts, *memories], budget)

    def _find_quote(self, fact: str, handle: str) -> Note | None:
        """The sentence that says it, unless the fact is that very sentence."""
        passage = self._evidence.find_passage(handle)
        text = None if passage is None else _find_closest_sentence(fact, passage)
        if passage is None or text is None or " ".join(text.split()) == fact:
            return None
        return Note(text[:_MAX_QUOTE_CHARS], (handle,), passage.title, passage.kind, False)


def _find_closest_sentence(fact: str, passage: Passage) -> str | None:
    wanted = content_stems(fact)
    sentences = [passage.text[start:end] for start, end in quotable_spans(passage.text, passage.kind)]
    return max(sentences, key=lambda sentence: len(wanted & content_stems(sentence)), default=None)
