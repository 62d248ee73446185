"""Memory as notes with quotes: the facts of a structured belief, and the sentences of their sources that support them."""

from suffice.memory.base import MemoryContext, select_within_budget
from suffice.memory.evidence import Evidence
from suffice.memory.structured import StructuredMemory
from suffice.text.entities import content_stems
from suffice.text.sentences import quotable_spans
from suffice.types import Note, Passage, Round

_MAX_QUOTE_CHARS = 400


class FreeformMemory:
    """A ``StructuredMemory`` that also renders a verbatim quote for each fact and source."""

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

    def render(self, budget: int) -> tuple[Note, ...]:
        """Return the facts, then their quotes, each once."""
        quotes = dict.fromkeys(note for note in self._quotes.values() if note is not None)
        return select_within_budget([*self._structured.facts, *quotes], budget)

    def render_text(self) -> str:
        """Return the facts and the open questions as a JSON object."""
        return self._structured.render_text()

    def _refresh_quotes(self) -> None:
        pairs = [(fact.text, handle) for fact in self._structured.facts for handle in fact.handles]
        self._quotes = {pair: self._quotes[pair] if pair in self._quotes else self._find_quote(*pair) for pair in pairs}

    def _find_quote(self, fact: str, handle: str) -> Note | None:
        """Return the sentence that supports the fact; ``None`` if the fact is that sentence."""
        passage = self._evidence.find_passage(handle)
        sentence = None if passage is None else _find_closest_sentence(fact, passage)
        if passage is None or sentence is None or " ".join(sentence.split()) == fact:
            return None
        return Note(sentence[:_MAX_QUOTE_CHARS], (handle,), passage.title, passage.kind, False)


def _find_closest_sentence(fact: str, passage: Passage) -> str | None:
    stems = content_stems(fact)
    sentences = [passage.text[start:end] for start, end in quotable_spans(passage.text, passage.kind)]
    return max(sentences, key=lambda sentence: len(stems & content_stems(sentence)), default=None)
