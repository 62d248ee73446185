"""Where the prose of a Markdown text stands: paragraphs, list items, quotations and table rows, as offsets.

Left out: headings, code, comments, front matter, table heads, link definitions, and whole sections that list sources or tell
how a text was made.
"""

import re
from collections.abc import Iterator

from suffice.text.sentences import Offsets

_FENCE = re.compile(r"\s*(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,})\s*$")
_MARKER = re.compile(r"\s*(?:>\s*)*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+•]|\d{1,9}[.)])\s")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_DEFINITION = re.compile(r"\s{0,3}\[\^?[^\]]+\]:\s")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
# Sections that state nothing about the world: lists of sources, and what our own report says of itself.
_ASIDE = frozenset(
    """sources|source list|references|bibliography|works cited|citations|further reading|footnotes|notes|see also|open questions
    |why it stopped|searches that led nowhere|where the sources disagree""".replace("\n    ", "").split("|")
)
SOURCES = frozenset("sources|source list|references|bibliography|works cited|citations|footnotes|notes".split("|"))


def blocks(text: str) -> list[Offsets]:
    """The blocks of prose in reading order, without their list markers."""
    text = _hidden(text)
    found: list[Offsets] = []
    fence, aside, begin, position, in_quote = "", 0, -1, 0, False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate([*lines, "\n"]):
        start, position = position, position + len(line)
        following = lines[number + 1] if number + 1 < len(lines) else ""
        mark = _FENCE.match(line)
        heading = None if fence else _heading(line)
        skipped = bool(fence or mark or heading or aside or not any(map(str.isalnum, line)) or _DEFINITION.match(line))
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif heading and (not aside or heading[0] <= aside):
            aside = heading[0] if heading[1] in _ASIDE else 0
        row, item, quoted = _ROW.match(line), _ITEM.match(line), line.lstrip().startswith(">")
        if begin >= 0 and (skipped or row or item or (quoted and not in_quote)):
            # A single line that is underlined is a heading.
            if not (_UNDERLINE.match(line) and "\n" not in text[begin:start].strip()):
                _close(found, text, begin, start)
            begin = -1
        if row and not skipped and not _RULE.match(following):
            bars = len(line) - len(line.lstrip(" \t|"))
            _close(found, text, start + bars, start + len(line.rstrip(" \t|\n\r")))
        elif begin < 0 and not skipped and not row and (item or not line.startswith(("    ", "\t"))):
            begin, in_quote = start + len(_MARKER.match(line)[0]), quoted  # type: ignore[index]
    return found


def source_lines(text: str) -> Iterator[str]:
    """The lines of sections that list sources, and link definitions anywhere."""
    inside = 0
    for line in _hidden(text).splitlines():
        heading = _heading(line)
        if heading and (not inside or heading[0] <= inside):
            inside = heading[0] if heading[1] in SOURCES else 0
        elif (inside and any(map(str.isalnum, line))) or _DEFINITION.match(line):
            yield line.strip()


def _heading(line: str) -> tuple[int, str] | None:
    """Level and words of a heading; a line that is nothing but bold is one too."""
    if match := _HEADING.match(line):
        return len(match[1]), re.sub(r"[*_:`]", "", match[2]).strip().lower()
    bold = re.fullmatch(r"\s*\*\*([^*\n]{1,80}?):?\*\*:?\s*", line)
    return (6, bold[1].strip().lower()) if bold and not bold[1].rstrip().endswith(".") else None


def _hidden(text: str) -> str:
    """The text with comments and front matter blotted out at the same offsets."""
    for pattern in (_FRONT, _COMMENT):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return text


def _close(found: list[Offsets], text: str, start: int, end: int) -> None:
    if any(map(str.isalnum, text[start:end])):
        found.append((start, start + len(text[start:end].rstrip())))
