"""From a draft to claims: each sentence, the sources it cites, and the exact stretch of the source that says it.

The existence check lives here: a handle that no source has is dropped and reported, never shown.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from suffice.text.entities import content_stems
from suffice.text.markup import CITATION, plain, without_code
from suffice.text.sentences import sentences, units
from suffice.types import Passage

_MARKER = re.compile(r"^\s*(?:>\s*)*(?:[-*+]\s+|\d+[.)]\s+)?")
_LEADING = re.compile(r"(?:\s*\[\d{1,4}\])+[.,;]?")
_ALIGNED = 0.6  # Share of the claim's stems a sentence must hold to be shown as the nearest stretch.


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the draft and the handles behind it."""

    text: str
    handles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """An exact stretch of a passage; ``verbatim`` when it says the statement word for word."""

    start: int
    end: int
    verbatim: bool


def existing(markdown: str, known: Callable[[str], bool]) -> tuple[str, list[str]]:
    """The text without handles nobody gave out, and those handles."""
    invented: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if known(match.group()):
            return match.group()
        invented.append(match.group())
        return ""

    cleaned = CITATION.sub(keep, markdown)
    return (re.sub(r"[ \t]+([.,;:!?])", r"\1", cleaned) if invented else markdown), list(dict.fromkeys(invented))


def statements(markdown: str) -> Iterator[Statement]:
    """The sentences of a draft in order. Headings, rules and code blocks state nothing."""
    fenced = False
    for line in markdown.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
            continue
        if fenced or line.lstrip().startswith("#") or not any(character.isalnum() for character in line):
            continue
        yield from _line(_MARKER.sub("", line))


def quote(text: str, passage: Passage) -> Quote | None:
    """Where the passage says the statement: word for word if it does, else the sentence nearest to it."""
    pattern = r"\s+".join(re.escape(word) for word in text.split())
    match = re.search(pattern, passage.text)
    if match is not None:
        return Quote(match.start(), match.end(), True)
    wanted = content_stems(text)
    best, most = None, 0.0
    for start, end in units(passage.text, passage.kind):
        share = len(wanted & content_stems(passage.text[start:end])) / len(wanted) if wanted else 0.0
        if share > most:
            best, most = Quote(start, end, False), share
    return best if most >= _ALIGNED else None


def _line(line: str) -> Iterator[Statement]:
    """Sentences of one line; citations that stand behind a full stop belong to the sentence before it."""
    pieces: list[str] = []
    for start, end in sentences(without_code(line)):
        piece = line[start:end]
        leading = _LEADING.match(piece)
        if pieces and leading:
            pieces[-1] += " " + leading.group()
            piece = piece[leading.end() :].lstrip()
        if any(character.isalnum() for character in piece):
            pieces.append(piece)
    for piece in pieces:
        text = plain(piece)
        if any(character.isalnum() for character in text):
            yield Statement(text, tuple(dict.fromkeys(match.group() for match in CITATION.finditer(piece))))
