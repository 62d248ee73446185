"""The headings of a Markdown text and the sections below them, as offsets. A heading inside a code block is none."""

import re
from dataclasses import dataclass, replace

from suffice.text.markup import strip_markdown

_ATX_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")


@dataclass(frozen=True, slots=True)
class Section:
    """``text[start:end]`` begins with the heading's line; its words begin at ``body``."""

    title: str
    level: int
    start: int
    body_start: int
    end: int


def find_headings(markdown: str) -> list[Section]:
    """Every heading, each with the text up to the next one of any level."""
    found: list[tuple[str, int, int, int]] = []
    fence, position = "", 0
    for line in markdown.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        fence = _update_fence(bare, fence)
        heading = None if fence else _ATX_HEADING.match(bare)
        if heading is not None:
            found.append((strip_markdown(heading[2] or ""), len(heading[1]), position, position + len(line)))
        position += len(line)
    starts = [start for _, _, start, _ in found]
    return [Section(*heading, end) for heading, end in zip(found, [*starts, len(markdown)][1:], strict=True)]


def find_sections(markdown: str, level: int) -> list[Section]:
    """The headings of one level, each with everything up to the next heading of that level or above."""
    every = [heading for heading in find_headings(markdown) if heading.level <= level]
    ends = [*(heading.start for heading in every), len(markdown)][1:]
    return [replace(heading, end=end) for heading, end in zip(every, ends, strict=True) if heading.level == level]


def find_open_fence(markdown: str) -> str:
    """The marks of a code block that is never closed; empty when all are."""
    fence = ""
    for line in markdown.splitlines():
        fence = _update_fence(line, fence)
    return fence


def _update_fence(line: str, fence: str) -> str:
    """The open fence after a line, given the one before it."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    marks, rest = found[1], found[2].strip()
    if not fence:
        return "" if marks[0] == "`" and "`" in rest else marks
    return "" if marks[0] == fence[0] and len(marks) >= len(fence) and not rest else fence
