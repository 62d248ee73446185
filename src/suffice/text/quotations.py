"""Lay out a quotation as in its source: prose in one line, lists, tables and code dedented, with the deciding words marked."""

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from suffice.answers import Offsets, Quotation
from suffice.text.blocks import split_blocks
from suffice.text.markdown import escape_line, split_row
from suffice.text.plain import fold_spaces, to_one_line
from suffice.text.quoting import BOLD, quote_block, quote_markdown
from suffice.types import ROW_KINDS, Excerpt, ExcerptFormat, Passage

_MAX_TITLE_CHARS = 100


class _Piece(NamedTuple):
    """A stretch of a quotation as it is laid out; ``joint`` is the white space before it. A heading is highlighted whole."""

    joint: str
    text: str
    format: ExcerptFormat
    highlight: tuple[Offsets, ...]
    is_heading: bool


def build_excerpt(quotation: Quotation, source: str) -> Excerpt:
    """Return a quotation as the report shows it."""
    text, highlight, headings = "", list[Offsets](), list[Offsets]()
    for piece in _lay_out(quotation):
        text += piece.joint
        marks = headings if piece.is_heading else highlight
        marks += [(len(text) + start, len(text) + end) for start, end in piece.highlight]
        text += piece.text
    title = quotation.title or quotation.passage.title
    return Excerpt(text, quotation.format, tuple(highlight), source, quotation.location, title, tuple(headings))


def render_quotation(quotation: Quotation, citation: str) -> str:
    """Return a quotation as Markdown: its heading path and location, then its text, which ends with its citation."""
    title = escape_line(to_one_line(quotation.title or quotation.passage.title, _MAX_TITLE_CHARS))
    location = to_one_line(quotation.location)
    place = f"`{location}`" if location and "`" not in location else ""
    heading = " · ".join(part for part in (title, place) if part)
    heading = f"### {heading}" if quotation.is_section else f"**{heading}**"
    pieces = list(_lay_out(quotation))
    body = "".join(f"{piece.joint}{quote_block(piece.text, piece.format, piece.highlight)}" for piece in pieces)
    cited = f"{body} {citation}" if pieces[-1].format == "prose" else f"{body}\n\n{citation}"
    quoted = "\n".join(f"> {line}".rstrip() for line in cited.split("\n"))
    return f"{heading}\n\n{quoted}" if title or place else quoted


def render_in_line(quotation: Quotation) -> str:
    """Return a short quotation as one line of Markdown, its title and lead first; a record as its table's name and cells."""
    title = f"**{escape_line(to_one_line(quotation.title, _MAX_TITLE_CHARS))}:** " if quotation.title else ""
    if quotation.format != "table":
        *leads, last = (piece.text for piece in _lay_out(quotation))
        return title + quote_markdown(to_one_line(": ".join([*(lead.rstrip(":") for lead in leads), last])))
    cells, file = read_cells(quotation), re.split(r", sheet | > ", quotation.passage.title)[0]
    text = "; ".join(f"{name}: {value}" if name else value for name, value in cells.items())
    return title + quote_markdown(to_one_line(text if title else f"{name_file(file)}: {text}"))


def name_file(name: str) -> str:
    words = " ".join(re.sub(r"\.\w{2,5}$|_|(?<!\d)-|-(?!\d)", " ", name).split())
    return words[:1].upper() + words[1:]


def read_cells(quotation: Quotation) -> dict[str, str]:
    """Return the cells of a record by the names of their columns: of a table's row below its head, or as readers write them."""
    *head, row = (quotation.passage.text[start:end].split("\n")[0] for start, end in quotation.spans)
    if row.startswith("|"):
        return dict(zip(split_row(head[0]), split_row(row), strict=False)) if head else {"": "; ".join(split_row(row))}
    cells: dict[str, str] = {}
    for line in re.split(r"\n| · ", quotation.text):
        name, colon, value = line.partition(": ")
        name = " ".join(name.replace("_", " ").split()) if colon else ""
        cells[name] = value if colon else line
    return cells


def _lay_out(quotation: Quotation) -> Iterator[_Piece]:
    """Yield the blocks that the quotation's stretches cover."""
    passage = quotation.passage
    blocks = split_blocks(passage.text, passage.kind)
    before: tuple[int, int] | None = None
    for start, end in quotation.spans:
        inside = [
            (max(start, block.start), min(end, block.end), block.format, (block.start, block.end), block.is_heading)
            for block in blocks
            if block.start < end and start < block.end
        ] or [(start, end, quotation.format, (start, end), False)]
        for first, last, format, block_span, is_heading in inside:
            is_same = before == block_span
            joint = "" if before is None else "\n" if format == "table" and is_same else " … " if is_same else "\n\n"
            text, offsets = _arrange(passage, first, last, format)
            marks = tuple(
                (offsets[begin], offsets[stop - 1] + 1)
                for begin, stop in quotation.marked
                if begin in offsets and stop - 1 in offsets
            )
            yield _Piece(joint, text, format, ((0, len(text)),) if is_heading and text else marks, is_heading)
            before = block_span


def _arrange(passage: Passage, start: int, end: int, format: ExcerptFormat) -> tuple[str, dict[int, int]]:
    """Return a stretch of text and where each of its characters went: prose in one line, other blocks dedented."""
    text = passage.text
    if format == "prose":  # Without the marks of bold words: bold marks our own highlights only.
        edges = [edge for found in BOLD.finditer(text, start, end) for edge in (found.start(), found.end() - 2)]
        marks = {*edges, *(edge + 1 for edge in edges)}
        joint = " · " if passage.kind in ROW_KINDS else " "  # Each cell of a record has its line.
        shown = (
            (place, joint if text[place] == "\n" else text[place]) for place in range(start, end) if place not in marks
        )
        joined, places = fold_spaces((place, character) for place, characters in shown for character in characters)
        return joined, {place: number for number, place in enumerate(places)}
    line_start = text.rfind("\n", 0, start) + 1
    begin = line_start if not text[line_start:start].strip() else start
    raw = text[begin:end].split("\n")
    laid = textwrap.dedent(text[begin:end]).split("\n")
    offsets: dict[int, int] = {}
    position, target = begin, 0
    for raw_line, line in zip(raw, laid, strict=True):
        cut = len(raw_line) - len(line)
        offsets.update((position + cut + column, target + column) for column in range(len(line)))
        position, target = position + len(raw_line) + 1, target + len(line) + 1
    return "\n".join(laid), offsets
