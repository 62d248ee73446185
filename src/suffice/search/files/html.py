"""HTML files as chunks of their readable text, titled by the page and the headings above.

The lines of the extracted text are not the lines of the file; each chunk has the range of source lines it was taken from.
Navigation, asides and scripts are left out. Nothing is fetched and no style is applied.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import PurePath

from suffice.search.files.chunk import (
    DocumentChunk,
    HeadingPath,
    UnreadableFile,
    enter_heading,
    format_heading_path,
)
from suffice.text.chunks import MAX_CHARS, MIN_CHARS, TARGET_CHARS, split_lines, split_text
from suffice.text.plain import to_one_line

_DROPPED_TAGS = frozenset("script style noscript template svg".split())
_BOILERPLATE_TAGS = frozenset("nav footer aside".split())
_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS = frozenset(
    """address article blockquote body caption center dd details dialog div dl dt fieldset figcaption figure form header
    hgroup hr html li main menu ol option p pre search section summary table tbody tfoot thead tr ul""".split()
) | frozenset(_HEADING_LEVELS)


@dataclass(frozen=True, slots=True)
class _HtmlBlock:
    """The text of a paragraph, the source lines it spans, and its level if it is a heading."""

    text: str
    first: int
    last: int
    level: int | None = None


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of an HTML file."""
    source = "\n".join(split_lines(text))
    # A page may consist of a <nav> that is never closed; then read everything.
    page = _extract(source, _DROPPED_TAGS | _BOILERPLATE_TAGS)
    if not page.blocks:
        page = _extract(source, _DROPPED_TAGS)
    if not page.blocks:
        raise UnreadableFile(f"{name} contains no text outside of scripts and markup; save the rendered page instead.")
    return _pack_blocks(page.blocks, to_one_line(page.title) or PurePath(name).name)


def _extract(source: str, dropped: frozenset[str]) -> "_HtmlExtractor":
    try:
        return _run_extractor(source, dropped)
    except AssertionError:
        # html.parser asserts that "<![" opens a section it knows. Escaping it makes it text and keeps the line numbers.
        return _run_extractor(source.replace("<![", "&lt;!["), dropped)


def _run_extractor(source: str, dropped: frozenset[str]) -> "_HtmlExtractor":
    parser = _HtmlExtractor(dropped)
    parser.feed(source)
    parser.close()
    parser.flush()
    return parser


class _HtmlExtractor(HTMLParser):
    """Collects the title and the text blocks of a page, without the dropped tags."""

    def __init__(self, dropped: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.dropped = dropped
        self.title = ""
        self.blocks: list[_HtmlBlock] = []
        self._buffer: list[str] = []
        self._size = 0
        self._first = self._last = 0
        self._level: int | None = None
        self._skipping = ""
        self._skip_depth = 0
        self._in_title = self._in_row = self._in_pre = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipping:
            self._skip_depth += tag == self._skipping
        elif tag in self.dropped or (("role", "navigation") in attrs and "nav" in self.dropped):
            self.flush()
            self._skipping, self._skip_depth = tag, 1
        elif tag == "title":
            self._in_title = True
        elif tag == "br":
            self._buffer.append("\n")
        elif tag in ("td", "th"):
            self._add(" | " if self._size else "")
        elif tag in _BLOCK_TAGS:
            self._end_block(tag)
            self._level = _HEADING_LEVELS.get(tag)
            self._in_row = tag == "tr" or (self._in_row and tag != "table")
            self._in_pre = self._in_pre or tag == "pre"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.dropped and tag != "title":  # <script/> and <title/> are empty and have no end tag.
            super().handle_startendtag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            self._skip_depth -= tag == self._skipping
            if not self._skip_depth:
                self._skipping = ""
        elif tag == "title":
            self._in_title = False
        elif tag in _BLOCK_TAGS:
            self._end_block(tag)
            self._level = None
            self._in_row = self._in_row and tag not in ("tr", "table")
            self._in_pre = self._in_pre and tag != "pre"

    def handle_data(self, data: str) -> None:
        if self._in_title and not self._skipping:
            self.title += data
        elif not self._skipping:
            self._add(data)

    def _add(self, data: str) -> None:
        line = self.getpos()[0]
        if data.strip(" \n\t|"):
            lead = len(data) - len(data.lstrip())
            self._first = self._first or line + data.count("\n", 0, lead)
            self._last = line + data.rstrip().count("\n")
        self._buffer.append(data if self._in_pre else _collapse_whitespace(data))
        self._size += len(data.strip())

    def _end_block(self, tag: str) -> None:
        """End a block. Inside a table row this is only a space, so that the row stays one line; a row longer than a chunk
        belongs to a layout table and is split like other text."""
        if self._in_row and tag not in ("tr", "table") and tag not in _HEADING_LEVELS and self._size < MAX_CHARS:
            self._buffer.append(" ")
        else:
            self.flush()

    def flush(self) -> None:
        text = "".join(self._buffer)
        text = (
            text.strip("\n") if self._in_pre else "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
        )
        if text.strip(" |\n\t"):
            self.blocks.append(_HtmlBlock(text, self._first, self._last, self._level))
        self._buffer.clear()
        self._size = self._first = self._last = 0


def _collapse_whitespace(data: str) -> str:
    words = " ".join(data.split())
    if not words:
        return " " if data else ""
    return f"{' ' if data[0].isspace() else ''}{words}{' ' if data[-1].isspace() else ''}"


@dataclass(slots=True)
class _BlockGroup:
    """Blocks that become one chunk, or several if one block is long."""

    path: HeadingPath
    blocks: list[_HtmlBlock] = field(default_factory=list)

    def size(self) -> int:
        return sum(len(block.text) + 1 for block in self.blocks)

    def make_chunks(self, page_title: str) -> list[DocumentChunk]:
        lines = (min(block.first for block in self.blocks), max(block.last for block in self.blocks))
        starts_with_page = bool(self.path) and self.path[0][1] == page_title
        title = format_heading_path(self.path if starts_with_page else [(0, page_title), *self.path], page_title)
        text = "\n".join(block.text for block in self.blocks)
        return [DocumentChunk(part, title, "html", lines=lines) for part in split_text(text)]


def _pack_blocks(blocks: Sequence[_HtmlBlock], page_title: str) -> list[DocumentChunk]:
    path: HeadingPath = []
    groups: list[_BlockGroup] = []
    for block in blocks:
        last = groups[-1] if groups else None
        if block.level is not None:
            path = enter_heading(path, block.level, to_one_line(block.text))
        if last is not None and _fits_group(last, block):
            if all(other.level is not None for other in last.blocks):
                last.path = path
            last.blocks.append(block)
        else:
            groups.append(_BlockGroup(path, [block]))
    return [chunk for group in groups for chunk in group.make_chunks(page_title)]


def _fits_group(group: _BlockGroup, block: _HtmlBlock) -> bool:
    size = group.size()
    if size + len(block.text) > (TARGET_CHARS if size >= MIN_CHARS else MAX_CHARS):
        return False
    return block.level is None or size < MIN_CHARS
