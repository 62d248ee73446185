"""Prose files (plain text, Markdown, reStructuredText) as chunks titled by the headings above them.

Only headings and fenced blocks are recognised, line by line: ``text.markdown`` is too slow for whole corpora.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath

from suffice.search.files.chunk import (
    ChunkKind,
    DocumentChunk,
    HeadingPath,
    enter_heading,
    format_heading_path,
    get_suffix,
    parse_suffixes,
    to_document_chunk,
)
from suffice.text.chunks import Chunk, chunk_lines, split_lines

MARKDOWN_SUFFIXES = parse_suffixes("md markdown mdx mkd qmd rmd")
_ATX_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_SETEXT_UNDERLINE = re.compile(r"^ {0,3}(=+|-+)\s*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_RST_ADORNMENT = re.compile(r"^([=\-~^\"'`#*+.:_<>])\1{2,}\s*$")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that takes up the lines ``first`` to ``last``."""

    first: int
    last: int
    level: int
    text: str


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of a prose file."""
    lines = split_lines(text)
    suffix = get_suffix(name)
    kind: ChunkKind = "markdown" if suffix in MARKDOWN_SUFFIXES else "text"
    headings: list[Heading] = []
    fenced_lines: set[int] = set()
    if kind == "markdown":
        headings, fenced_lines = find_markdown_headings(lines)
    elif suffix == ".rst":
        headings = find_rst_headings(lines)
    found = chunk_lines(lines, section_starts={heading.first for heading in headings}, no_break_before=fenced_lines)
    titles = _HeadingPaths(headings, lines, PurePath(name).name)
    return [to_document_chunk(chunk, titles.title_for(chunk), kind) for chunk in found]


def find_markdown_headings(lines: Sequence[str]) -> tuple[list[Heading], set[int]]:
    """Return the headings and the lines inside fenced blocks; a block that fits into one chunk is not split."""
    headings: list[Heading] = []
    fenced_lines: set[int] = set()
    fence = ""
    body_start = _count_front_matter_lines(lines)
    for number, line in enumerate(lines[body_start:], start=body_start + 1):
        mark = _FENCE.match(line)
        if fence:
            fenced_lines.add(number)
            if mark and mark.group(1).startswith(fence) and not line.strip(" `~\t"):
                fence = ""
            continue
        if mark:
            fence = mark.group(1)
            continue
        above = lines[number - 2] if number - 2 >= body_start else ""
        if atx := _ATX_HEADING.match(line):
            headings.append(Heading(number, number, len(atx.group(1)), atx.group(2)))
        elif (
            (under := _SETEXT_UNDERLINE.match(line))
            and _is_setext_text(above)
            and not _is_paragraph_continued(lines, number)
        ):
            headings.append(Heading(number - 1, number, 1 if under.group(1)[0] == "=" else 2, above.strip()))
    return headings, fenced_lines


def find_rst_headings(lines: Sequence[str]) -> list[Heading]:
    """Return the adorned titles. As in docutils, the level of a style is the order in which styles first occur."""
    headings: list[Heading] = []
    styles: list[tuple[str, bool]] = []
    for index in range(1, len(lines)):
        under, title = _RST_ADORNMENT.match(lines[index]), lines[index - 1]
        if (
            not under
            or not title.strip()
            or _RST_ADORNMENT.match(title)
            or len(lines[index].rstrip()) < len(title.rstrip())
        ):
            continue
        has_overline = index >= 2 and lines[index - 2].rstrip() == lines[index].rstrip()
        if not has_overline and (title[0].isspace() or (index >= 2 and lines[index - 2].strip())):
            continue
        style = (under.group(1), has_overline)
        if style not in styles:
            styles.append(style)
        headings.append(
            Heading(index - 1 if has_overline else index, index + 1, styles.index(style) + 1, title.strip())
        )
    return headings


def _count_front_matter_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of a leading YAML block; its closing dashes would turn its last key into a heading."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((index + 1 for index, line in enumerate(lines) if index and line.rstrip() in ("---", "...")), 0)


def _is_setext_text(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("    ", "\t")) and line.lstrip()[0] not in "#>|-*+=`"


def _is_paragraph_continued(lines: Sequence[str], number: int) -> bool:
    """Whether the line above the candidate heading belongs to a paragraph.

    A dashed line below a paragraph of several lines is far more often a rule or a table than a heading.
    """
    return number >= 3 and bool(lines[number - 3].strip()) and not _ATX_HEADING.match(lines[number - 3])


class _HeadingPaths:
    """The heading path of every line."""

    def __init__(self, headings: Sequence[Heading], lines: Sequence[str], fallback: str) -> None:
        self.fallback = fallback
        self.paths: list[HeadingPath] = []
        self.is_prose: list[bool] = []
        path: HeadingPath = []
        starts = {heading.first: heading for heading in headings}
        heading_end = 0
        for number, line in enumerate(lines, start=1):
            if heading := starts.get(number):
                path = enter_heading(path, heading.level, heading.text)
                heading_end = heading.last
            self.paths.append(path)
            self.is_prose.append(number > heading_end and bool(line.strip()))

    def title_for(self, chunk: Chunk) -> str:
        """Return the headings that all prose of the chunk shares; of unrelated small sections, those of the first."""
        numbers = range(chunk.first - 1, chunk.last)
        paths = [self.paths[n] for n in numbers if self.is_prose[n] and self.paths[n]] or [self.paths[chunk.last - 1]]
        shared = [headings[0] for headings in takewhile(_have_same_text, zip(*paths, strict=False))]
        return format_heading_path(shared or paths[0], self.fallback)


def _have_same_text(headings: Sequence[tuple[int, str]]) -> bool:
    return len({text for _, text in headings}) == 1
