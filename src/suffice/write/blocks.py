"""Where the prose of a Markdown text stands: paragraphs, list items, quotations and table rows, as offsets.

Left out: headings, code, comments, front matter, table heads, link definitions, and whole sections that list sources or tell
how a text was made. What cites a source is prose, also as a heading; so is a plain sentence that is dressed as code.
"""

import re
from collections.abc import Iterator

from suffice.text.markup import CITATION
from suffice.text.sentences import Offsets

_FENCE = re.compile(r"\s*(?:>\s*|[-*+•]\s+|\d{1,9}[.)]\s+)*(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,})\s*$")
_MARKER = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+)?(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?")
_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+•]|\d{1,9}[.)])\s")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_DEFINITION = re.compile(r"\s{0,3}\[\^?[^\]]+\]:\s")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
# Sections that state nothing about the world: lists of sources, and what our own report says of itself.
_ASIDE = frozenset(
    """sources|source list|references|bibliography|works cited|citations|further reading|open questions
    |why it stopped|searches that led nowhere|where the sources disagree""".replace("\n    ", "").split("|")
)
# Sections that may list sources or state something: only the lines that look like a source are passed over.
_MIXED = frozenset({"footnotes", "notes", "see also"})
_ENTRY = re.compile(r"\s*(?:[-*+]\s+)?(?:\[\^?[\w-]+\]:?\s|\d{1,4}[.)]\s)|.*\w://")
# Words and commas, a full stop, citations: nobody's program.
_SENTENCE = re.compile(
    r"\s*(?:[-*+•]\s+|\d{1,9}[.)]\s+)?[A-Z][\w'’,%-]*(?:\s+[\w'’,%-]+){3,}(?:[.!?]|\s*\[\d{1,4}\])+\s*$"
)
SOURCES = frozenset("sources|source list|references|bibliography|works cited|citations|footnotes|notes".split("|"))


def blocks(text: str, asides: bool = True) -> list[Offsets]:
    """The blocks of prose in reading order, without their list markers. ``asides``: there may be sections that state nothing;
    a text that is to have none is taken at its word everywhere."""
    text = _hidden(text)
    found: list[Offsets] = []
    fence, aside, mixed, begin, position, in_quote = "", 0, 0, -1, 0, False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate([*lines, "\n"]):
        start, position = position, position + len(line)
        following = lines[number + 1] if number + 1 < len(lines) else ""
        mark = _FENCE.match(line)
        heading = None if fence else _heading(line)
        plain = _SENTENCE.match(line) is not None
        skipped = bool(
            mark
            or heading
            or (fence and not plain)
            or aside
            or (mixed and _ENTRY.match(line))
            or not any(map(str.isalnum, line))
            or _DEFINITION.match(line)
        )
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif heading and asides and (not (aside or mixed) or heading[0] <= (aside or mixed)):
            aside = heading[0] if heading[1] in _ASIDE else 0
            mixed = heading[0] if heading[1] in _MIXED else 0
        row, item, quoted = _ROW.match(line), _ITEM.match(line), line.lstrip().startswith(">")
        if begin >= 0 and (skipped or row or item or (quoted and not in_quote)):
            # A single line that is underlined is a heading.
            if not (_UNDERLINE.match(line) and "\n" not in text[begin:start].strip()):
                _close(found, text, begin, start)
            begin = -1
        if row and not skipped and not _RULE.match(following):
            bars = len(line) - len(line.lstrip(" \t|"))
            _close(found, text, start + bars, start + len(line.rstrip(" \t|\n\r")))
        elif begin < 0 and not skipped and not row and (item or plain or not line.startswith(("    ", "\t"))):
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
    """Level and words of a heading; a line that is nothing but bold is one too. What cites a source is none."""
    if CITATION.search(line):
        return None
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
