"""Read the numbers of a text as values with units, so that "1,200 kg" equals "1.2 thousand kilograms".

Digits inside a name (``CD4``, ``IL-2``, ``python3``) are part of the name.
"""

import re
from dataclasses import dataclass

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
_SCALES = {
    **{"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12},
    **{"k": 1e3, "m": 1e6, "bn": 1e9},
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
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_SPELLED = "|".join([*_SMALL, *_TENS])
_NUMBER = re.compile(
    rf"""(?<![\w.])(?<![A-Za-z]-)(?P<money>[$€£]\s?)?
    (?:(?P<digits>{_DIGITS})(?P<decade>s\b)?(?P<ordinal>st\b|nd\b|rd\b|th\b)?
      |(?P<spelled>(?:{_SPELLED})(?:[-\s](?:{"|".join(_SMALL)}))?)\b)
    (?:[-\s]?(?P<scale>hundred|thousand|million|billion|trillion|bn|k|m)\b)?
    (?:[-\s]?(?P<unit>%|°\s?[CF]\b|per\s?cent\b|[A-Za-zµμ]+\b))?""",
    re.VERBOSE | re.IGNORECASE,
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

    def __str__(self) -> str:
        number = f"{self.value:,.10g}" if self.value >= 10_000 else f"{self.value:.10g}"  # 1887 is a year, not 1,887.
        return f"{number} {self.unit}".rstrip()

    def matches(self, other: "Quantity") -> bool:
        """Whether the two may be the same number."""
        if self.unit and other.unit and self.unit != other.unit:
            return False
        if self.value == other.value:
            return True
        rounded = self.is_approximate != other.is_approximate  # Two rounded numbers that differ are two numbers.
        return rounded and abs(self.value - other.value) <= _ROUNDING_TOLERANCE * max(abs(self.value), abs(other.value))


def extract_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of a text in order.

    >>> [(found.value, found.unit) for found in extract_quantities("1.2 million people, 30 % of them in CD4, 5 km away")]
    [(1200000.0, ''), (30.0, '%'), (5.0, 'km')]
    """
    return tuple(found for match in _NUMBER.finditer(text) if (found := _parse_quantity(match, text)) is not None)


def _parse_quantity(match: re.Match[str], text: str) -> Quantity | None:
    digits, spelled = match["digits"], match["spelled"]
    end = match.end("digits") if digits else match.end("spelled")
    if digits:
        if match["decade"] is None and match["ordinal"] is None and _is_part_of_name(text, end, match):
            return None
        value = float(digits.replace(",", ""))
    else:
        parts = re.split(r"[-\s]+", spelled.lower())
        if len(parts) == 2 and parts[0] not in _TENS:
            parts = parts[:1]
        value = sum(_TENS.get(part, _SMALL.get(part, 0.0)) for part in parts)
    scale = match["scale"]
    unit = (match["money"] or "").strip()
    named = re.sub(r"\s", "", match["unit"] or "").lower()
    if scale:
        end = match.end("scale")
        if scale.lower() == "m" and not unit:  # "5 m" without a currency is taken for metres.
            unit = "m"
        else:
            value *= _SCALES[scale.lower()]
    if named in _UNIT_BY_ALIAS:
        unit = unit or _UNIT_BY_ALIAS[named]
        end = match.end("unit")
    if match["decade"]:
        unit = "decade"
    about = _APPROXIMATELY.search(text, max(0, match.start() - 14), match.start()) is not None
    return Quantity(value, unit, match.start(), end, about, digits is None)


def _is_part_of_name(text: str, end: int, match: re.Match[str]) -> bool:
    """Whether letters follow the digits at once that are no unit and no scale, as in ``3D``."""
    if end >= len(text) or not (text[end].isalpha() or text[end] == "_"):
        return False
    word = re.match(r"[^\W\d]+", text[end:])
    return word is None or word.group().lower() not in {**_UNIT_BY_ALIAS, **_SCALES}
