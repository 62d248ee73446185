"""Where the prose of a Markdown text stands: paragraphs, list items, quotations and table rows, as offsets.

Left out: headings, code, comments, front matter, table heads, link definitions, and whole sections that list sources or tell
how a text was made. What cites a source is prose, also as a heading; so is a plain sentence that is dressed as code.
"""

import re
from collections.abc import Iterator

from suffice.text.markup import CITATION
from suffice.text.sentences import Offsets

_FENCE_LINE = re.compile(r"\s*(?:>\s*|[-*+•]\s+|\d{1,9}[.)]\s+)*(```+|~~~+)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_SETEXT_UNDERLINE = re.compile(r"\s{0,3}(?:=+|-{2,})\s*$")
_LINE_PREFIX = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+)?(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?")
_LIST_ITEM = re.compile(r"\s*(?:>\s*)*(?:[-*+•]|\d{1,9}[.)])\s")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
_TABLE_DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_LINK_DEFINITION = re.compile(r"\s{0,3}\[\^?[^\]]+\]:\s")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
# Sections that state nothing about the world: lists of sources, and what our own report says of itself.
_NON_CLAIM_HEADINGS = frozenset(
    """sources|source list|references|bibliography|works cited|citations|further reading|open questions
    |why it stopped|searches that led nowhere|where the sources disagree""".replace("\n    ", "").split("|")
)
# Sections that may list sources or state something: only the lines that look like a source are passed over.
_MIXED_HEADINGS = frozenset({"footnotes", "notes", "see also"})
_SOURCE_ENTRY = re.compile(r"\s*(?:[-*+]\s+)?(?:\[\^?[\w-]+\]:?\s|\d{1,4}[.)]\s)|.*\w://")
# Words and commas, a full stop, citations: nobody's program.
_PLAIN_SENTENCE = re.compile(
    r"\s*(?:[-*+•]\s+|\d{1,9}[.)]\s+)?[A-Z][\w'’,%-]*(?:\s+[\w'’,%-]+){3,}(?:[.!?]|\s*\[\d{1,4}\])+\s*$"
)
SOURCE_HEADINGS = frozenset(
    "sources|source list|references|bibliography|works cited|citations|footnotes|notes".split("|")
)


def find_prose_blocks(text: str, skip_asides: bool = True) -> list[Offsets]:
    """The blocks of prose in reading order, without their list markers. ``asides``: there may be sections that state nothing;
    a text that is to have none is taken at its word everywhere."""
    text = _blank_comments(text)
    found: list[Offsets] = []
    fence, aside, mixed, begin, position, in_quote = "", 0, 0, -1, 0, False
    lines = text.splitlines(keepends=True)
    for number, line in enumerate([*lines, "\n"]):
        start, position = position, position + len(line)
        following = lines[number + 1] if number + 1 < len(lines) else ""
        mark = _FENCE_LINE.match(line)
        heading = None if fence else _parse_heading(line)
        plain = _PLAIN_SENTENCE.match(line) is not None
        skipped = bool(
            mark
            or heading
            or (fence and not plain)
            or aside
            or (mixed and _SOURCE_ENTRY.match(line))
            or not any(map(str.isalnum, line))
            or _LINK_DEFINITION.match(line)
        )
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif heading and skip_asides and (not (aside or mixed) or heading[0] <= (aside or mixed)):
            aside = heading[0] if heading[1] in _NON_CLAIM_HEADINGS else 0
            mixed = heading[0] if heading[1] in _MIXED_HEADINGS else 0
        row, item, quoted = _TABLE_ROW.match(line), _LIST_ITEM.match(line), line.lstrip().startswith(">")
        if begin >= 0 and (skipped or row or item or (quoted and not in_quote)):
            # A single line that is underlined is a heading.
            if not (_SETEXT_UNDERLINE.match(line) and "\n" not in text[begin:start].strip()):
                _append_block(found, text, begin, start)
            begin = -1
        if row and not skipped and not _TABLE_DELIMITER.match(following):
            bars = len(line) - len(line.lstrip(" \t|"))
            _append_block(found, text, start + bars, start + len(line.rstrip(" \t|\n\r")))
        elif begin < 0 and not skipped and not row and (item or plain or not line.startswith(("    ", "\t"))):
            begin, in_quote = start + len(_LINE_PREFIX.match(line)[0]), quoted  # type: ignore[index]
    return found


def iter_source_lines(text: str) -> Iterator[str]:
    """The lines of sections that list sources, and link definitions anywhere."""
    inside = 0
    for line in _blank_comments(text).splitlines():
        heading = _parse_heading(line)
        if heading and (not inside or heading[0] <= inside):
            inside = heading[0] if heading[1] in SOURCE_HEADINGS else 0
        elif (inside and any(map(str.isalnum, line))) or _LINK_DEFINITION.match(line):
            yield line.strip()


def _parse_heading(line: str) -> tuple[int, str] | None:
    """Level and words of a heading; a line that is nothing but bold is one too. What cites a source is none."""
    if CITATION.search(line):
        return None
    if match := _HEADING.match(line):
        return len(match[1]), re.sub(r"[*_:`]", "", match[2]).strip().lower()
    bold = re.fullmatch(r"\s*\*\*([^*\n]{1,80}?):?\*\*:?\s*", line)
    return (6, bold[1].strip().lower()) if bold and not bold[1].rstrip().endswith(".") else None


def _blank_comments(text: str) -> str:
    """The text with comments and front matter blotted out at the same offsets."""
    for pattern in (_FRONT_MATTER, _COMMENT):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return text


def _append_block(found: list[Offsets], text: str, start: int, end: int) -> None:
    if any(map(str.isalnum, text[start:end])):
        found.append((start, start + len(text[start:end].rstrip())))
