"""Memory as running notes: a paragraph that is rewritten after every round, sentences word for word, and open questions.

The model sees its notes so far and the new passages, never the history. Sentences that no passage contains are dropped.
"""

from collections.abc import Sequence

from suffice.memory.base import MemoryContext, select_within_budget
from suffice.memory.evidence import Evidence
from suffice.memory.extraction import MAX_FACT_CHARS, MAX_NEW_QUESTIONS, build_observation
from suffice.prompts import ExtractedFact, RewriteNotes
from suffice.text.citations import parse_handle
from suffice.types import BELIEF_KIND, Note, Round

MAX_NOTES_CHARS = 1_200  # The prompt asks for at most 120 words.


class NotesMemory:
    """Notes in free text. ``limits.target`` bounds the sentences that are kept word for word."""

    def __init__(self, task: str, evidence: Evidence, context: MemoryContext) -> None:
        self._task = task
        self._evidence = evidence
        self._context = context
        self.text = ""
        self.memories: tuple[Note, ...] = ()

    async def update(self, round: Round) -> None:
        self._context.open_questions.last_checked_round = round.index
        observation = build_observation(round, self._evidence)
        if not observation:
            return
        known = (Note(self.render_text(), (), kind=BELIEF_KIND),) if self.text else ()
        answer = await self._context.ask_model(
            RewriteNotes(self._task, known, observation, self._context.limits.target)
        )
        if answer is None or not answer.notes.strip():
            self._context.record_refusal(f"round {round.index} could not be noted; the notes stay as they were")
            return
        self.text = " ".join(answer.notes.split())[:MAX_NOTES_CHARS]
        self.memories = self._check_memories(answer.memories)
        questions = self._context.open_questions
        for question in questions.open:  # The notes are rewritten, and so are their questions.
            questions.resolve(question)
        for question in answer.questions[:MAX_NEW_QUESTIONS]:
            questions.add(question, again=True)

    def render(self, budget: int) -> tuple[Note, ...]:
        return select_within_budget(
            [Note(self.render_text(), (), kind=BELIEF_KIND, whole=False)] if self.text else [], budget
        )

    @property
    def open_questions(self) -> tuple[str, ...]:
        return self._context.open_questions.open

    def render_text(self) -> str:
        """Return the notes, the sentences kept word for word, and the open questions."""
        parts = [self.text]
        if self.memories:
            parts += ["Word for word:", *(f'- "{note.text}" {" ".join(note.handles)}' for note in self.memories)]
        if self.open_questions:
            parts += ["Still open:", *(f"- {question}" for question in self.open_questions)]
        return "\n".join(parts).strip()

    def _check_memories(self, found: Sequence[ExtractedFact]) -> tuple[Note, ...]:
        kept: dict[str, Note] = {}
        for memory in found[: self._context.limits.target]:
            text = " ".join(memory.text.split()).strip('"“”')[:MAX_FACT_CHARS]
            handles = tuple(
                handle for given in memory.handles if (handle := parse_handle(given)) and self._holds(handle, text)
            )
            if text and handles:
                kept.setdefault(text, Note(text, handles, kind=BELIEF_KIND))
            elif text:
                self._context.record_refusal(f"not word for word in its passage: {text!r}")
        return tuple(kept.values())

    def _holds(self, handle: str, text: str) -> bool:
        passage = self._evidence.find_passage(handle)
        return passage is not None and text.lower() in " ".join(passage.text.split()).lower()
