"""Prose files (plain text, Markdown, reStructuredText) as pieces titled by the headings above them.

Only headings and fenced blocks are recognised, line by line: ``text.markdown`` is too slow for whole corpora.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath

from suffice.search.files.formats import MARKDOWN, get_suffix
from suffice.search.files.piece import ChunkKind, DocumentChunk, join_headings, to_document_chunk
from suffice.text.chunks import Chunk, chunk_lines, split_lines

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
    lines = split_lines(text)
    suffix = get_suffix(name)
    kind: ChunkKind = "markdown" if suffix in MARKDOWN else "text"
    headings: list[Heading] = []
    glued: set[int] = set()
    if kind == "markdown":
        headings, glued = find_markdown_headings(lines)
    elif suffix == ".rst":
        headings = find_rst_headings(lines)
    found = chunk_lines(lines, section_starts={heading.first for heading in headings}, no_break_before=glued)
    titles = _HeadingPaths(headings, lines, PurePath(name).name)
    return [to_document_chunk(chunk, titles.title_for(chunk), kind) for chunk in found]


def find_markdown_headings(lines: Sequence[str]) -> tuple[list[Heading], set[int]]:
    """The headings, and the lines inside fenced blocks: a fence is not cut while it fits into one chunk."""
    headings: list[Heading] = []
    glued: set[int] = set()
    fence = ""
    body = _count_front_matter_lines(lines)
    for number, line in enumerate(lines[body:], start=body + 1):
        mark = _FENCE.match(line)
        if fence:
            glued.add(number)
            if mark and mark.group(1).startswith(fence) and not line.strip(" `~\t"):
                fence = ""
            continue
        if mark:
            fence = mark.group(1)
            continue
        above = lines[number - 2] if number - 2 >= body else ""
        if atx := _ATX_HEADING.match(line):
            headings.append(Heading(number, number, len(atx.group(1)), atx.group(2)))
        elif (
            (under := _SETEXT_UNDERLINE.match(line))
            and _is_setext_text(above)
            and not _is_paragraph_continued(lines, number)
        ):
            headings.append(Heading(number - 1, number, 1 if under.group(1)[0] == "=" else 2, above.strip()))
    return headings, glued


def find_rst_headings(lines: Sequence[str]) -> list[Heading]:
    """Adorned titles; as in docutils, the level of an adornment is the order in which its style first occurs."""
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
        over = index >= 2 and lines[index - 2].rstrip() == lines[index].rstrip()
        if not over and (title[0].isspace() or (index >= 2 and lines[index - 2].strip())):
            continue
        style = (under.group(1), over)
        if style not in styles:
            styles.append(style)
        headings.append(Heading(index - 1 if over else index, index + 1, styles.index(style) + 1, title.strip()))
    return headings


def _count_front_matter_lines(lines: Sequence[str]) -> int:
    """How many lines a leading YAML block takes; its closing dashes would make a heading of its last key."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((index + 1 for index, line in enumerate(lines) if index and line.rstrip() in ("---", "...")), 0)


def _is_setext_text(line: str) -> bool:
    return bool(line.strip()) and not line.startswith(("    ", "\t")) and line.lstrip()[0] not in "#>|-*+=`"


def _is_paragraph_continued(lines: Sequence[str], number: int) -> bool:
    """A dashed line below a paragraph of several lines is far more often a rule or a table than a heading."""
    return number >= 3 and bool(lines[number - 3].strip()) and not _ATX_HEADING.match(lines[number - 3])


class _HeadingPaths:
    """The heading path above every line."""

    def __init__(self, headings: Sequence[Heading], lines: Sequence[str], fallback: str) -> None:
        self.fallback = fallback
        self.paths: list[list[str]] = []
        self.bodies: list[bool] = []
        path: list[tuple[int, str]] = []
        starts = {heading.first: heading for heading in headings}
        inside = 0
        for number, line in enumerate(lines, start=1):
            if heading := starts.get(number):
                path = [
                    *[(level, text) for level, text in path if level < heading.level],
                    (heading.level, heading.text),
                ]
                inside = heading.last
            self.paths.append([text for _, text in path])
            self.bodies.append(number > inside and bool(line.strip()))

    def title_for(self, chunk: Chunk) -> str:
        """What all of the chunk's prose stands under; a chunk of unrelated small sections goes by the first."""
        numbers = range(chunk.first - 1, chunk.last)
        paths = [self.paths[n] for n in numbers if self.bodies[n] and self.paths[n]] or [self.paths[chunk.last - 1]]
        shared = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))]
        return join_headings(shared or paths[0], self.fallback)
