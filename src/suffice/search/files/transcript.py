"""Transcripts and chat logs in plain text as one chunk for each turn, with exact lines.

Most lines must look like ``Ann: words``, with an optional date before the name. Files of ``Key: value`` look similar; in a
conversation a few speakers alternate, and their names look like names. Conversations in JSON are read by ``chat``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from suffice.search.files.chunk import DocumentChunk, to_document_chunk
from suffice.text.chunks import chunk_lines, split_lines

_TIME = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[APap]\.?[Mm]\.?)?"
_DAY = (
    r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2} [A-Z][a-z]{2,8},? \d{4}|[A-Z][a-z]{2,8} \d{1,2},? \d{4})"
)
_WHEN = rf"(?:{_DAY}(?:(?:,?\s+|T){_TIME})?(?:Z|\s?[+-]\d{{2}}:?\d{{2}})?|{_TIME})"
_TIMESTAMP = rf"(?P<date>\[{_WHEN}\]|\({_WHEN}\)|{_WHEN})\s*(?:[-–—|]\s*)?"
_NAME = r"[^\W\d_][\w.'’()&-]*(?: [\w.'’()&-]+){0,3}"
_TURN = re.compile(
    rf"(?:{_TIMESTAMP})?(?:<(?P<nick>[^<>\s]{{1,30}})>|(?:\*\*)?(?P<name>{_NAME}?)(?:\*\*)?:(?:\*\*)?)"
    r"(?:\s+(?P<words>.*))?$"
)
_INVISIBLE = "\u200e\u200f\ufeff"  # WhatsApp marks the direction of lines.
_LOG_LEVELS = frozenset("trace debug info notice warn warning error critical fatal note todo fixme hint tip".split())
_SPEAKER_ROLES = frozenset(
    "user assistant system human ai bot agent customer me you caller operator host guest q a".split()
)
_MIN_TURN_SHARE = 0.6
_MIN_TURNS = 3


@dataclass(frozen=True, slots=True)
class _TurnStart:
    number: int
    speaker: str
    date: str
    words: str


def parse(text: str, name: str) -> list[DocumentChunk] | None:
    """Return one or more chunks for each turn; ``None`` if the text is not a transcript."""
    lines = split_lines(text)
    turns = [turn for number, line in enumerate(lines, start=1) if (turn := _parse_turn(number, line)) is not None]
    if not _is_conversation(turns, sum(bool(line.strip()) for line in lines)):
        return None
    file = PurePath(name).name
    found = [to_document_chunk(chunk, file, "chat") for chunk in chunk_lines(lines[: turns[0].number - 1])]
    ends = [turn.number - 1 for turn in turns[1:]] + [len(lines)]
    for turn, end in zip(turns, ends, strict=True):
        title = f"{turn.speaker}, {turn.date}" if turn.date else turn.speaker
        found += [
            to_document_chunk(chunk, title, "chat")
            for chunk in chunk_lines(lines[turn.number - 1 : end], first=turn.number)
        ]
    return found


def _parse_turn(number: int, line: str) -> _TurnStart | None:
    match = _TURN.match(line.lstrip(_INVISIBLE)[:400])
    if match is None or (match["nick"] and not match["date"]):
        return None
    date = (match["date"] or "").strip("[]()")
    return _TurnStart(number, match["nick"] or match["name"], date, match["words"] or "")


def _is_conversation(turns: Sequence[_TurnStart], line_count: int) -> bool:
    speakers = {turn.speaker for turn in turns}
    if len(turns) < _MIN_TURNS or len(speakers) < 2 or len(turns) < _MIN_TURN_SHARE * line_count:
        return False
    if 2 * sum(speaker.lower() in _LOG_LEVELS for speaker in speakers) >= len(speakers):
        return False
    if sum(bool(turn.date) for turn in turns) >= _MIN_TURN_SHARE * len(turns):
        return True
    if len(turns) == len(speakers):
        return False
    name_count = sum(not speaker[0].islower() or speaker.lower() in _SPEAKER_ROLES for speaker in speakers)
    sentence_count = sum(len(turn.words.split()) >= 3 or turn.words.endswith((".", "!", "?", "…")) for turn in turns)
    return 2 * name_count > len(speakers) and 2 * sentence_count >= len(turns)
