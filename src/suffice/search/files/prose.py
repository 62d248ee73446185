"""Prose of any format as chunks: light Markdown with one line for each line of the source, titled by headings.

A format's reader turns its markup into light Markdown without moving lines: a line of pure markup becomes empty, a literal
block gets fences, a role becomes its words. So a quote from a chunk still has exact lines, and whoever shows a chunk has one
syntax to parse.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile, zip_longest
from math import ceil
from pathlib import PurePath

from suffice.search.files.chunk import ChunkKind, DocumentChunk, HeadingPath, to_document_chunk
from suffice.text.chunks import Chunk, Structure, chunk_lines
from suffice.text.markdown import split_row

_WORDS = re.compile(r"[\w ,.'’()-]*\w\)?")
_NO_LINE_TEXT = re.compile("[\r\n\ud800-\udfff]")
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+\s*$")
CELL_SEPARATOR = " · "
OBJECT_LEVEL = 100  # The level of a described function, class or option; it is below every heading.


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that takes up the lines ``first`` to ``last``; it is in force up to line ``end``, or up to the next one."""

    first: int
    last: int
    level: int
    text: str
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A Markdown table: the cells of its header, and the lines of its rows below the header."""

    header: tuple[str, ...]
    first: int
    last: int


@dataclass(slots=True)
class Prose:
    """A document as light Markdown, and what its reader knows about the lines, by their numbers."""

    lines: list[str]
    headings: list[Heading] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    fenced: set[int] = field(default_factory=set)
    """Lines inside a fenced code block."""
    fence_ends: set[int] = field(default_factory=set)
    block_starts: set[int] = field(default_factory=set)
    kept_with_previous: set[int] = field(default_factory=set)
    unbroken: set[int] = field(default_factory=set)
    sources: list[tuple[int, int]] = field(default_factory=list)
    """The first and last line or paragraph of the file that each appended line comes from; zeros if none."""
    last_kind: str = ""

    def append(self, lines: Sequence[str], kind: str, source: tuple[int, int] = (0, 0)) -> int:
        """Append a block and return the number of its first line.

        A blank line parts it from the one above, but for an ``item`` of a list and its ``continuation``.
        """
        is_inside = {kind, self.last_kind} <= {"item", "continuation"}
        if self.lines and not is_inside:
            self.lines.append("")
            self.sources.append((0, 0))
        number = len(self.lines) + 1
        if (kind == "item" and self.last_kind == "paragraph") or kind in ("continuation", "table"):
            self.kept_with_previous.add(number)
        if kind == "continuation" and is_inside:
            self.unbroken.add(number)
        elif kind == "item":
            self.block_starts.add(number)
        self.lines += lines
        self.sources += [source] * len(lines)
        self.last_kind = kind
        return number

    def append_heading(self, level: int, words: str, source: tuple[int, int] = (0, 0)) -> None:
        number = self.append([f"{'#' * max(1, min(level, 6))} {words}"], "heading", source)
        self.headings.append(Heading(number, number, level, words.replace("`", "")))

    def append_code(
        self, code: Iterable[str], language: str, indent: str = "", source: tuple[int, int] = (0, 0)
    ) -> None:
        lines = [line.rstrip() for line in code]
        fence = "````" if any("```" in line for line in lines) else "```"
        block = [f"{fence}{language}", *lines, fence]
        number = self.append([f"{indent}{line}".rstrip() for line in block], "code", source)
        self.add_fence(number, number + len(lines) + 1, number + len(lines))

    def append_table(self, rows: Sequence[tuple[Sequence[str], tuple[int, int]]]) -> None:
        """Append a table whose first row is its header."""
        width = max(len(cells) for cells, _ in rows)
        lines = [format_row([*cells, *[""] * (width - len(cells))]) for cells, _ in rows]
        sources = [source for _, source in rows]
        number = self.append([lines[0], format_row(["---"] * width), *lines[1:]], "table")
        self.sources[number - 1 :] = [sources[0], *sources]
        self.tables.append(Table(tuple(rows[0][0]), number + 2, len(self.lines)))
        self.unbroken.update((number + 1, number + 2))

    def find_source(self, chunk: Chunk) -> tuple[int, int]:
        """Return the first and the last line or paragraph of the file that a chunk was taken from."""
        spans = [span for span in self.sources[chunk.first - 1 : chunk.last] if span[0]]
        return min(first for first, _ in spans), max(last for _, last in spans)

    def add_fence(self, opening: int, closing: int | None, last: int) -> None:
        """Record a fenced code block: the lines of its fences, and the last line of its code."""
        self.fenced.update(range(opening + 1, last + 1))
        self.unbroken.update(range(opening + 1, (closing or last) + 1))
        self.block_starts.update((opening, (closing or last) + 1))
        self.kept_with_previous.add(opening)
        if closing is not None:
            self.fence_ends.add(closing)

    def write_code(self, source: Sequence[str], first: int, stop: int, language: str = "", prefix: str = "") -> None:
        """Write the lines ``first`` to ``stop`` (indices from 0) of the source as a fenced block.

        The blank lines around it become the fences. Without those it is indented.
        """
        while first < stop and not source[first].strip():
            first += 1
        if first >= stop:
            return
        margin = min(len(line) - len(line.lstrip()) for line in source[first:stop] if line.strip())
        opening = first - 1
        can_fence = opening >= 0 and not self.lines[opening].strip()
        can_fence = can_fence and (stop >= len(source) or not source[stop].strip())
        for line in range(first, stop):
            text = source[line][margin:].rstrip()
            self.lines[line] = (prefix if can_fence else prefix + "    ") + text if text else ""
        if not can_fence:
            self.unbroken.update(range(first + 2, stop + 1))
            return
        self.lines[opening] = f"{prefix}```{language}"
        has_closing = stop < len(source)
        if has_closing:
            self.lines[stop] = f"{prefix}```"
        self.add_fence(opening + 1, stop + 1 if has_closing else None, stop)

    def write_records(
        self, rows: Sequence[tuple[int, int, Sequence[str]]], header: Sequence[str], prefix: str = ""
    ) -> None:
        """Write a table whose rows have several lines as a list of ``column: value``, spread over the lines of each row."""
        for first, stop, texts in rows:
            cells = [format_record(header[i : i + 1], [text]) for i, text in enumerate(texts) if text.strip()]
            share = max(1, ceil(len(cells) / max(1, stop - first)))
            for line, begin in enumerate(range(0, len(cells), share), start=first):
                mark = "- " if line == first else "  "
                self.lines[line] = prefix + mark + CELL_SEPARATOR.join(cells[begin : begin + share])
            self.block_starts.add(first + 1)
            self.unbroken.update(range(first + 2, stop + 1))
        if rows:
            self.kept_with_previous.add(rows[0][0] + 1)

    def chunk(self) -> list[Chunk]:
        """Cut the document; a chunk that begins inside a code block or a table is still shown as one."""
        ends = [heading.end + 1 for heading in self.headings if heading.end is not None]
        structure = Structure(
            {heading.first for heading in self.headings} | {end + (end in self.fence_ends) for end in ends},
            self.block_starts,
            self.kept_with_previous | {self._skip_blank(heading.last + 1) for heading in self.headings},
            self.unbroken,
        )
        # The line ends that an escape stands for would move all later lines; half a surrogate pair cannot be encoded.
        self.lines[:] = [
            _NO_LINE_TEXT.sub(lambda match: " " if match.group() in "\r\n" else "", line) for line in self.lines
        ]
        return [self._repair_start(chunk) for chunk in chunk_lines(self.lines, structure)]

    def _skip_blank(self, number: int) -> int:
        while number <= len(self.lines) and not self.lines[number - 1].strip():
            number += 1
        return number

    def _repair_start(self, chunk: Chunk) -> Chunk:
        if chunk.first in self.fenced:
            return replace(chunk, text="\n".join(self._indent_code(chunk)))
        for table in self.tables:
            if table.first < chunk.first <= table.last:
                return replace(chunk, text="\n".join(_label_rows(chunk, table)))
        return chunk

    def _indent_code(self, chunk: Chunk) -> Iterable[str]:
        inside = True
        for number, line in enumerate(chunk.text.split("\n"), start=chunk.first):
            if inside and number in self.fence_ends:
                line, inside = "", False
            yield f"    {line}" if inside and line and number in self.fenced else line


def to_code(words: str) -> str:
    return f"`` {words} ``" if "`" in words else f"`{words}`"


def format_term(words: str) -> str:
    """Return what a list of definitions explains: as code if it is an option or a form of a command.

    >>> format_term("-d N, --depth=N"), format_term("working tree")
    ('`-d N`, `--depth=N`', 'working tree')
    """
    if "`" in words or (_WORDS.fullmatch(words) is not None and not words.startswith("-")):
        return words
    return ", ".join(map(to_code, words.split(", ")))


def to_lead_in(label: str, rest: str = "") -> str:
    """Return a label with a colon, unless it ends with a mark already, and what follows it.

    >>> to_lead_in("Note", "Mind this.")
    'Note: Mind this.'
    """
    label = label if label.endswith((":", "?", "!", ".")) or not label else f"{label}:"
    return f"{label} {rest}".strip()


def _label_rows(chunk: Chunk, table: Table) -> Iterable[str]:
    """Yield the lines of a chunk that has rows of a table without their header."""
    for number, line in enumerate(chunk.text.split("\n"), start=chunk.first):
        yield f"- {format_record(table.header, split_row(line))}" if number <= table.last else line


def format_row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def format_record(columns: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row as ``name: Bob · age: 5``, without empty cells; a cell without a column stands alone.

    >>> format_record(["name", "age", "city"], ["Bob", "5", ""])
    'name: Bob · age: 5'
    """
    named = zip_longest(columns, cells, fillvalue="")
    return CELL_SEPARATOR.join(f"{name}: {cell}" if name else cell for name, cell in named if cell.strip())


def find_titles(lines: Sequence[str]) -> list[Heading]:
    """Return the adorned titles. As in docutils, the level of a style is the order in which styles first occur."""
    headings: list[Heading] = []
    styles: list[tuple[str, bool]] = []
    index = 0
    while index + 1 < len(lines):
        has_overline = False
        title, under = lines[index], lines[index + 1]
        if is_adornment(title) and index + 2 < len(lines) and lines[index + 2].rstrip() == title.rstrip():
            has_overline, title, under = True, lines[index + 1], lines[index + 2]
        if _is_title(title, under, has_overline) and (index == 0 or has_overline or not lines[index - 1].strip()):
            style = (under[0], has_overline)
            if style not in styles:
                styles.append(style)
            last = index + 2 + has_overline
            headings.append(Heading(index + 1, last, styles.index(style) + 1, title.strip()))
            index = last
        else:
            index += 1
    return headings


def is_adornment(line: str) -> bool:
    """Whether a line is a rule of one repeated mark, as above and below titles."""
    return _ADORNMENT.match(line) is not None


def _is_title(title: str, under: str, has_overline: bool) -> bool:
    if not title.strip() or is_adornment(title) or not is_adornment(under):
        return False
    if "   " in title.strip() or (title[0].isspace() and not has_overline):  # The head of a table, or a quotation.
        return False
    return len(under.rstrip()) >= min(len(title.rstrip()), 4)


def to_document_chunks(prose: Prose, name: str, kind: ChunkKind) -> list[DocumentChunk]:
    """Return the chunks of a document, titled by the headings that all of a chunk's text shares."""
    titles = HeadingPaths(prose, PurePath(name).name)
    return [to_document_chunk(chunk, titles.title_for(chunk), kind) for chunk in prose.chunk()]


class HeadingPaths:
    """The heading path of every line."""

    def __init__(self, prose: Prose, fallback: str) -> None:
        self.fallback = fallback
        self.paths: list[HeadingPath] = []
        self.is_text: list[bool] = []
        starts = {heading.first: heading for heading in prose.headings}
        path = HeadingPath()
        heading_end = 0
        ends: list[tuple[int, int]] = []
        for number, line in enumerate(prose.lines, start=1):
            while ends and number > ends[-1][0]:
                path = path.leave(ends.pop()[1])
            if heading := starts.get(number):
                path = path.enter(heading.level, heading.text)
                heading_end = heading.last
                if heading.end is not None:
                    ends.append((heading.end, heading.level))
            self.paths.append(path)
            self.is_text.append(number > heading_end and bool(line.strip()))

    def title_for(self, chunk: Chunk) -> str:
        """Return the headings that all text of the chunk shares; of unrelated small sections, those of the first."""
        numbers = range(chunk.first - 1, chunk.last)
        paths = [self.paths[n] for n in numbers if self.is_text[n] and self.paths[n]] or [self.paths[chunk.last - 1]]
        together = takewhile(lambda headings: len({text for _, text in headings}) == 1, zip(*paths, strict=False))
        shared = HeadingPath(headings[0] for headings in together)
        return _drop_repeated(shared or paths[0]).format(self.fallback)


def _drop_repeated(path: HeadingPath) -> HeadingPath:
    """Return the path without a name that the heading above has already: ``Feature`` > ``gdal.Feature``."""
    texts = [""] + [text for _, text in path]
    return HeadingPath(entry for above, entry in zip(texts, path, strict=False) if entry[1].rpartition(".")[2] != above)
