"""Read the numbers of a text as values with units, so that "1,200 kg" equals "1.2 thousand kilograms" and "1.2 t".

Signs, currencies, scales, ranges, bounds ("at least 5"), shares ("one in five"), multiples ("twice"), powers of ten, versions,
Roman numerals after a name, dates and times of day are read. Digits inside a name (``CD4``, ``IL-2``, ``python3``) are part
of the name.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from typing import Literal

from suffice.text.sentences import Offsets
from suffice.text.tokens import STOP_WORDS

CALENDAR_MONTH = "calendar month"
DAY_OR_MONTH = "day or month"
CLOCK = "min after midnight"
CENTURY = "century"
ORDINAL = "ordinal"
VERSION = "version"
DECADE = "decade"
WEEKDAY = "weekday"
_BARE_UNITS = frozenset((ORDINAL, CENTURY, DECADE, VERSION, CALENDAR_MONTH, CLOCK, WEEKDAY))
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

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
_TEENTH_ORDINALS = {
    word: float(value)
    for value, word in enumerate(
        """fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth
        seventeenth eighteenth nineteenth""".split(),
        start=4,
    )
}
# "First", "second" and "third" alone are ordinary words: "a second bridge" says no more than "another one".
LOW_ORDINALS = {"first": 1.0, "second": 2.0, "third": 3.0}
_TENS_ORDINALS = {word[:-1] + "ieth": value for word, value in _TENS.items()}
_SCALES = {
    **{"dozen": 12.0, "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12},
    **{"lakh": 1e5, "crore": 1e7},
    **{"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "t": 1e12},
}
_PARTS = {
    **{"half": 1 / 2, "third": 1 / 3, "quarter": 1 / 4, "fourth": 1 / 4, "fifth": 1 / 5, "sixth": 1 / 6},
    **{"seventh": 1 / 7, "eighth": 1 / 8, "ninth": 1 / 9, "tenth": 1 / 10},
    **{"½": 1 / 2, "¼": 1 / 4, "¾": 3 / 4, "⅓": 1 / 3, "⅔": 2 / 3},
}
_MULTIPLES = {
    "twice": 2.0,
    "thrice": 3.0,
    "doubled": 2.0,
    "tripled": 3.0,
    "quadrupled": 4.0,
    "double": 2.0,
    "triple": 3.0,
}
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10}
_DATE_MONTHS, _DATE_DAYS = ("month", "month2", "month3", "month4"), ("day", "day2", "day3", "day4")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")

# Each line: unit, what it measures, how many of the base unit it is | its spellings. Capital letters count where two spellings
# differ in nothing else ("MW", "mW").
_UNITS = """
% share 1 | % percent per_cent percentage pct
‰ share .1 | ‰ per_mille
pp points 1 | pp percentage_point percentage_points
bp points .01 | basis_point basis_points
mg mass .001 | mg milligram milligrams
µg mass .000001 | µg μg ug mcg microgram micrograms
g mass 1 | g gram grams gramme grammes
kg mass 1000 | kg kilogram kilograms kilogramme kilogrammes kilo kilos
t mass 1000000 | t tonne tonnes metric_ton metric_tons
kt mass 1e9 | kt kilotonne kilotonnes
Mt mass 1e12 | Mt megatonne megatonnes
lb mass 453.59237 | lb lbs
oz mass 28.349523 | oz ounce ounces
nm length 1e-9 | nm nanometre nanometres nanometer nanometers
µm length 1e-6 | µm μm micrometre micrometres micrometer micrometers
mm length .001 | mm millimetre millimetres millimeter millimeters
cm length .01 | cm centimetre centimetres centimeter centimeters
m length 1 | metre metres meter meters
km length 1000 | km kilometre kilometres kilometer kilometers
in length .0254 | inch inches
ft length .3048 | ft foot feet
yd length .9144 | yd yard yards
mi length 1609.344 | mi mile miles
m² area 1 | m² m2 sqm square_metre square_metres square_meter square_meters
km² area 1000000 | km² km2 square_kilometre square_kilometres square_kilometer square_kilometers
ha area 10000 | ha hectare hectares
acre area 4046.8564 | acre acres
mi² area 2589988.11 | sq_mi square_mile square_miles
m³ volume 1000 | m³ m3 cubic_metre cubic_metres cubic_meter cubic_meters
l volume 1 | l litre litres liter liters
ml volume .001 | ml millilitre millilitres milliliter milliliters
ns time 1e-9 | ns nanosecond nanoseconds
µs time 1e-6 | µs μs microsecond microseconds
ms time .001 | ms millisecond milliseconds
s time 1 | s sec second seconds
min time 60 | min minute minutes
h time 3600 | h hr hrs hour hours
d time 86400 | day days
week time 604800 | week weeks
month months 1 | month months
year months 12 | year years yr yrs
km/h speed 1 | km/h kph kilometres_per_hour kilometers_per_hour
mph speed 1.609344 | mph miles_per_hour
m/s speed 3.6 | m/s metres_per_second meters_per_second
°c celsius 1 | °c °_c celsius degrees_celsius degree_celsius
°f fahrenheit 1 | °f °_f fahrenheit degrees_fahrenheit degree_fahrenheit
mW power .001 | mW milliwatts
W power 1 | W watt watts
kW power 1000 | kW kilowatt kilowatts
MW power 1e6 | MW megawatt megawatts
GW power 1e9 | GW gigawatt gigawatts
TW power 1e12 | TW terawatt terawatts
kWh energy 1 | kWh kilowatt-hours
MWh energy 1000 | MWh megawatt-hours
GWh energy 1e6 | GWh gigawatt-hours
TWh energy 1e9 | TWh terawatt-hours
mV voltage .001 | mV millivolts
V voltage 1 | V volt volts
kV voltage 1000 | kV kilovolts
MV voltage 1e6 | MV megavolts
Hz frequency 1 | Hz hertz
kHz frequency 1000 | kHz kilohertz
MHz frequency 1e6 | MHz megahertz
GHz frequency 1e9 | GHz gigahertz
kB bytes 1e3 | kb kilobyte kilobytes
MB bytes 1e6 | mb megabyte megabytes
GB bytes 1e9 | gb gigabyte gigabytes
TB bytes 1e12 | tb terabyte terabytes
PB bytes 1e15 | pb petabyte petabytes
MiB bytes 1048576 | mib
GiB bytes 1073741824 | gib
kbit/s rate 1e3 | kbit/s kbps
Mbit/s rate 1e6 | mbit/s mbps
Gbit/s rate 1e9 | gbit/s gbps
ppm ppm 1 | ppm parts_per_million
ppb ppm .001 | ppb parts_per_billion
x multiple 1 | x × times fold
$ $ 1 | $ dollar dollars
US$ US$ 1 | US$ USD US_dollar US_dollars
A$ A$ 1 | A$ AU$ AUD Australian_dollars
C$ C$ 1 | C$ CA$ CAD Canadian_dollars
€ € 1 | € eur euro euros
£ £ 1 | £ gbp pounds_sterling
pound pound 1 | pound pounds
¥ ¥ 1 | ¥ jpy yen
CNY CNY 1 | CNY RMB yuan renminbi
₹ ₹ 1 | ₹ inr rupee rupees
CHF CHF 1 | CHF swiss_franc swiss_francs
SEK SEK 1 | SEK swedish_kronor
NOK NOK 1 | NOK norwegian_kroner
DKK DKK 1 | DKK danish_kroner
KRW KRW 1 | ₩ KRW won
cent cent 1 | cent cents
BC bc 1 | BC BCE B.C. B.C.E.
AD ad 1 | AD A.D.
"""
_UNIT_OF: dict[str, str] = {}  # Spelling as written → unit.
_UNIT_OF_LOWER: dict[str, str] = {}
_MEASURES: dict[str, tuple[str, float]] = {}  # Unit → what it measures, how many base units it is.
for _line in _UNITS.strip().splitlines():
    (_unit, _measured, _factor), _spellings = _line.split("|")[0].split(), _line.split("|")[1].split()
    _MEASURES[_unit] = _measured, float(_factor)
    for _spelling in _spellings:
        _UNIT_OF[_spelling.replace("_", " ")] = _unit
        _UNIT_OF_LOWER.setdefault(_spelling.replace("_", " ").lower(), _unit)
_MEANINGS = {"$": ("US$", "A$", "C$"), "pound": ("£", "lb")}  # What a unit may stand for.
_IMPERIAL = frozenset("lb oz in ft yd mi acre mi² mph °f".split())
_COMPOUND_UNITS = frozenset(("h", "min", "s", "d", "ft", "in", "lb", "oz"))  # "1 h 30 min", "5 ft 11 in"
_CURRENCIES = frozenset("US$ A$ C$ $ € £ ¥ CNY ₹ CHF SEK NOK DKK KRW".split())
_PREFIXES = "US$ A$ AU$ C$ CA$ $ € £ ¥ ₹ ₩ USD EUR GBP JPY CNY RMB INR CHF AUD CAD SEK NOK DKK KRW AD".split()
_WORD_ONLY_UNITS = frozenset("AD W V BC".split())  # "30 W" and "300 BC" have a unit; "model 30w" does not.
_NAME_LETTERS = frozenset("G S H".split())  # In "5G" and "model 3S" the letter belongs to the name.
MONTHS = {
    name: number
    for number, names in enumerate(
        """january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct|
        november nov|december dec""".split("|"),
        start=1,
    )
    for name in names.split()
}


def _either(words: "list[str] | dict[str, float]") -> str:
    """Return a pattern for any of the words, the longest first; a space in a word is any white space."""
    return "|".join(re.escape(word).replace(r"\ ", r"\s") for word in sorted(words, key=len, reverse=True))


# Things that are counted: "12.500 users" are not 12 and a half.
_COUNTED = (
    r"\s(?:people|persons|users|customers|subscribers|members|downloads|views|followers|inhabitants|residents|visitors"
    r"|viewers|copies|jobs|records|rows|parameters|tokens|requests)\b"
)
# A dot or an apostrophe separates thousands only where it cannot be a decimal point: "1.234.567". A comma before one or two
# digits is a decimal comma.
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]*\d)|\d{1,2}(?:,\d{2})+,\d{3}(?![\d,])"
    r"|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d{1,2}(?!\d)|\.\d+)?(?![.,]?\d)"
    rf"|\d{{1,3}}(?:['’]\d{{3}})+(?!\d)|\d{{1,3}}(?:\.\d{{3}}){{2,}}(?!\.?\d)|[1-9]\d{{0,2}}\.\d{{3}}(?={_COUNTED})"
    r"|\d{1,3}\.000(?=\s[a-z]{4})|\d+,\d{1,2}(?![\d,])|\d+(?:\.\d+)?"
)
_BELOW_100 = rf"(?:{_either(_TENS)})(?:[-\s](?:{_either(list(_SMALL)[1:10])}))?|{_either(_SMALL)}"
_BELOW_1000 = rf"(?:(?:{_BELOW_100}|an?(?=\shundred))\shundred(?:\sand)?(?:\s(?:{_BELOW_100})\b)?|{_BELOW_100})"
_LARGE = "thousand|million|billion|trillion"
_SPELLED = (
    rf"(?:(?:{_BELOW_1000}|an?(?=\s(?:{_LARGE})))[-\s](?:{_LARGE}),?(?:\sand)?\s)*{_BELOW_1000}"
    rf"|an?(?=\s(?:{_LARGE}|dozen)\b)|half\san?(?=\s(?:{_LARGE}|dozen|hour|day|year|mile|metre|meter|kilometre|kilo)\b)"
)
_ORDINAL_WORDS = (
    rf"(?:{_either(_TENS)})[-\s](?:{_either([*LOW_ORDINALS, *list(_TEENTH_ORDINALS)[:6]])})"
    rf"|{_either({**_TEENTH_ORDINALS, **_TENS_ORDINALS})}"
)
_PERIODS = "day days week weeks month months year years hour hours minute minutes second seconds".split()
_COUNT = rf"\d{{1,4}}|{_either(list(_SMALL)[1:13])}"
_UNIT_PATTERN = _either(list(_UNIT_OF))
_NUMBER_WORDS = [
    *(*_SMALL, *_TENS, *_TEENTH_ORDINALS, *_TENS_ORDINALS, *_MULTIPLES),
    *("a ", "an ", "half", "minus ", "version ", "release "),
]
_MONTH = _either([name.capitalize() for name in MONTHS])
_ROMAN = r"(?=[IVX]+\b)X{0,3}(?:IX|IV|V?I{0,3})"
_POSSIBLE_START = (  # Saves most of the time.
    rf"[-−–\d$€£¥₹₩½¼¾⅓⅔]|v\d|{_either(_NUMBER_WORDS)}|{_either(_PREFIXES)}|noon|mid|(?-i:{_MONTH}|[IVX]+\b|{_either(_WEEKDAYS)})"
)
_NUMBER = re.compile(
    rf"""(?<![\w.])(?<![A-Za-z]-)(?={_POSSIBLE_START})
    (?:(?P<date>(?P<year>\d{{4}})[-/](?P<month>0[1-9]|1[0-2])[-/](?P<day>[0-2]\d|3[01])(?![\d/-])
        |(?P<day2>[0-3]?\d)\.\s?(?P<month2>0?[1-9]|1[0-2])\.\s?(?P<year2>[12]\d{{3}})(?!\.?\d)
        |(?P<day3>[0-3]?\d)(?:st|nd|rd|th)?[-\s](?:of\s)?(?-i:(?P<month3>{_MONTH}))\b\.?(?:,?[-\s](?P<year3>[12]\d{{3}})\b)?
        |(?-i:(?P<month4>{_MONTH}))\b\.?\s(?:(?P<day4>[0-3]?\d)(?:st|nd|rd|th)?(?![\d%]|[.,:/]\d)(?:,?\s(?P<year4>[12]\d{{3}})\b)?
          |(?P<year5>[12]\d{{3}})\b))
      |(?P<slashed>(?P<first>[0-3]?\d)/(?P<second>[0-3]?\d)/(?P<year6>[12]\d{{3}}))(?![\d/])
      |(?-i:(?<=[a-z]\s)(?P<roman>{_ROMAN})(?![\w'’-]))
      |(?P<hour>[01]?\d|2[0-3])(?::(?P<minute>[0-5]\d)(?::[0-5]\d)?)?\s?(?P<half_day>[ap]\.?m\b\.?)
      |(?P<hour2>[01]?\d|2[0-3])(?::(?P<minute2>[0-5]\d)(?::[0-5]\d)?(?![\d:])|\so['’]clock\b)
      |(?P<noon>noon|midday|midnight)\b
      |(?-i:(?P<weekday>{_either(_WEEKDAYS)}))\b
      |(?P<version>v?\d+(?:\.\d+){{2,}}(?:-?(?:rc|alpha|beta|dev|post|a|b)[.-]?\d+)?|(?-i:v)\d+(?:\.\d+)*)(?!\.?\d)(?<!\.\d{{3}}\.\d{{3}})\b
      |(?:\b(?:version|release)\s)(?P<named_version>\d+(?:\.\d+)?)\b(?!\.\d)
      |(?P<mantissa>\d+(?:\.\d+)?\s?[×x*·]\s?)?10(?:(?:\^|\*\*)(?P<power>[-−]?\d{{1,2}})|(?P<superscript>⁻?[⁰¹²³⁴-⁹]+))
      |(?P<whole>\d{{1,3}})?(?:\s?(?P<rest>[½¼¾⅓⅔])(?!\sof\b)|(?<=\d)\s(?P<over>[1-9])/(?P<under>[2-9]))(?:[-\s]?(?P<unit2>{_UNIT_PATTERN})(?!\w))?
      |(?P<scientific>\d+(?:\.\d+)?e[+-]?\d{{1,2}})(?!\w)
      |(?:(?P<parts>an?|{_COUNT})[-\s](?P<part>half|third|quarter|fourth|fifth|sixth|seventh|eighth|ninth|tenth)(?P<plural>s)?
        |(?<!first\s)(?<!second\s)(?<!latter\s)(?P<half>half)|(?P<glyph>[½¼¾⅓⅔]))(?(plural)\b|(?=\sof\b))
      |(?<=\bby\s)(?:(?:a|one)[-\s])?(?P<by>half|third|quarter|fifth|tenth)\b
      |(?P<top>{_COUNT})(?:/(?=\d+\sof\b)|\s(?:in|(?:out\s)?of)(?:\severy)?\s)(?P<bottom>{_COUNT})(?!\w|[.,:/-]?\d|\s?%)
        (?!\s(?:{_either([*MONTHS, *_PERIODS])})\b)
      |(?P<multiple>twice|thrice|doubled|tripled|quadrupled|(?:double|triple)(?=\sthe\b)|(?:{_either(list(_SMALL)[2:11])})-?fold)\b
      |(?P<sign>(?<![\d%]\s)(?<![^\s(\[<>=≤≥~,:;“])[-−–](?=[A-Z]{{0,3}}[$€£¥₹\d])|\bminus\s)?
       (?:(?P<money>{_either(_PREFIXES)})\s?(?=[\d-]))?
       (?:(?P<digits>{_DIGITS})(?P<decade>['’]?s\b)?(?P<ordinal>st\b|nd\b|rd\b|th\b)?
         |(?P<spelled_ordinal>{_ORDINAL_WORDS})\b|(?P<spelled>(?:{_SPELLED})(?:\sand\sa\shalf)?)\b)
       (?:[-\s]?(?P<scale>dozen|hundred|thousand|lakh|million|crore|billion|trillion|bn|mn|k|m|b|t)\b(?![²³/]))?
       (?:[-\s]?(?P<unit>{_UNIT_PATTERN})(?![\w²³]))?)""",
    re.VERBOSE | re.IGNORECASE,
)
_SCALE_WORD = re.compile(r"[\d\s](hundred|thousand|million|billion|trillion|bn|mn)\b", re.IGNORECASE)
_CENTURY = re.compile(r"[-\s](?:century|centuries)\b", re.IGNORECASE)
# Between two numbers that share a unit or a scale: "5–10 kg", "2 to 3 million", "between 5 and 10 kg".
_RANGE = re.compile(r"\s?[-–—]\s?|\sto\s")
_BETWEEN = re.compile(r"\b(?:between|from)\s$", re.IGNORECASE)
_YEAR_RANGE = re.compile(r"\s?[-–—/]\s?")
_COUNTED_NEXT = re.compile(_COUNTED, re.IGNORECASE)
_MILLIONS_OF = re.compile(rf"{_COUNTED}|\s(?:euros?|dollars?|pounds)\b", re.IGNORECASE)
_LOOK_BEHIND = 24  # Characters before a number in which these words are looked for.
_APPROXIMATELY = re.compile(
    r"(?:about|around|approximately|approx\.?|nearly|almost|roughly|some|circa|c\.|~)\s*$",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(
    r"(?:at least|at minimum|no (?:less|fewer) than|not less than|(?<!no )(?<!not )(?:more|greater|higher|longer|larger) than"
    r"|over|above|exceed(?:s|ed|ing)?|minimum of|[>≥])\s*$",
    re.IGNORECASE,
)
_AT_MOST = re.compile(
    r"(?:at most|at maximum|(?:no|not) (?:more|greater|higher|longer|larger) than|up to"
    r"|(?<!no )(?<!not )(?:less|fewer|lower|shorter|smaller) than|under|below|maximum of|[<≤])\s*$",
    re.IGNORECASE,
)
_AFTER, _BEFORE = re.compile(r"\bafter\s$", re.IGNORECASE), re.compile(r"\bbefore\s$", re.IGNORECASE)
_NAME_BEFORE = re.compile(r"\b([A-Z][\w’'-]*)\s$")
_VERSIONED_NAME = re.compile(r"\b[A-Z][\w+#]*[a-z][\w+#]*\s$")
_ROUNDING_TOLERANCE = 0.06  # "about 2 million" may mean 2.1 million, not 2.5 million.
_FRACTION_TOLERANCE = 0.012  # "a third" is "about 33 %".
_CONVERSION_TOLERANCE = 0.01  # 5 km are "3.1 miles".
_BOUND_REACH = 1.25  # "More than 500" is said of 512 or 600, hardly of 5,000.
Bound = Literal["", "at least", "at most"]


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
    bound: Bound = ""
    """Whether the text says that it is more or less: "over 5", "up to 5"."""
    parts: tuple["Quantity", ...] = ()
    """The two numbers that it is made of: 1 and 5 of "one in five", 1 h and 30 min of "1 h 30 min"."""
    range: Literal["", "maybe", "surely"] = ""
    """Whether it is an end of a range. "From 5 km to 10 km" may be a change instead."""

    def __str__(self) -> str:
        if self.unit == VERSION:
            return self.written
        if self.unit == WEEKDAY:
            return _WEEKDAYS[int(self.value)]
        if self.unit == DECADE:
            return f"the {self.value:g}s"
        if self.unit in (ORDINAL, CENTURY):
            last = self.value % 10 if self.value % 100 // 10 != 1 else 0
            ending = {1: "st", 2: "nd", 3: "rd"}.get(int(last), "th")
            return f"{self.value:g}{ending}{' century' if self.unit == CENTURY else ''}"
        if self.unit == CLOCK:
            return f"{int(self.value) // 60}:{int(self.value) % 60:02}"
        is_long = abs(self.value) >= 10_000  # 1887 is a year, not 1,887.
        number = f"{self.value:,.10g}" if is_long else f"{self.value:.10g}"
        return f"{number}×" if self.unit == "x" else f"{number} {self.unit}".rstrip()

    @property
    def is_year(self) -> bool:
        """Whether it may be a year."""
        return not self.unit and 1000 <= self.value <= 2100 and self.value == int(self.value)

    @property
    def is_pronoun(self) -> bool:
        """Whether it is a bare "one", which is more often a pronoun than a number."""
        return self.is_spelled_out and self.value <= 1 and not self.unit

    def is_same_kind(self, other: "Quantity") -> bool:
        """Whether the two measure the same, so that one may stand in the place of the other."""
        if self.unit or other.unit:
            return not math.isnan(_to_same_unit(self, other)[0]) if self.unit and other.unit else False
        return self.is_year == other.is_year

    def is_stated_by(self, other: "Quantity") -> bool:
        """Whether a text with the other number states this one: the same, or one in its bounds, its decade, its century."""
        if other.range == "surely" and not (self.range or self.bound):  # "5 to 10 km" is not "5 km".
            return False
        if self.matches(other):
            return True
        if self.unit == DECADE:
            return not other.unit and self.value % 10 == 0 and self.value <= other.value < self.value + 10
        if self.unit == CENTURY:
            return other.is_year and math.ceil(other.value / 100) == self.value
        ours, theirs = _to_same_unit(self, other)
        return _is_beyond(self, ours, other, theirs)

    def matches(self, other: "Quantity") -> bool:
        """Whether the two may be the same number."""
        if VERSION in (self.unit, other.unit):
            return self.written == other.written
        if self.bound and other.bound and self.bound != other.bound:
            return False
        if self.unit == other.unit == DAY_OR_MONTH:  # Which is which is known of neither.
            return False
        ours, theirs = _to_same_unit(self, other)
        if math.isnan(ours):
            return False
        is_converted = self.unit != other.unit and (self.unit in _IMPERIAL) != (other.unit in _IMPERIAL)
        if math.isclose(ours, theirs, rel_tol=_CONVERSION_TOLERANCE if is_converted else 1e-9):
            return True
        if not (self.is_approximate or other.is_approximate):
            return False
        both = self.is_approximate and other.is_approximate  # Two rounded numbers that differ are two numbers.
        tolerance = _FRACTION_TOLERANCE if both else _ROUNDING_TOLERANCE
        return abs(ours - theirs) <= tolerance * max(abs(ours), abs(theirs))


def _to_same_unit(one: Quantity, other: Quantity) -> tuple[float, float]:
    """Return both values in one unit; not a number where they measure different things."""
    if one.unit == other.unit == DECADE and min(one.value, other.value) < 100:  # "the '90s"
        return one.value % 100, other.value % 100
    if one.unit == other.unit or other.unit in _MEANINGS.get(one.unit, ()) or one.unit in _MEANINGS.get(other.unit, ()):
        return one.value, other.value
    if {one.unit, other.unit} == {"°c", "°f"}:
        celsius, celsius2 = ((each.value - 32) / 1.8 if each.unit == "°f" else each.value for each in (one, other))
        return celsius, celsius2
    if not one.unit or not other.unit:
        shares = [_to_share(each) for each in (one, other)]
        if "%" in (one.unit, other.unit) and shares[0] == shares[1]:  # 0.35 and 35 %.
            return shares[0], shares[1]
        return one.value, other.value
    (measured, factor), (measured2, factor2) = (_MEASURES.get(each.unit, (each.unit, 1.0)) for each in (one, other))
    return (one.value * factor, other.value * factor2) if measured == measured2 else (math.nan, math.nan)


def _to_share(number: Quantity) -> float:
    is_decimal = not number.unit and 0 < number.value < 1
    return round(100 * number.value if is_decimal else number.value, 9)


def _is_beyond(bounded: Quantity, limit: float, other: Quantity, value: float) -> bool:
    """Whether the second number is just beyond the limit that the first gives; of years, anywhere beyond it."""
    if not bounded.bound or other.bound or bounded.is_year != other.is_year or VERSION in (bounded.unit, other.unit):
        return False
    low, high = (limit, value) if bounded.bound == "at least" else (value, limit)
    return low <= high and (bounded.is_year or (low > 0 and high <= _BOUND_REACH * low))


@lru_cache(maxsize=2048)
def extract_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the numbers of a text in order. The latest texts are cached.

    >>> [(found.value, found.unit) for found in extract_quantities("1.2 million people, 30 % of them in CD4, 5 km away")]
    [(1200000.0, ''), (30.0, '%'), (5.0, 'km')]
    """
    found: list[Quantity] = []
    for match in _NUMBER.finditer(text):
        if not match["roman"]:
            found += _parse_special(match) or _parse_number(match, text)
        elif len(match["roman"]) > 1 or _is_after_name(text, match.start()):
            found.append(Quantity(_read_roman(match["roman"]), ORDINAL, *match.span()))
    return tuple(_share_units(text, found))


def align_figures(claim: str, text: str) -> str:
    """Return the claim with its figures as the text writes them: "1,200,000" becomes "1.2 million", "the 1980s" "1987".

    For a model that knows figures by their letters only. Figures that the text does not have stay.

    >>> align_figures("It had 1,200,000 visitors in the 1990s.", "In 1994, 1.2 million people came.")
    'It had 1.2 million visitors in 1994.'
    """
    known, dates = _group_dates(text)
    numbers, claimed_dates = _group_dates(claim)
    written: dict[Offsets, list[Offsets]] = {}
    for span, own in claimed_dates.items():
        same = [other for other in dates if any(one <= parts for one in own for parts in dates[other])]
        if not any(claim[span[0] : span[1]] in text[start:end] for start, end in same):
            written[span] = sorted(same, key=lambda other: min(map(len, dates[other])))
    for number in numbers:
        if not number.is_pronoun:
            same = [(other.start, other.end) for other in known if _is_same_figure(number, other)]
            written[number.start, number.end] = same
    centuries = {(number.start, number.end) for number in numbers if number.unit in (DECADE, CENTURY)}
    for span in sorted(written, reverse=True):
        start, end = span
        found = [text[first:last] for first, last in written[span]]
        if not found or claim[start:end].lower() in map(str.lower, found):
            continue
        if span in centuries:
            end += len(match[0]) if (match := _CENTURY.match(claim, end)) else 0
            start -= 4 * (claim[max(0, start - 4) : start].lower() == "the ")
        claim = claim[:start] + found[0] + claim[end:]
    return claim


def _group_dates(text: str) -> tuple[list[Quantity], dict[Offsets, list[set[tuple[float, str]]]]]:
    """Return the numbers of a text that are no parts of a date, and its dates: offsets → the ways to read each."""
    by_span: dict[Offsets, list[Quantity]] = {}
    for number in extract_quantities(text):
        by_span.setdefault((number.start, number.end), []).append(number)
    dates: dict[Offsets, list[set[tuple[float, str]]]] = {}
    for span, numbers in by_span.items():
        if len(numbers) > 1:
            year, last = (numbers[0].value, numbers[0].unit), numbers[-1]
            one, other = (part.value for part in last.parts) if last.parts else (0.0, 0.0)
            orders = [(one, other), (other, one)] if last.parts else []
            readings = [{year, (day, ""), (month, CALENDAR_MONTH)} for day, month in orders]
            dates[span] = readings or [{(number.value, number.unit) for number in numbers}]
    return [number for numbers in by_span.values() if len(numbers) == 1 for number in numbers], dates


def _is_same_figure(number: Quantity, other: Quantity) -> bool:
    if number.unit in (DECADE, CENTURY) and other.unit != number.unit:
        return other.is_year and number.is_stated_by(other)
    if number.unit == ORDINAL or bool(number.range) != bool(other.range):
        return False
    is_share = "%" in (number.unit, other.unit) and number.value != other.value  # 0.35 and 35 %.
    return (bool(number.unit) == bool(other.unit) or is_share) and number.matches(other)


def _parse_special(match: re.Match[str]) -> list[Quantity]:
    """Return the quantities of a date, a time, a version, a power of ten, a share or a multiple; empty for other numbers."""
    start, end = match.span()
    if match["date"]:
        return list(_parse_date(match))
    if match["slashed"]:
        return _parse_slashed_date(match)
    if match["weekday"]:
        return [Quantity(float(_WEEKDAYS.index(match["weekday"])), WEEKDAY, start, end)]
    if match["noon"]:
        return [Quantity(720.0 * (match["noon"].lower() != "midnight"), CLOCK, start, end)]
    if match["half_day"]:
        hour = int(match["hour"]) % 12 + 12 * (match["half_day"].lower()[0] == "p")
        return [Quantity(60.0 * hour + int(match["minute"] or 0), CLOCK, start, end)]
    if match["hour2"]:
        return [Quantity(60.0 * int(match["hour2"]) + int(match["minute2"] or 0), CLOCK, start, end)]
    if written := match["version"] or match["named_version"]:
        written = written.lower().removeprefix("v")
        return [Quantity(float(written.split(".")[0].split("-")[0]), VERSION, start, end, written=written)]
    if power := match["power"] or match["superscript"]:
        mantissa = float((match["mantissa"] or "1").rstrip(" ×xX*·"))
        return [Quantity(mantissa * 10.0 ** int(power.translate(_SUPERSCRIPTS)), "", start, end)]
    if match["rest"] or match["over"]:
        rest = _PARTS[match["rest"]] if match["rest"] else float(match["over"]) / float(match["under"])
        return [Quantity(float(match["whole"] or 0) + rest, _find_unit(match["unit2"] or "", " "), start, end)]
    if match["scientific"]:
        return [Quantity(float(match["scientific"]), "", start, end)]
    if match["multiple"]:
        word = match["multiple"].lower()
        value = _MULTIPLES.get(word) or _SMALL[word.removesuffix("fold").rstrip("-")]
        return [Quantity(value, "x", start, end, is_spelled_out=True)]
    if match["top"]:
        return _parse_share(match)
    if part := match["part"] or match["half"] or match["glyph"] or match["by"]:
        count = _read_count((match["parts"] or "a").lower())
        return [Quantity(100 * count * _PARTS[part.lower()], "%", start, end, True, True)]
    return []


def _parse_date(match: re.Match[str]) -> Iterator[Quantity]:
    """Yield year, month and day of a date, as far as it has them."""
    for unit, names in (
        ("", ("year", *(f"year{n}" for n in range(2, 6)))),
        (CALENDAR_MONTH, _DATE_MONTHS),
        ("", _DATE_DAYS),
    ):
        if written := next(filter(None, (match[name] for name in names)), None):
            yield Quantity(float(MONTHS.get(written.lower(), 0) or written), unit, *match.span())


def _parse_slashed_date(match: re.Match[str]) -> list[Quantity]:
    """Return the parts of 3/4/2021; which of two small numbers is the month is left open."""
    first, second = float(match["first"]), float(match["second"])
    year = Quantity(float(match["year6"]), "", *match.span())
    if first == second or max(first, second) > 12:
        day, month = (first, second) if first >= second else (second, first)
        return [year, Quantity(month, CALENDAR_MONTH, *match.span()), Quantity(day, "", *match.span())]
    parts = tuple(Quantity(value, DAY_OR_MONTH, *match.span()) for value in (first, second))
    return [year, Quantity(100 * first + second, f"{DAY_OR_MONTH}s", *match.span(), parts=parts)]


def _is_after_name(text: str, position: int) -> bool:
    """Whether the word before is a name: the I of "World War I" is a number, that of "When I" is not."""
    match = _NAME_BEFORE.search(text, max(0, position - _LOOK_BEHIND), position)
    return match is not None and match[1].lower() not in STOP_WORDS


def _read_roman(numeral: str) -> float:
    digits = [_ROMAN_DIGITS[letter] for letter in numeral]
    return float(sum(-one if one < other else one for one, other in zip_longest(digits, digits[1:], fillvalue=0)))


def _parse_share(match: re.Match[str]) -> list[Quantity]:
    """Return "3 in 10" and the like as a share with its parts; as two numbers where it cannot be one."""
    parts = tuple(
        Quantity(
            _read_count(match[name].lower()),
            "",
            *match.span(name),
            is_spelled_out=not match[name].isdigit(),
            written=match[name],
        )
        for name in ("top", "bottom")
    )
    top, bottom = (part.value for part in parts)
    if not 0 < top < bottom or bottom >= 1000:
        return list(parts)
    return [Quantity(100 * top / bottom, "%", *match.span(), is_approximate=True, parts=parts)]


def _parse_number(match: re.Match[str], text: str) -> list[Quantity]:
    digits, spelled, ordinal = match["digits"], match["spelled"], match["spelled_ordinal"]
    end = match.end("digits") if digits else match.end("spelled") if spelled else match.end("spelled_ordinal")
    if digits:
        if match["decade"] is None and match["ordinal"] is None and _is_part_of_name(text, end):
            return []
        value = float(_strip_separators(digits, _COUNTED_NEXT.match(text, match.end("digits")) is not None))
    else:
        value = _read_words(spelled or ordinal or "")
    unit = _find_unit(match["money"] or "", text[match.end("money") :][:1])
    if scale := match["scale"]:
        is_metres_or_tonnes = scale in ("m", "t") and not unit and not _MILLIONS_OF.match(text, match.end("scale"))
        if is_metres_or_tonnes:
            unit, end = scale, match.end("scale")
        elif len(scale) > 1 or unit or match.start("scale") == end or scale in ("m", "M"):  # "300 K" is a temperature.
            value, end = value * _SCALES[scale.lower()], match.end("scale")
    if named := _find_unit(match["unit"] or "", text[match.start("unit") - 1] if match["unit"] else ""):
        unit, end = unit or named, match.end("unit")
    if match["decade"]:
        unit, end = DECADE, match.end("decade")
    if (match["ordinal"] or ordinal) and not unit:
        end = max(end, match.end("ordinal"))
        unit = CENTURY if _CENTURY.match(text, end) else ORDINAL
    if match["sign"]:
        value = -value
    before = text[max(0, match.start() - _LOOK_BEHIND) : match.start()]
    about = _APPROXIMATELY.search(before) is not None
    if not unit and not about and end == match.end() and _is_version(digits or "", before):
        return [Quantity(value, VERSION, match.start(), end, written=digits or "")]
    found = Quantity(value, unit, match.start(), end, about, digits is None, digits or "")
    return [replace(found, bound=_find_bound(before, found))]


def _is_version(digits: str, before: str) -> bool:
    """Whether the number after a name is its version: "Python 3.10" is not "Python 3.1"."""
    return re.fullmatch(r"[1-9]\d?\.\d{1,2}", digits) is not None and _VERSIONED_NAME.search(before) is not None


def _find_bound(before: str, number: Quantity) -> Bound:
    if _AT_LEAST.search(before) or (number.is_year and _AFTER.search(before)):
        return "at least"
    return "at most" if _AT_MOST.search(before) or (number.is_year and _BEFORE.search(before)) else ""


def _find_unit(spelling: str, before: str) -> str:
    """Return the unit of a spelling; empty where it is none. ``before`` is the character before it."""
    spelling = " ".join(spelling.split())
    unit = _UNIT_OF.get(spelling, _UNIT_OF_LOWER.get(spelling.lower(), ""))
    if spelling in _NAME_LETTERS or (unit in _WORD_ONLY_UNITS and spelling != spelling.upper() and len(spelling) <= 3):
        return ""
    return "" if unit in ("W", "V") and len(spelling) == 1 and before.isdigit() else unit


def _read_count(word: str) -> float:
    return float(word) if word.isdigit() else _SMALL.get(word, 1.0)


def _read_words(text: str) -> float:
    """Return the value of a number in words: "one hundred and twenty", "twenty-first", "half a"."""
    if text.lower().startswith("half"):
        return 0.5
    if text.lower().endswith(" and a half"):
        return _read_words(text[: -len(" and a half")]) + 0.5
    total, current = 0.0, 0.0
    for word in re.split(r"[-,\s]+", text.lower()):
        if word in ("a", "an"):
            current += 1
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _SCALES:
            total, current = total + (current or 1) * _SCALES[word], 0.0
        else:
            known = {**_SMALL, **_TENS, **LOW_ORDINALS, **_TEENTH_ORDINALS, **_TENS_ORDINALS}
            current += known.get(word, 0.0)
    return total + current


def _strip_separators(digits: str, is_counted: bool) -> str:
    """Return the digits without what separates thousands, and with a decimal point."""
    plain = re.sub(r"['’\s]", "", digits)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})*,\d{1,2}|\d+,\d{1,2}", plain):
        return plain.replace(".", "").replace(",", ".")
    plain = plain.replace(",", "")
    thousands = r"[1-9]\d{0,2}\.\d{3}" if is_counted else r"\d{1,3}\.000"
    return plain.replace(".", "") if plain.count(".") > 1 or re.fullmatch(thousands, plain) else plain


def _share_units(text: str, numbers: list[Quantity]) -> list[Quantity]:
    """Return the quantities; both numbers of a range have the unit and the scale that is written once.

    The second year of "1914–18" has the century of the first. "1 h 30 min" is one quantity.
    """
    found = numbers[:1]
    for other in numbers[1:]:
        one = found[-1]
        between = text[one.end : other.start]
        if _is_compound(one, other, between):
            factor, small = (_MEASURES[each.unit][1] for each in (one, other))
            value = one.value + other.value * small / factor
            found[-1] = replace(one, value=value, end=other.end, parts=(one, other))
        elif one.is_year and _is_second_year(one, other) and _YEAR_RANGE.fullmatch(between):
            found.append(replace(other, value=other.value + one.value - one.value % 100))
        else:
            found[-1:] = _read_range(text, one, other, between)
    return found


def _is_compound(one: Quantity, other: Quantity, between: str) -> bool:
    if not {one.unit, other.unit} <= _COMPOUND_UNITS or between not in (" ", " and ", ", "):
        return False
    (measured, factor), (measured2, factor2) = _MEASURES[one.unit], _MEASURES[other.unit]
    is_whole = one.value == int(one.value) and not (one.bound or other.bound)
    return is_whole and measured == measured2 and 0 < other.value * factor2 < factor


def _is_second_year(one: Quantity, other: Quantity) -> bool:
    return not other.unit and len(other.written) == 2 and one.value % 100 < other.value < 100


def _read_range(text: str, one: Quantity, other: Quantity, between: str) -> tuple[Quantity, Quantity]:
    """Return two numbers with what they share, if they are the ends of a range."""
    is_and = between.strip().lower() == "and"
    if one.is_year or not (is_and or _RANGE.fullmatch(between)):
        return one, other
    is_opened = _BETWEEN.search(text, max(0, one.start - _LOOK_BEHIND), one.start)
    is_listed = is_and and is_opened is not None
    if is_and and not is_listed:
        return one, other
    is_dash = not between.strip().isalpha() or is_listed
    scale = _SCALE_WORD.search(text, other.start, other.end)
    is_bare = text[one.start : one.end].endswith(one.written or " ")
    factor = _SCALES[scale[1].lower()] if scale and is_bare else 1.0
    factor = factor if one.value * factor < other.value else 1.0
    shares_unit = one.unit != other.unit and other.unit not in _BARE_UNITS
    if shares_unit and one.unit in _CURRENCIES and not other.unit:
        other = replace(other, unit=one.unit)
    shares_unit = shares_unit and (is_dash or factor > 1 or one.value < other.value)
    one = replace(one, value=one.value * factor, unit=other.unit if shares_unit and not one.unit else one.unit)
    if one.unit != other.unit or one.unit in _BARE_UNITS:
        return one, other
    is_change = is_opened is not None and is_opened[0].lower().startswith("from")
    kind: Literal["maybe", "surely"] = "surely" if shares_unit and one.unit and not is_change else "maybe"
    return replace(one, range=kind), replace(other, range=kind)


def _is_part_of_name(text: str, end: int) -> bool:
    """Whether letters follow the digits at once that are no unit and no scale, as in ``3D``."""
    if end >= len(text) or not (text[end].isalpha() or text[end] == "_"):
        return False
    word = re.match(r"[^\W\d]+", text[end:])
    if word is None or word.group() in _NAME_LETTERS | {"W", "V"}:
        return True
    return word.group().lower() not in {**_UNIT_OF_LOWER, **_SCALES} or word.group() == "b"
