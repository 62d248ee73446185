"""Text written by strangers as clean plain text, and numbers the way a reader wants them.

It knows nothing of Markdown, HTML or reports: whoever calls it still has to escape for the format at hand.
"""

import math
import re

_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Control characters, and the bidi embeddings, overrides and isolates: one left open reorders whatever follows it on the
# page ("Trojan Source", CVE-2021-42574). Left-to-right and right-to-left marks are harmless and stay.
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

UNKNOWN = "–"


def encodable(text: str) -> str:
    """The text without lone surrogates, which no file can hold as UTF-8."""
    return _SURROGATE.sub("\ufffd", text)


def clean(text: str) -> str:
    """The text without control and bidi-control characters; its line ends are ``\\n``."""
    return _UNSEEN.sub("", encodable(text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str, limit: int | None = None) -> str:
    """Cleaned, white space collapsed, and cut at ``limit`` characters with an ellipsis."""
    line = " ".join(clean(text).split())
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def known(value: float | None) -> float | None:
    """The value when it is a number one can draw; otherwise unknown."""
    return value if value is not None and math.isfinite(value) else None


def number(value: float | None) -> str:
    """A reading for people.

    >>> [number(x) for x in (None, 3.0, 0.304, 0.004, 12400.0, float("nan"))]
    ['–', '3', '0.30', '0.004', '12,400', '–']
    """
    if known(value) is None or value is None:
        return UNKNOWN
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.2g}"
