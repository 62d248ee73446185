"""Verbatim text inside Markdown and back: what a source says must look the same after rendering."""

import re

# Only what CommonMark would take for markup: brackets would pass for citations or links, stars and back ticks for emphasis
# and code, underscores only where they do not stand inside a word, angle brackets for tags.
_SPECIAL = re.compile(
    r"[\\`*\[\]]|<(?=[A-Za-z/!?])|~(?=~)|(?<=~)~|^>|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)"
    r"|^(?:#{1,6}|[-+])(?=\s|$)|^(?:-{2,}|=+)$"
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# An escaped character is passed over, so that an escaped tick opens no code.
_CODE = re.compile(r"\\[!-/:-@\[-`{-~]|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)")

CITATION = re.compile(r"(?<!\\)\[(\d{1,4})\]")
# What a writer may cite: a handle, or the anchor of a typed source (FRED:UNRATE:2024-05). A thesis label names no source.
_CITATION_KEY = r"(?:\d{1,4}|(?!THESIS:)[A-Z][A-Z0-9]{1,11}:[\w.^=-]{1,40}:[\w.-]{1,40})"
CITATION_OR_ANCHOR = re.compile(rf"(?<!\\)\[{_CITATION_KEY}\]")
MULTI_CITATION = re.compile(rf"(?<!\\)\[{_CITATION_KEY}(?:\s*[,;]\s*{_CITATION_KEY})+\]")


def escape_markdown(text: str) -> str:
    r"""The text so that Markdown shows it as it is.

    >>> escape("*maxsize* in lru_cache [1]")
    '\\*maxsize\\* in lru_cache \\[1\\]'
    """
    return _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(lambda match: "\\" + match.group(), text))


def to_inline_code(text: str) -> str:
    """The text as inline code."""
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if text.startswith("`") or text.endswith("`") else f"{ticks}{text}{ticks}"


def strip_markdown(markdown: str) -> str:
    """The words of a line of Markdown: no citations, code ticks, emphasis or escapes; white space collapsed.

    >>> plain("The `x_y` is **not** \\\\*kept\\\\* [2].")
    'The x_y is not *kept*.'
    """
    pieces: list[str] = []
    position = 0
    for match in _CODE.finditer(markdown):
        if match["ticks"] is None:
            continue
        pieces += [_strip_inline_markup(markdown[position : match.start()]), match["code"].strip()]
        position = match.end()
    pieces.append(_strip_inline_markup(markdown[position:]))
    return " ".join("".join(pieces).split())


def mask_inline_code(line: str) -> str:
    """The line with its inline code blotted out, at the same offsets: a full stop in code ends no sentence."""
    return _CODE.sub(lambda match: match.group() if match["ticks"] is None else "x" * len(match.group()), line)


def _strip_inline_markup(text: str) -> str:
    text = re.sub(rf"\s*{CITATION.pattern}", "", text)
    text = re.sub(r"(?<!\\)(\*\*|__)(?=\S)(.+?)(?<=\S)(?<!\\)\1", r"\2", text)
    text = re.sub(r"(?<![\\\w*])([*_])(?=\S)(.+?)(?<=\S)(?<!\\)\1(?!\w)", r"\2", text)
    return _ESCAPED.sub(r"\1", text)
