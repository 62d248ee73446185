"""Text written by strangers as clean plain text, and numbers the way a reader wants them.

It knows nothing of Markdown, HTML or reports: whoever calls it still has to escape for the format at hand.
"""

import math
import re

_SURROGATES = re.compile(r"[\ud800-\udfff]")
# Control characters, and the bidi embeddings, overrides and isolates: one left open reorders whatever follows it on the
# page ("Trojan Source", CVE-2021-42574). Left-to-right and right-to-left marks are harmless and stay.
_CONTROL_CHARS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

UNKNOWN_TEXT = "–"


def replace_surrogates(text: str) -> str:
    """The text without lone surrogates, which no file can hold as UTF-8."""
    return _SURROGATES.sub("\ufffd", text)


def strip_control_chars(text: str) -> str:
    """The text without control and bidi-control characters; its line ends are ``\\n``."""
    return _CONTROL_CHARS.sub("", replace_surrogates(text.replace("\r\n", "\n").replace("\r", "\n")))


def to_one_line(text: str, limit: int | None = None) -> str:
    """Cleaned, white space collapsed, and cut at ``limit`` characters with an ellipsis."""
    line = " ".join(strip_control_chars(text).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def finite_or_none(value: float | None) -> float | None:
    """The value when it is a number one can draw; otherwise unknown."""
    return value if value is not None and math.isfinite(value) else None


def format_number(value: float | None) -> str:
    """A reading for people.

    >>> [number(x) for x in (None, 3.0, 0.304, 0.004, 12400.0, float("nan"))]
    ['–', '3', '0.30', '0.004', '12,400', '–']
    """
    if finite_or_none(value) is None or value is None:
        return UNKNOWN_TEXT
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.2g}"
