"""What the report tells of a round to a reader: what it found, what was believed after it, in short, and what was open."""

from collections.abc import Sequence
from dataclasses import replace

from suffice.memory.evidence import Evidence
from suffice.types import Note, Round, RoundRecord

MAX_ITEMS, MAX_NOTE_CHARS = 16, 200  # Passages and notes of a round, and characters of a note.


def summarize_round(
    records: Sequence[RoundRecord], round: Round, notes: Sequence[Note], open: tuple[str, ...], evidence: Evidence
) -> RoundRecord:
    """The latest record with the story of its round; of the notes those that the record before does not tell come first."""
    belief = [_shorten_note(note, evidence) for note in notes]
    before = set(records[-2].belief) if len(records) > 1 else set()
    chosen = sorted(range(len(belief)), key=lambda i: (belief[i] in before, i))[:MAX_ITEMS]
    return replace(
        records[-1],
        found=tuple(f"{passage.title} ({passage.location})" for passage in round.new[:MAX_ITEMS]),
        belief=tuple(belief[i] for i in sorted(chosen)),
        open=open,
    )


def _shorten_note(note: Note, evidence: Evidence) -> str:
    sources = [found.title for handle in note.handles if (found := evidence.find_passage(handle)) is not None]
    text = " ".join(note.text.split())
    text = text if len(text) <= MAX_NOTE_CHARS else text[: MAX_NOTE_CHARS - 1].rstrip() + "…"
    return f"{text} ({'; '.join(dict.fromkeys(sources))})" if sources else text
