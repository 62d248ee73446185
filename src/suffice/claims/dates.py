"""Dates in a sentence or a title, as far as they are given."""

import re
from dataclasses import dataclass

from suffice.claims.figures import MONTH_NUMBERS

_MONTH = rf"(?P<month>{'|'.join(MONTH_NUMBERS)})\.?"
_DAY = r"(?P<day>[0-2]?\d|3[01])(?:st|nd|rd|th)?\.?"
_YEAR = r"(?P<year>1\d\d\d|20\d\d)"
# A year alone needs a word or bracket in front: other numbers have four digits, too.
_BEFORE_YEAR = "in|since|between|by|until|from|to|of|before|after|during|around|about|early|late|mid|and|year|©"
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}-(?P<number>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01])\b",
        rf"\b\d\d?[./]\d\d?[./]{_YEAR}\b",  # Which number is the month is not known: only the year counts.
        rf"\b(?:{_DAY}\s+(?:of\s+)?)?{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        r"\b(?P<year>(?:1[5-9]|20)\d0)(?P<decade>s)\b",
        rf"(?:\b(?:{_BEFORE_YEAR})\s+|\(){_YEAR}\b(?!\s*(?:%|bytes|[A-Z]B\b|[a-z]+s\b(?<!was)(?<!has)))",
    )
]


@dataclass(frozen=True, order=True)
class PartialDate:
    """A date of which month and day may be open (0). A decade counts as its first year."""

    year: int
    month: int = 0
    day: int = 0
    is_decade: bool = False

    def __str__(self) -> str:
        if self.day:
            return f"{self.year}-{self.month:02}-{self.day:02}"
        return f"{self.year}-{self.month:02}" if self.month else f"{self.year}s" if self.is_decade else str(self.year)


def find_dates(text: str) -> list[PartialDate]:
    """Return the dates of a sentence in order, each once, as far as they are given.

    >>> [str(date) for date in find_dates("The opening moves from 15 June 2026 to July. Since 2004 it has 1024 bytes.")]
    ['2026-06-15', '2004']
    """
    found: list[re.Match[str]] = []
    matches = (match for pattern in _DATES for match in pattern.finditer(text))
    for match in sorted(matches, key=lambda match: (match.start(), -match.end())):
        if not found or match.start() >= found[-1].end():
            found.append(match)
    return list(dict.fromkeys(map(_read_date, found)))


def _read_date(match: re.Match[str]) -> PartialDate:
    values = match.groupdict()
    month = int(values.get("number") or MONTH_NUMBERS.get((values.get("month") or "").lower(), 0))
    return PartialDate(int(values["year"]), month, int(values.get("day") or 0), bool(values.get("decade")))
