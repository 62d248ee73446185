"""Find the figures of a claim that its sources do not have.

A figure is a number with its scale and unit: "1.2 million", "40 %", "3 km", "the 1980s". Units of one kind are converted, a
date counts by its parts, and a claim may round. List numbers, names with digits such as "V2X" and "twice" are not figures.
"""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

from suffice.text.dates import MONTH_NUMBERS, MONTHS
from suffice.text.entities import extract_names
from suffice.text.tokens import tokenize

_WORDS = "two three four five six seven eight nine ten eleven twelve".split()
_NUMBER_WORDS = {word: value for value, word in enumerate(_WORDS, 2)}
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "bn": 1e9, "mn": 1e6, "k": 1e3}
_MONEY_SCALES = {"m": 1e6, "M": 1e6, "b": 1e9, "B": 1e9, "K": 1e3}
_CURRENCIES = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_KINDS = json.loads((files("suffice.claims") / "units.json").read_text(encoding="utf-8"))
# The kind of each unit, and how many of the kind's first unit it is. Names are matched without a plural ending.
_UNITS = {unit: (kind, float(size)) for kind, units in _KINDS.items() for unit, size in units.items()}
_FIGURE = re.compile(
    rf"""(?<![\w.])(?<![^\W\d_][-’'])(?:(?P<currency>[$€£¥])\s?|(?P<sign>(?<!\d\s)(?<!\S)[-−]))?
    (?:(?P<chain>\d+(?:\.\d+){{2,}}|\d{{1,4}}(?:[-/]\d{{1,2}}){{2}}|\d{{1,2}}/\d{{1,2}}/\d{{2,4}}|\d{{1,2}}:\d\d(?::\d\d)?)(?![\w])
      |(?P<digits>\d{{1,3}}(?:[,_\u00a0\u202f']\d{{3}})+(?:\.\d+)?|\d{{1,3}}(?:\.\d{{3}})+,\d+|\d+\.\d+|\d+,\d{{1,2}}(?!\d)|\d+)(?P<suffix>st|nd|rd|th|s)?(?![^\W\d_]*\d|_)
      |(?P<word>\b(?:{"|".join(_WORDS)})\b))
    (?:[\s-]?(?P<scale>thousand|million|billion|trillion|bn|mn|k)\b)?
    (?:[\s-]?(?P<unit>%|per[ ]cent\b|°?[^\W\d_]+))?""",
    re.VERBOSE | re.IGNORECASE,
)
_MONTH = re.compile(rf"\b(?:{'|'.join(month[:3].capitalize() for month in MONTHS)})[a-z]*\b\.?")
_LIST_NUMBER = re.compile(r"^\s*\d{1,2}[.)]\s+")
_MAX_RATIO_ROUNDING = 0.02  # A ratio that was computed and rounded, such as 29 % for 29.3 %, differs by no more.
_MAX_TERMS = 60  # Of more figures every value follows by some step, and to try them all takes minutes.
_MAX_ROUNDING = 0.05  # A rounded figure differs by no more than this share of itself.


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in base units of its kind, how it was written, and how far a rounded figure may be from it.

    ``factor`` is the size of its unit in base units. ``may_group`` says that its mark may stand before decimals or, as in many
    languages, before thousands: 21.800.
    """

    value: float
    kind: str
    text: str
    above: float = 0.0
    below: float = 0.0
    factor: float = 1.0
    scale: float = 1.0
    may_group: bool = False

    def list_readings(self, scales: Collection[float] = ()) -> tuple["Figure", ...]:
        """Return the figure, what else its mark may mean, and, if it is a bare number, that number of each scale."""
        factors = [*([1000.0] if self.may_group else []), *(() if self.kind or self.scale != 1 else scales)]
        return (self, *(replace(self, value=self.value * factor) for factor in factors))

    def matches(self, other: "Figure") -> bool:
        """Whether another figure states this one: the same value, or one that this rounds, of the same kind.

        Scale and unit may be given elsewhere ("46 and 34 million", "500 staff hours", the head of a table), so a number without
        a unit is compared as it is written, and a bare fraction as a percentage too: 0.30 is 30 %.
        """
        if self.kind and other.kind and self.kind != other.kind:
            return False
        if not (self.kind and other.kind):
            one, two = self.value / self.factor, other.value / other.factor
            is_bare = not self.kind and self.scale == 1 and not self.text.isalpha()
            numbers = (two, two / other.scale) if is_bare else (two,)
            if any(abs(one - number) <= 1e-9 * max(1.0, abs(number)) for number in numbers):
                return True
        values, close = [other.value], 1e-9 * max(1.0, abs(self.value))
        if {self.kind, other.kind} == {"", "%"} and 0 < (other if self.kind else self).value < 1:
            values.append(other.value * (100 if self.kind else 0.01))
        return any(self.value - self.below - close <= value <= self.value + self.above + close for value in values)

    def is_like(self, other: "Figure") -> bool:
        """Whether another figure may stand for the same thing: the unit is the same, or bare numbers are of a size."""
        return self.kind == other.kind and (bool(self.kind) or 0.1 < abs(self.value) / (abs(other.value) or 1) < 10)


@dataclass(frozen=True, slots=True)
class MissingFigure:
    """A figure of a claim that no source has, and the only one like it in the nearest text; empty if there is not just one."""

    claim_value: str
    source_value: str = ""


def find_missing_figure(
    claim: str, sources: Sequence[str], near: str = "", *, may_compute: bool = False, may_count: bool = False
) -> MissingFigure | None:
    """Return the first figure of a claim that is in none of the sources; ``None`` when all are there.

    With ``may_compute`` a sum, difference, product, ratio, change or share of two figures of the claim or of ``near`` is too;
    with ``may_count`` a bare number word is, which may count what the claim itself lists ("two other costs: …").

    >>> find_missing_figure("It costs 60 %.", ["In 2021 it cost 40 % more."], near="In 2021 it cost 40 % more.")
    MissingFigure(claim_value='60 %', source_value='40 %')
    """
    own = [one for one in list_claim_figures(claim) if not may_count or one.kind or not one.text.isalpha()]
    known = [figure for source in sources for figure in _list_readings(source)]
    stated = [one for one in own if any(read.matches(other) for read in one.list_readings() for other in known)]
    terms = [*stated, *find_figures(near)] if may_compute else []
    for figure in own:
        if figure not in stated and not _is_computed(figure, terms):
            others = [other for other in find_figures(near) if not any(one.matches(other) for one in own)]
            like = {other.text for other in others if figure.is_like(other)}
            return MissingFigure(figure.text, like.pop() if len(like) == 1 else "")
    return None


@lru_cache(maxsize=2048)
def _list_readings(source: str) -> list[Figure]:
    """Return the figures of a source; a number without a scale may have each that the source names, as in a table's head."""
    scales = {_SCALES[word] for word in tokenize(source) if len(word) > 1 and word in _SCALES}
    return [reading for figure in find_figures(source) for reading in figure.list_readings(scales)]


def _is_computed(figure: Figure, terms: Sequence[Figure]) -> bool:
    """Whether a figure follows from two others by one step of arithmetic, up to rounding."""
    values = {term.value for term in terms}
    if len(values) > _MAX_TERMS:
        return False
    pairs = [(a, b) for a in values for b in values if a != b]
    exact = [value for a, b in pairs for value in (a + b, a - b, a * b)]
    shares = [term.value / 100 for term in terms if term.kind == "%"]
    exact += [value * part for value in values for share in shares for part in (share, 1 + share, 1 - share)]
    ratios = [value for a, b in pairs if b for value in (a / b, 100 * a / b, 100 * (a / b - 1))]
    target = abs(figure.value)
    margin = max(figure.above, 1e-9 * target)
    is_exact = any(abs(abs(value) - target) <= margin for value in exact)
    return is_exact or any(abs(abs(value) - target) <= _MAX_RATIO_ROUNDING * target for value in ratios)


def list_claim_figures(claim: str) -> tuple[Figure, ...]:
    return find_figures(_LIST_NUMBER.sub("", claim))


@lru_cache(maxsize=2048)
def find_figures(text: str) -> tuple[Figure, ...]:
    """Return the figures of a text in reading order."""
    return (*(one for match in _FIGURE.finditer(text) for one in _read_figure(match)), *_find_months(text))


def share_name(one: str, other: str) -> bool:
    """Whether two sentences name the same thing. "The fee is 480 EUR" in one contract is not about the fee of another."""
    names, others = ({name.lower() for name in extract_names(text)} for text in (one, other))
    return bool((names & others) - _UNITS.keys())


def _read_figure(match: re.Match[str]) -> Iterator[Figure]:
    written = match.group().rstrip(" -")
    if chain := match["chain"]:
        yield from (Figure(float(part), "", chain) for part in re.split(r"[-/:.]", chain))
        return
    unit, factor = _read_unit(match["unit"] or "", match["currency"])
    if unit is None and match["unit"]:
        written = match.group()[: match.start("unit") - match.start()].rstrip(" -")
    scale = _SCALES.get((match["scale"] or "").lower(), 1.0)
    if match["currency"]:
        scale *= _MONEY_SCALES.get(match["unit"] or "", 1.0)
    kind = _CURRENCIES.get(match["currency"] or "", unit or "")
    number, decimals = _read_number(match["digits"] or str(_NUMBER_WORDS[match["word"].lower()]))
    number = -number if match["sign"] else number
    value = number * scale * factor
    if match["suffix"]:  # "the 1980s", "the 19th century", "the 3rd"
        is_decade = match["suffix"].lower() == "s" and number >= 1000 and number % 10 == 0
        is_century = (match["unit"] or "").lower() == "century"
        value, above = (100 * (number - 1), 100) if is_century else (number, 9 if is_decade else 0)
        yield Figure(value, "", match["digits"] + match["suffix"] + (" century" if is_century else ""), above)
        return
    is_rounded = decimals > 0 or scale > 1
    margin = min(0.5 * 10**-decimals * scale * factor, _MAX_ROUNDING * abs(value)) if is_rounded else 0.0
    yield Figure(value, kind, written, margin, margin, factor, scale, decimals == 3 and 1 <= abs(number) < 1000)


def _read_number(digits: str) -> tuple[float, int]:
    """Return the value of digits with separators, and how many decimals they have."""
    if 0 < digits.find(".") < digits.find(","):  # 1.234,50
        digits = digits.replace(".", "").replace(",", ".")
    whole = re.sub(r"[,_\u00a0\u202f'](?=\d{3}(?!\d))", "", digits).replace(",", ".")
    return float(whole), len(whole.partition(".")[2])


def _read_unit(word: str, currency: str | None) -> tuple[str | None, float]:
    """Return the kind of a unit and its size; ``None`` for a word that is no unit."""
    lower = word.lower().replace("per cent", "%").replace("percent", "%")
    known = None if currency or word == "M" else _UNITS.get(lower) or _UNITS.get(lower.removesuffix("s"))
    return known or (None, 1.0)


def _find_months(text: str) -> Iterator[Figure]:
    for match in _MONTH.finditer(text):
        name = match.group().rstrip(".").lower()
        beside = text[max(0, match.start() - 4) : match.start()] + text[match.end() : match.end() + 4]
        if name in MONTH_NUMBERS and (name not in ("may", "mar", "march") or any(map(str.isdigit, beside))):
            yield Figure(MONTH_NUMBERS[name], "", match.group())
