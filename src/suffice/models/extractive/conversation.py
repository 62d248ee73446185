"""Read a message of a conversation together with the question that it answers.

"Not yet." has no word of "Does it run on ARM servers?"; the message before it has them all and answers nothing.
"""

import re
from collections.abc import Sequence

from suffice.types import Note

_MAX_LINES_BETWEEN = 2  # From the last line of a message to the first of the next: there may be a blank line.
_INDIRECT = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|(?:want|need)(?:s|ed)? to know|unclear|unsure|not sure)\b[^.?!]{0,40}?"
    r"\b(?:if|whether|when|how|which|who|what|why|where)\b"
    r"|\b(?:frag(?:t|te|en|st)|möchte\w* wissen|unklar)\b[^.?!]{0,20}?,? (?:ob|wann|wie|wer|welche\w*|was)\b"
    r"|\bdemande\w*\b[^.?!]{0,30}? si\b|\bpregunt\w+\b[^.?!]{0,30}? si\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"\s*(?:\[[^\]\n]*\]|\([^)\n]*\)|\d[\d:./ -]*)?\s*(?:<[^<>\n]{1,30}>|[^:\n]{1,60}?:)\s+")
_VERDICT = re.compile(
    r"(?P<yes>yes|yeah|yep|yup|sure|correct|exactly|of course|ja|genau|oui|s[ií])\b"
    r"|(?P<no>no(?=[\s,.;!:—–-]|$)|nope|not yet|not any ?more|unfortunately not|nein|noch nicht|leider nicht|non|todavía no)\b",
    re.IGNORECASE,
)


def asks(text: str) -> bool:
    """Return whether a message asks something, also as "they ask whether"."""
    return "?" in text or _INDIRECT.search(text) is not None


def asks_indirectly(text: str) -> bool:
    """Return whether a sentence only reports a question."""
    return _INDIRECT.search(text) is not None


def find_questions(notes: Sequence[Note]) -> dict[int, int]:
    """Return for each message that follows a question the number of the note that asks it."""
    lines = {
        (note.place.path, note.place.lines[1]): number
        for number, note in enumerate(notes)
        if note.kind == "chat" and note.place is not None and note.place.lines is not None
    }
    found = {}
    for number, note in enumerate(notes):
        if note.kind != "chat" or note.place is None or note.place.lines is None:
            continue
        for back in range(1, _MAX_LINES_BETWEEN + 1):
            before = lines.get((note.place.path, note.place.lines[0] - back))
            if before is not None:
                if asks(notes[before].text) and before != number:
                    found[number] = before
                break
    return found


def find_words(note: Note) -> int:
    """Return where the words of a message begin, after its time and its speaker; 0 if the note is no message."""
    speaker = _SPEAKER.match(note.text) if note.kind == "chat" else None
    return speaker.end() if speaker else 0


def find_verdict(note: Note) -> bool | None:
    """Return whether a message begins with a yes or a no; ``None`` if with neither."""
    match = _VERDICT.match(note.text, find_words(note))
    return None if match is None else match["yes"] is not None
