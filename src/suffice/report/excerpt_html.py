"""Render excerpts of sources as HTML: code as code, tables as tables, with the deciding words marked.

The text is a source's own, so it is escaped or passes ``MarkdownRenderer``. This module does not know about pages.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import repeat

from suffice.report.answer_html import BEGIN, END, MARKERS, MarkdownRenderer, place_marks
from suffice.text.plain import replace_spans, strip_control_chars
from suffice.types import ClosestPassage, Excerpt

# The readers make Markdown of the office files and books.
MARKDOWN_FILE = re.compile(
    r"\.(?:md|markdown|mdx|mkd|qmd|rmd|docx|docm|dotx|pptx|pptm|ppsx|potx|od[tp]|ot[tp]|rtf|epub)(?:[:#]|$)",
    re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"\n\s*\n")
# A line of prose that goes on in the next one: PDF pages and text files are wrapped at a fixed width.
_WRAPPED = re.compile(rf"(?<=[^\s.:;!?])[ \t]*\n(?=[{BEGIN}{END}]?[^\W\dA-Z_])")
MAX_CHARS = 6000


def render_excerpt_text(excerpt: Excerpt | ClosestPassage, renderer: MarkdownRenderer) -> str:
    """Return the text of an excerpt laid out as in its source."""
    text = _insert_markers(excerpt.text, excerpt.highlight)
    if excerpt.format == "code":
        return f'<pre tabindex="0"><code>{_mark(escape(text.strip(chr(10)), quote=False))}</code></pre>'
    is_markdown = bool(MARKDOWN_FILE.search(excerpt.location))
    if excerpt.format == "table" and (is_markdown or text.lstrip(f"{BEGIN} ").startswith("|")):
        # An excerpt may leave rows out, and a blank line would end the table.
        table = _mark(renderer.render_block(_BLANK_LINES.sub("\n", text), has_citations=False))
        return f'<div class="scroll" role="group" tabindex="0" aria-label="Table">{table}</div>'
    if is_markdown:
        shown = _mark(renderer.render_block(text, has_citations=False))
        return f'<div class="quoted" dir="auto">{shown}</div>'
    lines = _WRAPPED.sub(" ", text.strip()) if excerpt.format in ("prose", "list") else text.strip()
    return f'<div class="quoted plain" dir="auto">{_mark(escape(lines, quote=False))}</div>'


def _insert_markers(text: str, highlight: Iterable[tuple[int, int]]) -> str:
    """Return the cleaned text with a marker at each end of a highlight; overlapping highlights are joined."""
    text = MARKERS.sub(" ", text)
    marked = merge_spans(highlight, min(len(text), MAX_CHARS))
    spans = ((start, end, f"{BEGIN}{text[start:end]}{END}") for start, end in marked)
    return strip_control_chars(replace_spans(text[:MAX_CHARS], spans) + (" …" if len(text) > MAX_CHARS else ""))


def merge_spans(spans: Iterable[tuple[int, int]], length: int) -> Sequence[tuple[int, int]]:
    """Return the spans inside ``0..length`` in order, joined where they overlap or touch."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _mark(html: str) -> str:
    return place_marks(html, repeat(('<mark class="hit">', "")))
