"""Of sources that say the same of different times, prefer the newest, and tell as of when it speaks.

The time of a statement is the date or the version in the heading above it, in its title or in the name of its file. Statements
rival each other if they differ in little but their numbers ("The fee is 40 euros" in 2022, 46 in 2025), or if they stand in two
documents of one series, such as the minutes of two meetings, and have the same words of the question. A question that names a
time itself, or asks for the past or for a date, is left alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from suffice.models.extractive.units import QuestionWords, Unit
from suffice.text.answer_spans import find_spans
from suffice.text.blocks import TextBlock, split_blocks
from suffice.text.question import Question, asks_release
from suffice.text.tokens import normalize_phrase, tokenize
from suffice.types import Note

_MIN_LIKENESS = 0.6
_MAX_GAP = 1.0  # In the score: what rivals have in common makes up most of it.
_LOOKED_AT = 12
_RAISE = 0.01
_PAST = re.compile(
    r"\b(?:was|were|did|had|used to|first|original\w*|initial\w*|earli\w+|oldest|previous\w*|former\w*|histor\w+"
    r"|war|waren|wurden?|hatten?|ursprünglich\w*|früher\w*|erste[nrs]?|était|fut|premi[eè]re?s?|anterior\w*|era|fue|primer\w*)\b",
    re.IGNORECASE,
)
_MONTHS = {
    name: number
    for number, names in enumerate(
        "jan ene,feb fév,mar mär,apr avr abr,may mai,jun jui,jul,aug aoû ago,sep,oct okt,nov,dec dez déc dic".split(
            ","
        ),
        1,
    )
    for name in names.split()
}
_ISO = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d{2})[-_.]?(?P<month>0[1-9]|1[0-2])(?:[-_.]?(?P<day>[0-2]\d|3[01]))?(?!\d)"
)
_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d{2}(?![\d.]\d|\d)")
_NUMERIC = re.compile(r"(?<!\d)(?P<day>\d{1,2})[./](?P<month>\d{1,2})[./](?P<year>(?:19|20)\d{2})(?!\d)")
_FILE_VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+)+|(?<![a-z\d])v\d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SourceTime:
    """When a statement was made: a date, a version or both, comparable as numbers, and as the source writes it."""

    date: tuple[int, ...] | None
    version: tuple[int, ...] | None
    text: str


def prefer_newest(
    question: Question, notes: Sequence[Note], units: Sequence[Unit], words: QuestionWords
) -> tuple[list[Unit], dict[int, str]]:
    """Return the units with the newest of the best one's rivals first, and the time of each rival by its note.

    Nothing is said of times when the best unit has no rival of another time.
    """
    if not units or _names_time(question):
        return list(units), {}
    best = units[0]
    times = {id(unit): find_time(notes[unit.note], unit.block) for unit in units[:_LOOKED_AT]}
    own = times[id(best)]
    if own is None:
        return list(units), {}
    rivals = [
        (unit, time)
        for unit in units[1:_LOOKED_AT]
        if (time := times[id(unit)]) is not None
        and time.text != own.text
        and best.score - unit.score <= _MAX_GAP
        and _are_rivals(notes, best, unit, words)
    ]
    if not rivals:
        return list(units), {}
    newest, newest_time = best, own
    for unit, time in rivals:
        if is_newer(time, newest_time):
            newest, newest_time = unit, time
    shown = {unit.note: time.text for unit, time in reversed([(best, own), *rivals])} | {newest.note: newest_time.text}
    if newest is best:
        return list(units), shown
    first = replace(newest, score=best.score + _RAISE)
    return [first, *(unit for unit in units if unit is not newest)], shown


def add_time(title: str, time: str) -> str:
    """Return the title of an excerpt with the time as of which it speaks.

    >>> add_time("Minutes, 10 May 2025", "10 May 2025"), add_time("Fees (2025)", "2025"), add_time("Fees", "2025")
    ('Minutes · as of 10 May 2025', 'Fees · as of 2025', 'Fees · as of 2025')
    """
    bare = title.removesuffix(f" ({time})")
    if bare.endswith(time):
        bare = bare.removesuffix(time).rstrip(" ,-–")
    return f"{bare} · as of {time}"


def find_time(note: Note, block: TextBlock) -> SourceTime | None:
    """Return the time of what stands in a block; ``None`` if neither a heading, the title nor the file's name has one."""
    if note.kind == "record":  # Its title is a name: "The 2012 Summer Olympics" is not of 2012.
        return None
    above = [other for other in split_blocks(note.text, note.kind) if other.is_heading and other.end <= block.start]
    places = [note.text[other.start : other.end].strip("# ") for other in reversed(above)]
    places += reversed(note.title.split(" > "))
    for text in places:
        if (time := _parse_heading(text)) is not None:
            return time
    if note.place is None or "://" in note.place.path:
        return None
    return _parse_file_name(PurePath(note.place.path).name)


def is_newer(one: SourceTime, other: SourceTime) -> bool:
    """Whether a time is later than another one, by their dates, else by their versions; not comparable is not later."""
    if one.date is not None and other.date is not None:
        return one.date > other.date
    if one.version is not None and other.version is not None:
        return one.version > other.version
    return False


def _names_time(question: Question) -> bool:
    text = question.text
    if question.kind == "when" or question.sides or asks_release(question) or _PAST.search(text):
        return True
    return bool(find_spans(text, "date") or find_spans(text, "version"))


def _are_rivals(notes: Sequence[Note], one: Unit, other: Unit, words: QuestionWords) -> bool:
    left, right = _without_numbers(one.stems), _without_numbers(other.stems)
    if left and len(left & right) >= _MIN_LIKENESS * len(left | right):
        return True
    if one.note == other.note or not _are_series(notes[one.note], notes[other.note]):
        return False
    # A date in one of them and not in the other does not tell them apart.
    asked = frozenset(words.weights)
    return bool(asked & one.stems) and asked & one.stems <= other.stems


def _without_numbers(stems: frozenset[str]) -> frozenset[str]:
    return frozenset(stem for stem in stems if not any(map(str.isdigit, stem)))


def _are_series(one: Note, other: Note) -> bool:
    """Whether two documents are of one series: their titles are the same but for a date or a version."""
    if one.kind in ("chat", "email") or one.place is None or other.place is None or one.place.path == other.place.path:
        return False
    titles = [
        [word for word in tokenize(note.title) if not word.isdigit() and word[:3] not in _MONTHS]
        for note in (one, other)
    ]
    return bool(titles[0]) and titles[0] == titles[1]


def _parse_heading(text: str) -> SourceTime | None:
    spans = find_spans(text, "date")
    date = next(((found, text[start:end]) for start, end in spans if (found := _parse_date(text[start:end]))), None)
    versions = [] if date and not re.search(r"\d\.\d", text) else find_spans(text, "version")
    numbers = [text[start:end] for start, end in versions if not any(a <= start < b for a, b in spans)]
    version = tuple(int(part) for part in re.findall(r"\d+", numbers[0])) if numbers else None
    if date is None and version is None:
        return None
    label = f"version {numbers[0].lstrip('vV')}" if numbers else ""
    written = " ".join(date[1].split()) if date else ""
    return SourceTime(date[0] if date else None, version, ", ".join(part for part in (label, written) if part))


def _parse_file_name(name: str) -> SourceTime | None:
    if match := _ISO.search(name):
        parts = [match["year"], match["month"], *([match["day"]] if match["day"] else [])]
        return SourceTime(tuple(map(int, parts)), None, "-".join(parts))
    if match := _YEAR.search(name):
        return SourceTime((int(match[0]),), None, match[0])
    if match := _FILE_VERSION.search(name):
        version = tuple(int(part) for part in re.findall(r"\d+", match[0]))
        return SourceTime(None, version, f"version {match[0].lstrip('vV')}")
    return None


def _parse_date(text: str) -> tuple[int, ...] | None:
    """Return year, month and day as far as they are given; ``None`` without a year."""
    if match := _ISO.search(text):
        return tuple(int(part) for part in match.groups() if part)
    if match := _NUMERIC.search(text):
        return int(match["year"]), int(match["month"]), int(match["day"])
    year = _YEAR.search(text)
    if year is None:
        return None
    month = next((_MONTHS[word[:3]] for word in normalize_phrase(text).split() if word[:3] in _MONTHS), None)
    day = re.search(r"(?<!\d)\d{1,2}(?!\d)", text)
    return tuple(part for part in (int(year[0]), month, int(day[0]) if day and month else None) if part is not None)
