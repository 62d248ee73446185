"""Memory as free text: running notes that the model rewrites after every round, sentences word for word, open questions.

The model sees its notes so far and the new passages, never the history, and answers in plain text: a fixed form such as JSON
costs a model facts (see docs/sources.md). Quotations that no passage contains are dropped.
"""

from dataclasses import dataclass

from suffice.memory.base import ModelMemory, select_within_budget
from suffice.memory.extraction import MAX_FACT_CHARS, build_observation, is_on_topic, says_not_found
from suffice.memory.open_questions import MAX_OPEN
from suffice.prompts.lab import OPEN_LINE, VERBATIM_LINE, RewriteNotes
from suffice.text.citations import list_handles, strip_citations
from suffice.text.entities import content_stems
from suffice.text.parts import split_statements
from suffice.types import BELIEF_KIND, Note, Round

MAX_NOTES_CHARS = 1_200  # The prompt asks for at most 120 words.


@dataclass(eq=False)
class FreeformMemory(ModelMemory):
    """Notes in free text. ``limits.target`` bounds the sentences that are kept word for word."""

    text: str = ""
    memories: tuple[Note, ...] = ()

    async def update(self, round: Round) -> None:
        self.context.open_questions.last_checked_round = round.index
        observation = build_observation(round, self.evidence)
        if not observation:
            return
        text = self.render_text()
        known = (Note(text, (), kind=BELIEF_KIND),) if text else ()
        answer = await self.context.ask_model(RewriteNotes(self.task, known, observation, self.context.limits.target))
        if answer is None or not answer.notes.strip():
            self.context.record_refusal(f"round {round.index} could not be noted; the notes stay as they were")
            return
        before, self.text = self.text, self._filter_sentences(answer.notes)
        self.memories = self._check_memories(answer.memories)
        new = content_stems(" ".join(one for one in _list_sentences(self.text) if one not in before))
        questions = self.context.open_questions
        for question in questions.open:  # The notes are rewritten, and so are their questions.
            if not self.context.grounded or new & content_stems(question):  # A sentence that was left out answers none.
                questions.resolve(question)
        for question in answer.questions[:MAX_OPEN]:
            questions.add(question, again=True)

    def restore(self, facts: tuple[Note, ...]) -> None:
        self.text = "\n".join(fact.text for fact in facts)[:MAX_NOTES_CHARS]

    def render(self, budget: int) -> tuple[Note, ...]:
        """Return each sentence of the notes with the passages that it cites, then the quotations."""
        notes = [
            Note(one, self._find_handles(one), kind=BELIEF_KIND, whole=False) for one in _list_sentences(self.text)
        ]
        return select_within_budget([*notes, *self.memories], budget)

    def render_text(self) -> str:
        """Return the notes, the sentences kept word for word and the open questions, as the model writes them."""
        quotes = [f'- "{note.text}" {" ".join(note.handles)}' for note in self.memories]
        questions = [f"- {question}" for question in self.open_questions]
        parts = [
            self.text,
            *([VERBATIM_LINE, *quotes] if quotes else []),
            *([OPEN_LINE, *questions] if questions else []),
        ]
        return "\n".join(parts).strip()

    def _filter_sentences(self, notes: str) -> str:
        """Return the notes in one line a paragraph, without sentences that say that something was not found and, if the
        context is grounded, without those about other entities."""
        lines = (" ".join(filter(self._is_kept, _list_sentences(line))) for line in notes.splitlines())
        return "\n".join(filter(None, lines))[:MAX_NOTES_CHARS]

    def _is_kept(self, sentence: str) -> bool:
        if says_not_found(sentence):
            return False
        handles = self._find_handles(sentence)
        known = [Note(line, ()) for line in self.text.splitlines()]
        return not self.context.grounded or is_on_topic(sentence, handles, self.task, known, self.task, self.evidence)

    def _check_memories(self, found: tuple[str, ...]) -> tuple[Note, ...]:
        kept: dict[str, Note] = {}
        for memory in found[: self.context.limits.target]:
            text = " ".join(strip_citations(memory).split()).strip(' "“”')[:MAX_FACT_CHARS]
            handles = tuple(handle for handle in self._find_handles(memory) if self._holds(handle, text))
            if text and handles:
                kept.setdefault(text, Note(text, handles, kind=BELIEF_KIND))
            elif text:
                self.context.record_refusal(f"not word for word in its passage: {text!r}")
        return tuple(kept.values())

    def _find_handles(self, text: str) -> tuple[str, ...]:
        return tuple(handle for handle in list_handles(text) if self.evidence.find_passage(handle) is not None)

    def _holds(self, handle: str, text: str) -> bool:
        passage = self.evidence.find_passage(handle)
        return passage is not None and text.lower() in " ".join(passage.text.split()).lower()


def _list_sentences(text: str) -> list[str]:
    """Return the sentences of each line, each with the citations that follow it."""
    return [" ".join(one.split()) for line in text.splitlines() for one in split_statements(line)]
