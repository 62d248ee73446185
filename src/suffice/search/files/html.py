"""HTML files as pieces of their readable text, titled by the page and the headings above.

The text is extracted, so its lines are not the file's; each piece carries the range of source lines it was taken from
(``exact=False``). Navigation, asides and scripts are left out. Nothing is fetched and no style is applied.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import PurePath

from suffice.search.files.piece import Piece, Unreadable, one_line, path_title
from suffice.text.chunks import LIMIT, SMALL, TARGET, lines_of, slices


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_DROPPED = _set("script style noscript template svg")
_BOILERPLATE = _set("nav footer aside")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = _set(
    """address article blockquote body caption center dd details dialog div dl dt fieldset figcaption figure form header
    hgroup hr html li main menu ol option p pre search section summary table tbody tfoot thead tr ul"""
) | frozenset(_HEADINGS)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph's text, the source lines it spans, and its level if it is a heading."""

    text: str
    first: int
    last: int
    level: int | None = None


def pieces(text: str, name: str) -> list[Piece]:
    source = "\n".join(lines_of(text))
    # A page may be nothing but a <nav> that was never closed: then everything counts.
    extracted = extract(source, _DROPPED | _BOILERPLATE)
    if not extracted.blocks:
        extracted = extract(source, _DROPPED)
    if not extracted.blocks:
        raise Unreadable(f"{name} holds no text outside of scripts and markup; save the rendered page instead.")
    return _packed(extracted.blocks, one_line(extracted.title) or PurePath(name).name)


def extract(source: str, dropped: frozenset[str]) -> "Extractor":
    try:
        return _fed(source, dropped)
    except AssertionError:
        # html.parser asserts that "<![" opens a section it knows. Escaped it is text, and no line moves.
        return _fed(source.replace("<![", "&lt;!["), dropped)


def _fed(source: str, dropped: frozenset[str]) -> "Extractor":
    parser = Extractor(dropped)
    parser.feed(source)
    parser.close()
    parser.flush()
    return parser


class Extractor(HTMLParser):
    def __init__(self, dropped: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.dropped = dropped
        self.title = ""
        self.blocks: list[Block] = []
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
        elif tag in _BLOCKS:
            self._break(tag)
            self._level = _HEADINGS.get(tag)
            self._in_row = tag == "tr" or (self._in_row and tag != "table")
            self._in_pre = self._in_pre or tag == "pre"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.dropped and tag != "title":  # <script/> and <title/> hold nothing and have no end tag
            super().handle_startendtag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            self._skip_depth -= tag == self._skipping
            if not self._skip_depth:
                self._skipping = ""
        elif tag == "title":
            self._in_title = False
        elif tag in _BLOCKS:
            self._break(tag)
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
        self._buffer.append(data if self._in_pre else _collapsed(data))
        self._size += len(data.strip())

    def _break(self, tag: str) -> None:
        """A block's border. Inside a table row it is only a space, so that the row stays one line; a row that outgrows
        a piece is a layout table and breaks like anything else."""
        if self._in_row and tag not in ("tr", "table") and tag not in _HEADINGS and self._size < LIMIT:
            self._buffer.append(" ")
        else:
            self.flush()

    def flush(self) -> None:
        text = "".join(self._buffer)
        text = (
            text.strip("\n") if self._in_pre else "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
        )
        if text.strip(" |\n\t"):
            self.blocks.append(Block(text, self._first, self._last, self._level))
        self._buffer.clear()
        self._size = self._first = self._last = 0


def _collapsed(data: str) -> str:
    words = " ".join(data.split())
    if not words:
        return " " if data else ""
    return f"{' ' if data[0].isspace() else ''}{words}{' ' if data[-1].isspace() else ''}"


@dataclass(slots=True)
class _Group:
    """Blocks that become one piece, or several if one block is long."""

    path: list[str]
    blocks: list[Block] = field(default_factory=list)

    def size(self) -> int:
        return sum(len(block.text) + 1 for block in self.blocks)

    def pieces(self, page: str) -> list[Piece]:
        lines = (min(block.first for block in self.blocks), max(block.last for block in self.blocks))
        headings = self.path if self.path[:1] == [page] else [page, *self.path]
        title = one_line(path_title(headings, page))
        text = "\n".join(block.text for block in self.blocks)
        return [Piece(part, title, "html", lines=lines, exact=False) for part in slices(text)]


def _packed(blocks: Sequence[Block], page: str) -> list[Piece]:
    path: list[tuple[int, str]] = []
    groups: list[_Group] = []
    for block in blocks:
        last = groups[-1] if groups else None
        if block.level is not None:
            level = block.level
            path = [*[(above, text) for above, text in path if above < level], (level, one_line(block.text))]
        names = [text for _, text in path]
        if last is not None and _joins(last, block):
            if all(known.level is not None for known in last.blocks):
                last.path = names
            last.blocks.append(block)
        else:
            groups.append(_Group(names, [block]))
    return [piece for group in groups for piece in group.pieces(page)]


def _joins(group: _Group, block: Block) -> bool:
    size = group.size()
    if size + len(block.text) > (TARGET if size >= SMALL else LIMIT):
        return False
    return block.level is None or size < SMALL
