"""Dates in a sentence or a title, as far as they are given."""

import re
from dataclasses import dataclass

from suffice.text.plain import replace_spans

MONTHS = "january february march april may june july august september october november december".split()
MONTH_NUMBERS = {name: value for value, month in enumerate(MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
_MONTH = rf"(?P<month>{'|'.join(MONTH_NUMBERS)})\.?"
_DAY = r"(?P<day>[0-2]?\d|3[01])(?:st|nd|rd|th)?\.?"
_YEAR = r"(?P<year>1\d\d\d|20\d\d)"
_ANY_YEAR = re.compile(r"(?:1\d|20)\d\d")
_REACH = 26  # Characters beside a year in which its date is looked for, which is faster than in the whole text.
# A year alone needs a word or bracket in front: other numbers have four digits, too.
_BEFORE_YEAR = "in|since|between|by|until|from|to|of|before|after|during|around|about|early|late|mid|and|year|©"
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d)(?<!\d-){_YEAR}-(?P<number>0[1-9]|1[0-2])(?:-(?P<day>[0-2]\d|3[01]))?(?!-?\d)",
        rf"\b\d\d?[./]\d\d?[./]{_YEAR}\b",  # Which number is the month is not known: only the year counts.
        rf"\b(?:{_DAY}\s+(?:of\s+)?)?{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        r"\b(?P<year>(?:1[5-9]|20)\d0)(?P<decade>s)\b",
        rf"(?:\b(?:{_BEFORE_YEAR})\s+|\(){_YEAR}\b(?!-\d\d\b|\s*(?:%|bytes|[A-Z]B\b|[a-z]+s\b(?<!was)(?<!has)))",
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


def find_dates(text: str) -> dict[PartialDate, tuple[int, int]]:
    """Return the dates of a text in order, as far as they are given, with where each is written first.

    >>> [str(date) for date in find_dates("The opening moves from 15 June 2026 to July. Since 2004 it has 1024 bytes.")]
    ['2026-06-15', '2004']
    """
    found: dict[PartialDate, tuple[int, int]] = {}
    position = 0
    near = [(max(0, year.start() - _REACH), year.end() + _REACH) for year in _ANY_YEAR.finditer(text)]
    matches = (match for span in near for pattern in _DATES for match in pattern.finditer(text, *span))
    for match in sorted(matches, key=lambda match: (match.start(), -match.end())):
        if match.start() >= position:
            found.setdefault(_read_date(match), match.span())
            position = match.end()
    return found


def write_dates_like(question: str, source: str) -> str:
    """Return a question with its days and months written as the source writes them.

    >>> write_dates_like("How many came in May 2025?", "month: 2025-05 · visitors: 40")
    'How many came in 2025-05?'
    """
    asked = {date: span for date, span in find_dates(question).items() if date.month}
    written = find_dates(source) if asked else {}
    spans = ((*span, source[slice(*written[date])]) for date, span in asked.items() if date in written)
    return replace_spans(question, spans)


def _read_date(match: re.Match[str]) -> PartialDate:
    values = match.groupdict()
    month = int(values.get("number") or MONTH_NUMBERS.get((values.get("month") or "").lower(), 0))
    return PartialDate(int(values["year"]), month, int(values.get("day") or 0), bool(values.get("decade")))
