"""Prompts of the lab and of a belief state in free text."""

from suffice.prompts.base import Prompt, Response, TextResponse
from suffice.text.markdown import strip_list_marker
from suffice.types import Note

VERBATIM_LINE, OPEN_LINE = "Word for word:", "Still open:"  # Above the quotations and the questions of notes.


class NotesResponse(Response):
    """A paragraph, sentences word for word, each with the handle of its passage in its text, and what is still open."""

    notes: str
    memories: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


class RewriteNotes(Prompt[NotesResponse]):
    """A belief as running notes. ``notes`` is the whole belief so far; ``most`` bounds the verbatim memories."""

    role = "notes"
    output_format = "text"
    max_tokens = 600
    truncation_order = (("observation", "last"), ("notes", "last"))

    task: str
    notes: tuple[Note, ...]
    observation: tuple[Note, ...]
    most: int

    @classmethod
    def parse(cls, text: str) -> NotesResponse:
        if not (found := cls.read(text)).notes:
            raise ValueError("it has no notes")
        return found

    @staticmethod
    def read(text: str) -> NotesResponse:
        """Read the quotations and the questions below the lines that announce them; everything else is the notes."""
        sections: dict[str, list[str]] = {"notes": [], VERBATIM_LINE: [], OPEN_LINE: []}
        own = sections["notes"]
        for line in filter(str.strip, text.splitlines()):
            name = line.strip(" *#:").capitalize()
            if f"{name}:" in sections:
                own = sections[f"{name}:"]
            else:
                own.append(line.strip() if own is sections["notes"] else strip_list_marker(line).strip())
        return NotesResponse("\n".join(sections["notes"]), tuple(sections[VERBATIM_LINE]), tuple(sections[OPEN_LINE]))


class AnswerFromMemory(Prompt[TextResponse]):
    """The short answer of an experiment, from what the memory condition holds; empty when it does not hold it."""

    role = "answer_from_memory"
    output_format = "line"
    max_tokens = 60
    truncation_order = (("notes", "first"),)

    task: str
    notes: tuple[Note, ...]


class TrialAnswer(AnswerFromMemory):
    """The same after a round of a search, to see whether the answer still changes.

    Only readings are taken from it, so it is billed under a role of its own.
    """

    role = "trial_answer"
    template = AnswerFromMemory.role
    needs_margins = True


class GradeResponse(Response):
    """Three marks from 0 to 100; a missing one makes the grade unknown."""

    correctness: float | None = None
    completeness: float | None = None
    irrelevance: float | None = None


class GradeAnswer(Prompt[GradeResponse]):
    role = "grade"
    max_tokens = 60

    task: str
    reference: Note
    answer: Note


class ProposeChangeResponse(Response):
    hypothesis: str
    """What the change should improve, and why, in one sentence."""
    text: str
    """The whole changed text."""


class ProposeChange(Prompt[ProposeChangeResponse]):
    role = "propose_change"
    temperature = 0.8
    max_tokens = 2000

    name: str
    text: str
    weak: tuple[str, ...]
    """Questions that were answered badly with this text."""
    tried: tuple[str, ...]
    """Changes tried before, each with what came of it."""
