"""Verbatim text inside Markdown and back: what a source says must look the same after rendering."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from suffice.text.sentences import Offsets

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Only what CommonMark would take for markup: brackets would pass for citations or links, stars and back ticks for emphasis
# and code, underscores only where they do not stand inside a word, angle brackets for tags.
_SPECIAL = re.compile(
    r"[\\`*\[\]]|<(?=[A-Za-z/!?])|~(?=~)|(?<=~)~|^>|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)"
    r"|^(?:#{1,6}|[-+])(?=\s|$)|^(?:-{2,}|=+)$"
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# An escaped character is passed over, so that an escaped tick opens no code.
_CODE = re.compile(r"\\[!-/:-@\[-`{-~]|(?P<ticks>`+)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)")

CITATION = re.compile(r"(?<!\\)\[(\d{1,4})\]")
# What a writer may cite: a handle, or the anchor of a typed source (FRED:UNRATE:2024-05). A thesis label names no source.
_CITATION_KEY = r"(?:\d{1,4}|(?!THESIS:)[A-Z][A-Z0-9]{1,11}:[\w.^=-]{1,40}:[\w.-]{1,40})"
CITATION_OR_ANCHOR = re.compile(rf"(?<!\\)\[{_CITATION_KEY}\]")
MULTI_CITATION = re.compile(rf"(?<!\\)\[{_CITATION_KEY}(?:\s*[,;]\s*{_CITATION_KEY})+\]")


def escape_markdown(text: str) -> str:
    r"""The text so that Markdown shows it as it is.

    >>> escape("*maxsize* in lru_cache [1]")
    '\\*maxsize\\* in lru_cache \\[1\\]'
    """
    return _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(lambda match: "\\" + match.group(), text))


def to_inline_code(text: str) -> str:
    """The text as inline code."""
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if text.startswith("`") or text.endswith("`") else f"{ticks}{text}{ticks}"


def strip_markdown(markdown: str) -> str:
    """The words of a line of Markdown: no citations, code ticks, emphasis or escapes; white space collapsed.

    >>> plain("The `x_y` is **not** \\\\*kept\\\\* [2].")
    'The x_y is not *kept*.'
    """
    pieces: list[str] = []
    position = 0
    for match in _CODE.finditer(markdown):
        if match["ticks"] is None:
            continue
        pieces += [_strip_inline_markup(markdown[position : match.start()]), match["code"].strip()]
        position = match.end()
    pieces.append(_strip_inline_markup(markdown[position:]))
    return " ".join("".join(pieces).split())


def mask_inline_code(line: str) -> str:
    """The line with its inline code blotted out, at the same offsets: a full stop in code ends no sentence."""
    return _CODE.sub(lambda match: match.group() if match["ticks"] is None else "x" * len(match.group()), line)


def _strip_inline_markup(text: str) -> str:
    text = re.sub(rf"\s*{CITATION.pattern}", "", text)
    text = re.sub(r"(?<!\\)(\*\*|__)(?=\S)(.+?)(?<=\S)(?<!\\)\1", r"\2", text)
    text = re.sub(r"(?<![\\\w*])([*_])(?=\S)(.+?)(?<=\S)(?<!\\)\1(?!\w)", r"\2", text)
    return _ESCAPED.sub(r"\1", text)


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


_MAY_CONTAIN_LINK = re.compile(r"\]\s*[(:\[]|://|www\.|<[A-Za-z/!?]|mailto:", re.IGNORECASE)
_CODE_SPAN_OR_FENCE = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(?<!\\)(`+)(?!`).+?(?<!`)\2(?!`))", re.DOTALL)
_LINK_TEXT = r"((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)"
_IMAGE = re.compile(rf"!\[{_LINK_TEXT}\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(rf"(?<!\\)\[{_LINK_TEXT}\]\(\s*<?([^)\s>]*)>?[^)]*\)")
_DEFINITION_LINE = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*\S.*(?:\n|\Z)", re.MULTILINE)
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>")
_BARE_URL = re.compile(r"(?<![\w(<\[/.@:])(?:https?://|www\.)[^\s<>\[\]`]*[^\s<>\[\]`.,;:!?'\")*_]", re.IGNORECASE)
_CITATION = re.compile(r"\[?(\d{1,4})\]?")


def neutralize_links(markdown: str, allowed_urls: Collection[str]) -> str:
    """The text in which only addresses among ``sources`` can be followed.

    >>> tamed("See [here](https://evil.example/?q=1) and ![](https://evil.example/p.png) [1].", ())
    'See here and  [1].'
    """
    if not _MAY_CONTAIN_LINK.search(markdown):
        return markdown
    known = {_normalize_url(url) for url in allowed_urls}
    pieces = _CODE_SPAN_OR_FENCE.split(markdown)
    # Three to a match: the text before it, the code, its ticks.
    text = "".join(
        _neutralize_text(piece, known) if number % 3 == 0 else piece
        for number, piece in enumerate(pieces)
        if piece is not None and number % 3 != 2
    )
    return _escape_active(text) if _has_active_content(text, known) else text


def _neutralize_text(text: str, known: Collection[str]) -> str:
    text = _DEFINITION_LINE.sub("", _IMAGE.sub(lambda found: found[1], text))
    text = _LINK.sub(lambda found: found[0] if _normalize_url(found[2]) in known else _link_text(found[1]), text)
    text = _AUTOLINK.sub(lambda found: found[0] if _normalize_url(found[1]) in known else f"`{found[1]}`", text)
    return _BARE_URL.sub(lambda found: found[0] if _is_known_url(found[0], known) else f"`{found[0]}`", text)


def _link_text(words: str) -> str:
    citation = _CITATION.fullmatch(words.strip())
    return f"[{citation[1]}]" if citation else words


def _is_known_url(address: str, known: Collection[str]) -> bool:
    """Also when a full stop or bracket of the sentence clings to it."""
    return _normalize_url(address) in known or _normalize_url(address.rstrip(")")) in known


def _has_active_content(markdown: str, known: Collection[str]) -> bool:
    """Asked of a parser: whether anything is left that a viewer would follow, fetch or run."""
    for token in _get_parser().parse(markdown):
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline", "image"):
                return True
            if part.type == "link_open" and str(part.attrGet("href")) not in known:
                return True
    return False


def _escape_active(markdown: str) -> str:
    """Entities and not backslashes: a backslash already there would turn ours into a pair and free the character."""
    return markdown.replace("<", "&lt;").replace("![", "!&#91;").replace("](", "]&#40;").replace("]:", "]&#58;")


def _normalize_url(url: str) -> str:
    return _get_parser().normalizeLink(url)


@cache
def _get_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
