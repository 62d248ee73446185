"""What the report tells of a round to a reader: what it found, what was believed after it, in short, and what was open."""

from collections.abc import Sequence
from dataclasses import replace

from suffice.memory.evidence import Evidence
from suffice.types import Note, Round, RoundRecord

MOST, LONGEST = 16, 200  # Passages and notes of a round, and characters of a note.


def told(
    records: Sequence[RoundRecord], round: Round, notes: Sequence[Note], open: tuple[str, ...], evidence: Evidence
) -> RoundRecord:
    """The latest record with the story of its round; of the notes those that the record before does not tell come first."""
    belief = [_in_short(note, evidence) for note in notes]
    before = set(records[-2].belief) if len(records) > 1 else set()
    chosen = sorted(range(len(belief)), key=lambda i: (belief[i] in before, i))[:MOST]
    return replace(
        records[-1],
        found=tuple(f"{passage.title} ({passage.location})" for passage in round.new[:MOST]),
        belief=tuple(belief[i] for i in sorted(chosen)),
        open=open,
    )


def _in_short(note: Note, evidence: Evidence) -> str:
    sources = [found.title for handle in note.handles if (found := evidence.find(handle)) is not None]
    text = " ".join(note.text.split())
    text = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
    return f"{text} ({'; '.join(dict.fromkeys(sources))})" if sources else text
