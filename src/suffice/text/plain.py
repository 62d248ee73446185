"""Clean untrusted text for display, and format numbers for readers.

The caller still has to escape the text for its format, such as Markdown or HTML.
"""

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from suffice.errors import InputError

_SURROGATES = re.compile(r"[\ud800-\udfff]")
# Control characters, and the bidi embeddings, overrides and isolates: one that is left open reorders everything after it
# ("Trojan Source", CVE-2021-42574). Left-to-right and right-to-left marks are harmless and stay.
_CONTROL_CHARS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

UNKNOWN_TEXT = "–"


def read_text(path: Path) -> str:
    """Return the text of a file; raise ``InputError`` if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from error


def replace_surrogates(text: str) -> str:
    """Return the text without lone surrogates, which UTF-8 cannot encode."""
    return _SURROGATES.sub("\ufffd", text)


def strip_control_chars(text: str) -> str:
    """Return the text without control and bidi-control characters; its line ends are ``\\n``."""
    return _CONTROL_CHARS.sub("", replace_surrogates(text.replace("\r\n", "\n").replace("\r", "\n")))


def to_one_line(text: str, limit: int | None = None) -> str:
    """Return the cleaned text in one line with single spaces, cut at ``limit`` characters with an ellipsis."""
    line = " ".join(strip_control_chars(text).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def replace_spans(
    text: str, spans: Iterable[tuple[int, int, str]], convert: Callable[[str], str] = lambda part: part
) -> str:
    """Return the text with each span (start, end, replacement), in order; what stands between them is converted.

    >>> replace_spans("It is [1].", [(6, 9, "old")], str.upper)
    'IT IS old.'
    """
    pieces, position = [], 0
    for start, end, replacement in spans:
        pieces += [convert(text[position:start]), replacement]
        position = end
    return "".join([*pieces, convert(text[position:])])


def fold_spaces(characters: Iterable[tuple[int, str]]) -> tuple[str, list[int]]:
    """Return characters as a text with single spaces and none around it, and the offset that came with each of them."""
    kept: list[tuple[int, str]] = []
    for place, character in characters:
        shown = " " if character.isspace() else character
        if shown != " " or (kept and kept[-1][1] != " "):
            kept.append((place, shown))
    if kept and kept[-1][1] == " ":
        kept.pop()
    return "".join(shown for _, shown in kept), [place for place, _ in kept]


def finite_or_none(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def format_number(value: float | None) -> str:
    """Return a number for readers; a dash for an unknown one.

    >>> [format_number(x) for x in (None, 3.0, 0.304, 0.004, 12400.0, float("nan"))]
    ['–', '3', '0.30', '0.004', '12,400', '–']
    """
    if finite_or_none(value) is None or value is None:
        return UNKNOWN_TEXT
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.2g}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "query", "queries"), count(1200, "round")
    ('1 query', '1,200 rounds')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
