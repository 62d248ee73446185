"""Tell the dates of a sentence apart by what happened then: it began, it ended, it was signed, someone was born or died.

"When does the contract end?" is not answered by the day on which it was signed. A date belongs to the nearest word before it
that names such an event; in "(1809-1865)" the first is the birth and the last the death.
"""

import re
from collections.abc import Sequence
from typing import Literal

from suffice.text.sentences import Offsets

DateEvent = Literal["start", "end", "signature", "birth", "death"]

_ASKED_PATTERNS: tuple[tuple[DateEvent, str], ...] = (
    ("signature", r"\bsign(?:ed|s|ature)?\b|\bunter(?:schrieben|zeichnet)\b|\bsignée?s?\b|\bfirm(?:ó|ad[oa]s?)\b"),
    ("birth", r"\bborn\b|\bbirth\b|\bgeboren\b|\bgeburts\w+\b|\bnée?s?\b|\bnaci[óod]\w*"),
    ("death", r"\bdied?\b|\bdeath\b|\bstarb\b|\bgestorben\b|\bmort[es]*\b|\bmuri[óe]\w*"),
    (
        "end",
        r"\b(?:ends?|ended|expires?|expired|expiry|terminates?|finish(?:es|ed)?|runs? out|deadline)\b|\buntil when\b"
        r"|\b(?:endet\w*|bis wann|läuft .+ ab|abgelaufen)\b|\b(?:expire|se termine|prend fin|jusqu['’]à quand)\b"
        r"|\b(?:termina|vence|caduca|hasta cuándo)\b",
    ),
    (
        "start",
        r"\b(?:starts?|started|begins?|began|commences?|takes? effect|come into force)\b|\b(?:beginnt|begann|ab wann"
        r"|seit wann)\b|\b(?:commence|débute|depuis quand)\b|\b(?:empieza|empezó|comienza|desde cuándo)\b",
    ),
)
_ASKED = tuple((event, re.compile(pattern, re.IGNORECASE)) for event, pattern in _ASKED_PATTERNS)
_CUES = re.compile(
    r"\b(?:(?P<end>until|till|through|to|up to|no later than|expir\w+|ends?|ended|terminat\w+|valid to|bis|endet\w*"
    r"|jusqu['’]?\w*|hasta|vence|termina)"
    r"|(?P<start>starts?|started|begins?|began|commenc\w+|from|since|effective|ab|seit|vom|beginnt|begann|à partir|dès|depuis"
    r"|desde|empieza|comienza)"
    r"|(?P<signature>sign(?:ed|ature)|dated|unter(?:schrieben|zeichnet)|signée?|firmad[oa])"
    r"|(?P<birth>born|geboren|née?|naci[óod]\w*)"
    r"|(?P<death>died?|death|killed|gestorben|starb|mort|muri[óe]\w*))\b|(?P<cross>†)",
    re.IGNORECASE,
)
_REACH = 60  # Characters before a date in which its event is looked for.
_RANGE = re.compile(r"\s*[-–—]\s*")


def find_asked_event(question: str) -> DateEvent | None:
    """Return the event whose date a question asks for; ``None`` if it names none of those that can be told apart.

    >>> find_asked_event("When does the lease expire?"), find_asked_event("When is the meeting?")
    ('end', None)
    """
    return next((event for event, pattern in _ASKED if pattern.search(question)), None)


def select_dates(text: str, dates: Sequence[Offsets], event: DateEvent) -> list[Offsets]:
    """Return the dates of an event; without any, those of no known event. ``text`` is one sentence.

    >>> sentence = "It starts on 1 April 2023 and runs until 31 March 2026."
    >>> [sentence[start:end] for start, end in select_dates(sentence, [(13, 25), (41, 54)], "end")]
    ['31 March 2026']
    """
    found = list_dates_of(text, dates, event)
    return found or [date for number, date in enumerate(dates) if _find_event(text, dates, number) is None]


def list_dates_of(text: str, dates: Sequence[Offsets], event: DateEvent) -> list[Offsets]:
    """Return the dates that the words before them say to be of an event. A birth is a start, a death an end."""
    fitting = {"start": ("start", "birth"), "end": ("end", "death")}.get(event, (event,))
    return [date for number, date in enumerate(dates) if _find_event(text, dates, number) in fitting]


def _find_event(text: str, dates: Sequence[Offsets], number: int) -> str | None:
    start, end = dates[number]
    if number + 1 < len(dates) and _RANGE.fullmatch(text, end, dates[number + 1][0]):
        return "birth" if _is_in_brackets(text, start) else "start"
    if number and _RANGE.fullmatch(text, dates[number - 1][1], start):
        return "death" if _is_in_brackets(text, start) else "end"
    reach = max(0, start - _REACH, text.rfind(";", 0, start))
    cues = list(_CUES.finditer(text, reach, start))
    if not cues:
        return None
    return "death" if cues[-1].lastgroup == "cross" else cues[-1].lastgroup


def _is_in_brackets(text: str, position: int) -> bool:
    return text.rfind("(", 0, position) > text.rfind(")", 0, position)
