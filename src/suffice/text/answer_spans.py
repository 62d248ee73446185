"""Find spans of the kind that a question asks for in a sentence: dates, numbers with units, names, versions, defaults.

Everything is done by patterns. A span says only that the sentence holds such a thing, not that it is the answer.
"""

import re
from collections.abc import Sequence

from suffice.text.question import SpanType
from suffice.text.sentences import Offsets

_MONTHS = (
    r"(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|févr(?:ier)?|mar(?:ch|s)?|märz|marzo|apr(?:il)?|avril|abril"
    r"|may|mai|mayo|june?"
    r"|juni|juin|junio|july?|juli|juillet|julio|aug(?:ust)?|août|agosto|sept?(?:ember|embre|iembre)?"
    r"|o[ck]t(?:ober|obre|ubre)?"
    r"|nov(?:ember|embre|iembre)?|de[cz](?:ember|embre)?|déc(?:embre)?|diciembre|enero|febrero)\.?"
)
_YEAR = r"(?<![\d.,-])(?:1\d{3}|20\d{2})(?![\d%]|[.,]\d)"
_DATE = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}(?:st|nd|rd|th|\.|er)?\s+(?:de\s+"
    rf"|of\s+)?{_MONTHS}(?:,?\s+(?:de\s+)?\d{{4}})?\b"
    rf"|\b{_MONTHS}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?\b|\b{_MONTHS},?\s+\d{{4}}\b"
    rf"|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b"
    rf"|{_YEAR}s?|\b\d{{1,2}}(?:st|nd|rd|th) century\b",
    re.IGNORECASE,
)
_YEAR_ONLY = re.compile(_YEAR)
_SPELLED = (
    r"two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|zwei|drei"
    r"|vier|fünf|sechs|sieben"
    r"|acht|neun|zehn|elf|zwölf|deux|trois|quatre|cinq|sept|huit|neuf|dix|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez"
)
_NUMBER = re.compile(
    rf"(?<![\w.])[$€£]?\s?\d[\d,.  ]*\d(?:\s?%|\b)|(?<![\w.])[$€£]?\d(?:\s?%|\b)|\b(?:{_SPELLED})\b(?!-)", re.IGNORECASE
)
_UNIT = re.compile(
    r"\s?(?:%|°\s?[CF]|(?:hundred|thousand|million|billion|Millionen|Milliarden|millions?|millones)\b\s?)?"
    r"\s?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|bytes?|[KMGT]i?B|kB|ms|s|h|km|m|cm|mm|miles?"
    r"|feet|ft|kg|g|tons?|metres?"
    r"|meters?|percent|euros?|dollars?|people|inhabitants|Sekunden?|Minuten?|Stunden?|Tagen?|Wochen?|Monaten?"
    r"|Jahren?|Euro|Prozent|Meter"
    r"|Einwohner|secondes?|jours?|heures?|semaines?|mois|ans|segundos?|minutos?|horas?|días?|semanas?|meses|años)\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\bv?\d+(?:\.\d+){1,3}(?:(?:a|b|rc|post|dev)\d+)?\b|(?<=version )\d+\b", re.IGNORECASE)
_NAME = re.compile(
    r"[A-ZÀ-ÖØ-Þ][\w'’.-]*\w(?:\s+(?:(?:of|the|de|la|du|von|van|der|den|al|bin|di"
    r"|da)\s+){0,2}[A-ZÀ-ÖØ-Þ][\w'’-]*\w|\s+[A-Z]\.|\s+[A-Z](?=\s+[A-Z]\w))*"
)
_NAMES_JOINT = re.compile(r",?\s+(?:and|und|et|y|&)\s+")
_LITERAL = (
    r"`[^`\n]+`|\"[^\"\n]{1,60}\"|'[^'\n]{1,60}'|(?<![\w.])-?\d+(?:[.,]\d+)*\w*"
    r"|\b(?:None|True|False|null|true|false|nil)\b"
)
_DEFAULTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bdefaults?\b(?:\s+[\w`.-]+){{0,6}}?\s+(?:is|are|to|of|was|being)\s+(?P<value>{_LITERAL})",
        rf"\bdefault(?:s|ing)?(?: value)?\s*[:=]\s*(?P<value>{_LITERAL}|[\w./-]+)",
        rf"(?P<value>{_LITERAL})[^.;\n]{{0,25}}\b(?:by\s+default|as\s+(?:the\s+)?default|\(default\))",
        rf"\bby\s+default\b[^;]{{0,60}}?\b(?:is|are|to|at|of|on|after|uses?|port|with)\s+(?P<value>{_LITERAL})",
        rf"\b(?:Standardwert|standardmäßig|Voreinstellung|par défaut|por defecto"
        rf"|valor predeterminado)\b[^;\n]{{0,40}}?(?P<value>{_LITERAL})",
        rf"(?P<value>{_LITERAL})[^.;\n]{{0,25}}\b(?:par défaut|por defecto|voreingestellt)\b",
    )
)
_TRIVIAL_VALUES = frozenset("the a an this that to is it of in on for not no be set used value".split())
_DENIAL = re.compile(r"\bnot\b|n['’]t\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"I['’]\w+")
_SENTENCE_OPENERS = frozenset(
    """the a an it he she they this that these in on at as and but for after before during when while its his her by since
    from with""".split()
)


def find_spans(text: str, kind: SpanType) -> list[Offsets]:
    """Return the offsets of all spans of a type in a text, in reading order."""
    if kind == "date":
        return [match.span() for match in _DATE.finditer(text)]
    if kind == "year":
        return [match.span() for match in _YEAR_ONLY.finditer(text)]
    if kind == "number":
        return [_with_unit(text, match) for match in _NUMBER.finditer(text)]
    if kind == "version":
        return [match.span() for match in _VERSION.finditer(text)]
    if kind == "name":
        return [span for match in _NAME.finditer(text) if (span := _trim_name(text, match)) is not None]
    if kind == "value":
        return _find_values(text)
    return []


def join_names(text: str, span: Offsets, names: Sequence[Offsets]) -> Offsets:
    """Return the span of a name with those that stand beside it: "Ann Lee and Bo Hall", "Ann Lee, Bo Hall and Cy Dee".

    >>> text = "In 1994, Ann Lee and Bo Hall wrote it"
    >>> text[slice(*join_names(text, (21, 28), find_spans(text, "name")))]
    'Ann Lee and Bo Hall'
    """
    start, end = span
    for following in names:
        if following[0] > end and _NAMES_JOINT.fullmatch(text, end, following[0]):
            end = following[1]
    is_joined = end > span[1]
    for before in reversed(names):
        gap = text[before[1] : start] if before[1] < start else ""
        if _NAMES_JOINT.fullmatch(gap) or (is_joined and gap.strip() == ","):
            start, is_joined = before[0], True
    return start, end


def _with_unit(text: str, match: re.Match[str]) -> Offsets:
    start, end = match.span()
    while end > start and text[end - 1] in " ,. ":
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    unit = _UNIT.match(text, end)
    return start, unit.end() if unit else end


def _trim_name(text: str, match: re.Match[str]) -> Offsets | None:
    """Return the offsets of a name without an article or pronoun that is capitalised only because it begins a sentence."""
    start, end = match.span()
    first = text[start:end].split()[0]
    if first.lower() in _SENTENCE_OPENERS:
        start += len(first)
        while start < end and text[start].isspace():
            start += 1
    if _FIRST_PERSON.fullmatch(text, start, end):
        return None
    if text[max(start, end - 2) : end] in ("'s", "’s"):
        end -= 2
    return (start, end) if end - start > 1 and text[start].isupper() else None


def _find_values(text: str) -> list[Offsets]:
    found: list[Offsets] = []
    for pattern in _DEFAULTS:
        for match in pattern.finditer(text):
            is_denied = _DENIAL.search(text, match.start(), match.start("value"))
            if not is_denied and match["value"].strip("`'\"").lower() not in _TRIVIAL_VALUES:
                start, end = match.span("value")
                unit = _UNIT.match(text, end) if text[start].isdigit() else None
                found.append((start, unit.end() if unit else end))
    return found
