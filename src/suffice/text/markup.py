"""Verbatim text inside Markdown and back: what a source says must look the same after rendering."""

import re

# Only what CommonMark would take for markup: brackets would pass for citations or links, stars and back ticks for emphasis
# and code, underscores only where they do not stand inside a word, angle brackets for tags.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|^(?:#{1,6}|[-+]|\d+[.)])(?=\s)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(`+)(.+?)\1(?!`)")

CITATION = re.compile(r"(?<!\\)\[(\d{1,4})\]")


def escape(text: str) -> str:
    r"""The text so that Markdown shows it as it is.

    >>> escape("*maxsize* in lru_cache [1]")
    '\\*maxsize\\* in lru_cache \\[1\\]'
    """
    return _SPECIAL.sub(lambda match: "\\" + match.group(), text)


def code(text: str) -> str:
    """The text as inline code."""
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if text.startswith("`") or text.endswith("`") else f"{ticks}{text}{ticks}"


def plain(markdown: str) -> str:
    """The words of a line of Markdown: no citations, code ticks, emphasis or escapes; white space collapsed.

    >>> plain("The `x_y` is **not** \\\\*kept\\\\* [2].")
    'The x_y is not *kept*.'
    """
    pieces: list[str] = []
    position = 0
    for match in _CODE.finditer(markdown):
        pieces += [_words(markdown[position : match.start()]), match.group(2).strip()]
        position = match.end()
    pieces.append(_words(markdown[position:]))
    return re.sub(r"\s+([.,;:!?])(?=\s|$)", r"\1", " ".join("".join(pieces).split()))


def _words(text: str) -> str:
    text = CITATION.sub("", text)
    text = re.sub(r"(?<!\\)(\*\*|__)(?=\S)(.+?)(?<=\S)(?<!\\)\1", r"\2", text)
    text = re.sub(r"(?<![\\\w*])([*_])(?=\S)(.+?)(?<=\S)(?<!\\)\1(?!\w)", r"\2", text)
    return _ESCAPED.sub(r"\1", text)
