"""Prose of any format as chunks: light Markdown with one line for each line of the source, titled by headings.

A format's reader turns its markup into light Markdown without moving lines: a line of pure markup becomes empty, a literal
block gets fences, a role becomes its words. So a quote from a chunk still has exact lines, and whoever shows a chunk has one
syntax to parse.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import PurePath

from suffice.search.files.chunk import (
    ChunkKind,
    DocumentChunk,
    HeadingPath,
    enter_heading,
    format_heading_path,
    to_document_chunk,
)
from suffice.text.chunks import Chunk, Structure, chunk_lines


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

    def add_fence(self, opening: int, closing: int | None, last: int) -> None:
        """Record a fenced code block: the lines of its fences, and the last line of its code."""
        self.fenced.update(range(opening + 1, last + 1))
        self.unbroken.update(range(opening + 1, (closing or last) + 1))
        self.block_starts.update((opening, (closing or last) + 1))
        self.kept_with_previous.add(opening)
        if closing is not None:
            self.fence_ends.add(closing)

    def chunk(self) -> list[Chunk]:
        """Cut the document; a chunk that begins inside a code block or a table is still shown as one."""
        ends = [heading.end + 1 for heading in self.headings if heading.end is not None]
        structure = Structure(
            {heading.first for heading in self.headings} | {end + (end in self.fence_ends) for end in ends},
            self.block_starts,
            self.kept_with_previous | {self._skip_blank(heading.last + 1) for heading in self.headings},
            self.unbroken,
        )
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


def _label_rows(chunk: Chunk, table: Table) -> Iterable[str]:
    """Yield the lines of a chunk that has rows of a table without their header."""
    for number, line in enumerate(chunk.text.split("\n"), start=chunk.first):
        yield f"- {format_record(table.header, split_row(line))}" if number <= table.last else line


def split_row(line: str) -> list[str]:
    """Return the cells of a row of a Markdown table."""
    row = line.strip().removeprefix("|").removesuffix("|").replace("\\|", "\0")
    return [cell.strip().replace("\0", "|") for cell in row.split("|")]


def format_row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def format_record(columns: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row as ``name: Bob · age: 5``, without empty cells; a cell without a column stands alone.

    >>> format_record(["name", "age", "city"], ["Bob", "5", ""])
    'name: Bob · age: 5'
    """
    names = [*columns, *[""] * (len(cells) - len(columns))]
    return " · ".join(
        f"{name}: {cell}" if name else cell for name, cell in zip(names, cells, strict=False) if cell.strip()
    )


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
        path: HeadingPath = []
        heading_end = 0
        ends: list[tuple[int, int]] = []
        for number, line in enumerate(prose.lines, start=1):
            while ends and number > ends[-1][0]:
                level = ends.pop()[1]
                path = [(above, text) for above, text in path if above < level]
            if heading := starts.get(number):
                path = enter_heading(path, heading.level, heading.text)
                heading_end = heading.last
                if heading.end is not None:
                    ends.append((heading.end, heading.level))
            self.paths.append(path)
            self.is_text.append(number > heading_end and bool(line.strip()))

    def title_for(self, chunk: Chunk) -> str:
        """Return the headings that all text of the chunk shares; of unrelated small sections, those of the first."""
        numbers = range(chunk.first - 1, chunk.last)
        paths = [self.paths[n] for n in numbers if self.is_text[n] and self.paths[n]] or [self.paths[chunk.last - 1]]
        shared = [headings[0] for headings in takewhile(_have_same_text, zip(*paths, strict=False))]
        return format_heading_path(_drop_repeated(shared or paths[0]), self.fallback)


def _drop_repeated(path: HeadingPath) -> HeadingPath:
    """Return the path without a name that the heading above has already: ``Feature`` > ``gdal.Feature``."""
    texts = [""] + [text for _, text in path]
    return [entry for above, entry in zip(texts, path, strict=False) if entry[1].rpartition(".")[2] != above]


def _have_same_text(headings: Sequence[tuple[int, str]]) -> bool:
    return len({text for _, text in headings}) == 1
