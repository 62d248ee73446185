"""Quote sources in Markdown: prose, lists, tables and code keep their layout, and nothing in them acts as markup of ours."""

import re
from collections.abc import Sequence

from suffice.text.blocks import FENCE, ITEM_MARKER
from suffice.text.markdown import drop_needless_escapes, escape_markdown, find_inline_code, strip_links
from suffice.text.plain import replace_spans
from suffice.text.sentences import Offsets
from suffice.types import ExcerptFormat

# "(a)" or "a)", which Markdown does not know.
_LETTER_MARKER = re.compile(r"((?:(?<!\s)\s++)?)(?=\(?\w{1,4}\)\s)(?!\d+\))")
_ADDRESS = re.compile(r"<(?:https?://[^\s<>`]+|[\w.+-]+@[\w.-]+)>")
BOLD = re.compile(r"\*\*(?=\S)([^*]+?)(?<=\S)\*\*")  # Bold marks our own highlights only.
_PHRASE = re.compile(r"(?<![\w*\\])_(?=[^\W_])([^_*\s\x01]*+\s[^_*\n\x01]*+)(?<=[^\W_])_(?!\w)")
_EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])((?:[^*()\n]|\([^*()\n]*\))+?)(?<=\S)\*(?![\w*])")


def quote_block(text: str, format: ExcerptFormat, highlight: Sequence[Offsets] = ()) -> str:
    """Return a block of a source as Markdown in its own layout.

    ``highlight`` are the offsets of what is set in bold: in prose, and in a list the items that have it.
    """
    if format == "code":
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
        return f"{fence}\n{text}\n{fence}"
    if format == "table" and text.lstrip().startswith("|"):
        cells = (
            [_quote_part(cell) if cell.strip(" :-") else cell for cell in row.split("|")] for row in text.split("\n")
        )
        return "\n".join(map("|".join, cells))  # A footnote mark in a cell cites nothing of ours.
    if format == "table":
        return "\n".join(f"- {drop_needless_escapes(quote_markdown(row))}" for row in text.split("\n") if row.strip())
    if format == "list":
        return _render_list(text, highlight)
    rendered, position = [], 0
    for start, end in highlight:
        if start >= position:
            rendered += [
                quote_markdown(text[position:start], is_start=position == 0),
                f"**{quote_markdown(text[start:end], is_start=False).strip('*')}**",
            ]
            position = end
    rendered.append(quote_markdown(text[position:], is_start=position == 0))
    return drop_needless_escapes("".join(rendered))


def _render_list(text: str, highlight: Sequence[Offsets]) -> str:
    """Return a list with each wrapped item in one line; code between fences stays as it is."""
    lines: list[tuple[str, bool]] = []  # Each with whether it is text, not code.
    bold: set[int] = set()
    fence, position = "", 0
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark or fence:
            lines.append((line, False))
            is_end = mark is not None and fence != "" and mark[1].startswith(fence)
            fence = "" if is_end else fence or (mark[1] if mark else "")
        elif lines and line.strip() and lines[-1][0].strip() and lines[-1][1] and not ITEM_MARKER.match(line):
            lines[-1] = (f"{lines[-1][0].rstrip()} {line.strip()}", True)
        else:
            lines.append((line, True))
        if any(start < position + len(line) and position < end for start, end in highlight):
            bold.add(len(lines) - 1)
        position += len(line) + 1
    if fence:  # The list was cut inside the code.
        lines.append((" " * (len(lines[-1][0]) - len(lines[-1][0].lstrip())) + fence, False))
    return "\n".join(_render_item_line(line, i in bold) if is_text else line for i, (line, is_text) in enumerate(lines))


def _render_item_line(line: str, is_bold: bool) -> str:
    marker = ITEM_MARKER.match(line)
    head = marker[0] if marker else line[: len(line) - len(line.lstrip())]
    words = _quote_part(line[len(head) :])
    return _LETTER_MARKER.sub(r"\1- ", head.replace("•", "-"), count=1) + (f"**{words.strip()}**" if is_bold else words)


def _quote_part(text: str) -> str:
    """Return the text of a cell or an item."""
    return drop_needless_escapes(quote_markdown(text, is_start=False))


def quote_markdown(text: str, *, is_start: bool = True) -> str:
    """Return text of a source as Markdown: inline code stays code, links become their words, the rest is escaped.

    An address in angle brackets becomes code: as a link it would lead away from the sources, and escaped it is hard to
    read. A phrase between underscores stays emphasis.
    """
    kept: list[str] = []

    def keep(words: str) -> str:
        kept.append(words)
        return f"\x01{len(kept) - 1}\x01"

    text = text.replace("\x01", "")
    text = _ADDRESS.sub(r"`\g<0>`", text) if "`" not in text else text
    text = strip_links(replace_spans(text, ((*span, keep(text[slice(*span)])) for span in find_inline_code(text))))
    text = _EMPHASIS.sub(r"\1", BOLD.sub(r"\1", text))
    text = _PHRASE.sub(lambda found: f"{keep('_')}{found[1]}{keep('_')}", text)
    # Not at the start of a line there is no list, heading or quote.
    escaped = escape_markdown(text) if is_start else escape_markdown("\x00" + text).removeprefix("\x00")
    return re.sub("\x01(\\d+)\x01", lambda found: kept[int(found[1])], escaped)
