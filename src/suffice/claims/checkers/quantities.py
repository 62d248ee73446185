"""Read the numbers of a text as values with units, so that "1,200 kg" equals "1.2 thousand kilograms".

Digits inside a name (``CD4``, ``IL-2``, ``python3``) are part of the name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest

_SMALL = {
    word: float(value)
    for value, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
        eighteen nineteen""".split()
    )
}
_TENS = {
    word: 10.0 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_ORDINALS = {
    word: float(value)
    for value, word in enumerate(
        """fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
        seventeenth eighteenth nineteenth twentieth""".split(),
        start=4,
    )
}
_SCALES = {
    **{"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12},
    **{"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "t": 1e12},
}
_FRACTIONS = {
    "half": 1 / 2,
    "third": 1 / 3,
    "quarter": 1 / 4,
    "½": 1 / 2,
    "¼": 1 / 4,
    "¾": 3 / 4,
    "⅓": 1 / 3,
    "⅔": 2 / 3,
}
_UNIT_ALIASES = {
    "%": "% percent percentage pct",
    "kg": "kg kilogram kilograms kilogramme kilogrammes",
    "g": "g gram grams gramme grammes",
    "mg": "mg milligram milligrams",
    "µg": "µg μg ug mcg microgram micrograms",
    "km": "km kilometre kilometres kilometer kilometers",
    "m": "metre metres meter meters",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "mi": "mi mile miles",
    "ft": "ft foot feet",
    "l": "l litre litres liter liters",
    "ml": "ml millilitre millilitres milliliter milliliters",
    "s": "s sec second seconds",
    "ms": "ms millisecond milliseconds",
    "min": "min minute minutes",
    "h": "h hr hrs hour hours",
    "d": "day days",
    "week": "week weeks",
    "month": "month months",
    "year": "year years yr yrs",
    "°c": "°c celsius",
    "°f": "°f fahrenheit",
    "$": "$ usd dollar dollars",
    "€": "€ eur euro euros",
    "£": "£ gbp",
    "¥": "¥ jpy yen",
    "₹": "₹ inr rupee rupees",
    "t": "t tonne tonnes",
    "x": "x × times fold",
    "kb": "kb kilobytes",
    "mb": "mb megabytes",
    "gb": "gb gigabytes",
}
_UNIT_BY_ALIAS = {word: unit for unit, names in _UNIT_ALIASES.items() for word in names.split()}
MONTHS = {
    name: number
    for number, names in enumerate(
        """january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|
        november nov|december dec""".split("|"),
        start=1,
    )
    for name in names.split()
}
CALENDAR_MONTH = "calendar month"
VERSION = "version"
_MONEY = "$€£¥₹"
# A dot or an apostrophe separates thousands only where it cannot be a decimal point: "1.234.567".
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]*\d)|\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?:\.\d+)?(?!\d)"
    r"|\d{1,3}(?:['’]\d{3})+(?!\d)|\d{1,3}(?:\.\d{3}){2,}(?!\.?\d)|\d+(?:\.\d+)?"
)
_SPELLED = "|".join([*_SMALL, *_TENS])
_NUMBER = re.compile(
    rf"""(?<![\w.])(?<![A-Za-z]-)
    (?:(?P<date>(?P<year>\d{{4}})-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01])(?![\d-])
        |(?P<day2>[0-3]?\d)\.\s?(?P<month2>0?[1-9]|1[0-2])\.\s?(?P<year2>[12]\d{{3}})(?!\.?\d))
      |(?P<version>\d+(?:\.\d+){{2,}})(?!\.?\d)(?<!\.\d{{3}}\.\d{{3}})
      |(?:\b(?:version|release)\s)(?P<named_version>\d+\.\d+)\b(?!\.\d)
      |(?:(?P<parts>an?|one|two|three|2|3)[-\s](?P<part>half|third|quarter)s?|(?<!first\s)(?<!second\s)(?<!latter\s)(?P<half>half)
        |(?P<glyph>[½¼¾⅓⅔]))(?=\sof\b)
      |(?P<top>\d{{1,3}})(?:/|\s(?:in|out\sof)\s)(?P<bottom>\d{{1,3}})(?=\sof\b)
      |(?P<sign>(?:(?<![\d%]\s)(?<![^\s(\[<>=≤≥~,:;“])[-−–]|\bminus\s)(?=[{_MONEY}\d]))?(?P<money>[{_MONEY}]\s?)?
       (?:(?P<digits>{_DIGITS})(?P<decade>s\b)?(?P<ordinal>st\b|nd\b|rd\b|th\b)?
         |(?P<spelled_ordinal>{"|".join(_ORDINALS)})\b
         |(?P<spelled>(?:{_SPELLED})(?:[-\s](?:{"|".join(_SMALL)}))?)\b)
       (?:[-\s]?(?P<scale>hundred|thousand|million|billion|trillion|bn|mn|k|m|b|t)\b)?
       (?:[-\s]?(?P<unit>%|°\s?[CF]\b|×|x\b(?!\s*\d)|per\s?cent\b|[A-Za-zµμ]+\b))?)""",
    re.VERBOSE | re.IGNORECASE,
)
_SCALE_WORD = re.compile(r"[\d\s](hundred|thousand|million|billion|trillion|bn|mn)\b", re.IGNORECASE)
_NO_UNITS = frozenset("G S H".split())  # In "5G" and "model 3S" the letter belongs to the name.
# Between two numbers that share a unit or a scale: "5–10 kg", "2 to 3 million".
_RANGE = re.compile(r"\s?[-–—]\s?|\sto\s")
_COUNTED = re.compile(
    r"\s(?:people|persons|users|customers|subscribers|members|downloads|views|followers|inhabitants|residents|visitors"
    r"|viewers|copies|jobs|records|rows|parameters|tokens|requests|euros?|dollars?|pounds)\b",
    re.IGNORECASE,
)
_APPROXIMATELY = re.compile(
    r"(?:about|around|approximately|approx\.?|nearly|almost|roughly|some|circa|c\.|~)\s*$",
    re.IGNORECASE,
)
_ROUNDING_TOLERANCE = 0.06  # "about 2 million" may mean 2.1 million, not 2.5 million.


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a text with its unit and its offsets."""

    value: float
    unit: str
    """Empty when the number has none, or one that is not known here."""
    start: int
    end: int
    is_approximate: bool = False
    """The text rounds it: "about 5"."""
    is_spelled_out: bool = False
    written: str = ""
    """The digits as they stand in the text, where 3.1 and 3.10 are two versions."""

    def __str__(self) -> str:
        if self.unit == VERSION:
            return self.written
        is_long = abs(self.value) >= 10_000  # 1887 is a year, not 1,887.
        number = f"{self.value:,.10g}" if is_long else f"{self.value:.10g}"
        return f"{number}×" if self.unit == "x" else f"{number} {self.unit}".rstrip()

    @property
    def is_year(self) -> bool:
        """Whether it may be a year."""
        return not self.unit and 1000 <= self.value <= 2100 and self.value == int(self.value)

    def matches(self, other: "Quantity") -> bool:
        """Whether the two may be the same number."""
        if self.unit and other.unit and self.unit != other.unit:
            return False
        if VERSION in (self.unit, other.unit):
            return self.written == other.written
        if self.value == other.value:
            return True
        rounded = self.is_approximate != other.is_approximate  # Two rounded numbers that differ are two numbers.
        return rounded and abs(self.value - other.value) <= _ROUNDING_TOLERANCE * max(abs(self.value), abs(other.value))


def extract_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of a text in order.

    >>> [(found.value, found.unit) for found in extract_quantities("1.2 million people, 30 % of them in CD4, 5 km away")]
    [(1200000.0, ''), (30.0, '%'), (5.0, 'km')]
    """
    found: list[Quantity] = []
    for match in _NUMBER.finditer(text):
        found += _parse_special(match) or _parse_number(match, text)
    return tuple(_share_units(text, found))


def _parse_special(match: re.Match[str]) -> list[Quantity]:
    """Return the quantities of a date, a version or a fraction; empty for any other number."""
    start, end = match.span()
    if match["date"]:
        names = ("year", "month", "day") if match["year"] else ("year2", "month2", "day2")
        units = ("", CALENDAR_MONTH, "")
        return [Quantity(float(match[name]), unit, start, end) for name, unit in zip(names, units, strict=True)]
    if written := match["version"] or match["named_version"]:
        major = float(written.split(".")[0])
        return [Quantity(major, VERSION, end - len(written), end, written=written)]
    if match["top"]:
        top, bottom = float(match["top"]), float(match["bottom"])
        return [Quantity(100 * top / bottom, "%", start, end, True)] if bottom else []
    if part := match["part"] or match["half"] or match["glyph"]:
        parts = (match["parts"] or "a").lower()
        count = float(parts) if parts.isdigit() else _SMALL.get(parts, 1.0)
        return [Quantity(100 * count * _FRACTIONS[part.lower()], "%", start, end, True, True)]
    return []


def _parse_number(match: re.Match[str], text: str) -> list[Quantity]:
    digits, spelled, ordinal = match["digits"], match["spelled"], match["spelled_ordinal"]
    end = match.end("digits") if digits else match.end("spelled") if spelled else match.end("spelled_ordinal")
    if digits:
        if match["decade"] is None and match["ordinal"] is None and _is_part_of_name(text, end):
            return []
        value = float(_strip_separators(digits))
    elif ordinal:
        value = _ORDINALS[ordinal.lower()]
    elif spelled:
        parts = re.split(r"[-\s]+", spelled.lower())
        if len(parts) == 2 and parts[0] not in _TENS:
            parts = parts[:1]
        value = sum(_TENS.get(part, _SMALL.get(part, 0.0)) for part in parts)
    else:
        return []
    unit = (match["money"] or "").strip()
    if scale := match["scale"]:
        is_metres_or_tonnes = scale in ("m", "t") and not unit and not _COUNTED.match(text, match.end("scale"))
        if is_metres_or_tonnes:
            unit, end = scale, match.end("scale")
        elif len(scale) > 1 or unit or match.start("scale") == end or scale in ("m", "M"):  # "300 K" is a temperature.
            value, end = value * _SCALES[scale.lower()], match.end("scale")
    named = re.sub(r"\s", "", match["unit"] or "")
    if named.lower() in _UNIT_BY_ALIAS and named not in _NO_UNITS:
        unit = unit or _UNIT_BY_ALIAS[named.lower()]
        end = match.end("unit")
    if match["decade"]:
        unit = "decade"
    if (match["ordinal"] or ordinal) and not unit:
        unit = "ordinal"
    if match["sign"]:
        value = -value
    about = _APPROXIMATELY.search(text, max(0, match.start() - 14), match.start()) is not None
    return [Quantity(value, unit, match.start(), end, about, digits is None, digits or "")]


def _strip_separators(digits: str) -> str:
    """Return the digits without what separates thousands."""
    plain = re.sub(r"[,'’\s]", "", digits)
    return plain.replace(".", "") if plain.count(".") > 1 else plain


def _share_units(text: str, found: list[Quantity]) -> Iterator[Quantity]:
    """Yield the quantities; the first number of a range has the unit and the scale of the second."""
    for one, other in zip_longest(found, found[1:]):
        if other is None or one.unit or not _RANGE.fullmatch(text, one.end, other.start):
            yield one
            continue
        is_dash = not text[one.end : other.start].strip().isalpha()
        scale = _SCALE_WORD.search(text, other.start, other.end)
        is_bare = one.end - one.start == len(one.written)
        factor = _SCALES[scale[1].lower()] if scale and is_bare else 1.0
        factor = factor if one.value * factor < other.value else 1.0
        shares_unit = other.unit not in ("ordinal", VERSION, CALENDAR_MONTH, "decade") and (is_dash or factor > 1)
        yield replace(one, value=one.value * factor, unit=other.unit if shares_unit else "")


def _is_part_of_name(text: str, end: int) -> bool:
    """Whether letters follow the digits at once that are no unit and no scale, as in ``3D``."""
    if end >= len(text) or not (text[end].isalpha() or text[end] == "_"):
        return False
    word = re.match(r"[^\W\d]+", text[end:])
    if word is None or word.group() in _NO_UNITS:
        return True
    return word.group().lower() not in {**_UNIT_BY_ALIAS, **_SCALES} or word.group() == "b"
