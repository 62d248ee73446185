"""HTML files as chunks of light Markdown, titled by the page and the headings above.

The lines of the text are not the lines of the file; each chunk has the range of source lines it was taken from. Navigation,
asides, scripts and the anchors of headings are left out. Nothing is fetched and no style is applied. The parser is the
standard library's: it reads broken markup in linear time and says on which line it is.
"""

import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import PurePath

from suffice.search.files.chunk import DocumentChunk, UnreadableFile
from suffice.search.files.prose import Heading, HeadingPaths, Prose, Table, format_record, format_row
from suffice.text.chunks import MAX_CHARS, Chunk, split_lines, split_text
from suffice.text.plain import to_one_line

_DROPPED_TAGS = frozenset("script style noscript template svg button select textarea iframe object".split())
_BOILERPLATE_TAGS = frozenset("nav footer aside".split())
_BOILERPLATE_ROLES = frozenset("navigation search contentinfo complementary".split())
_BOILERPLATE_CLASSES = frozenset("navheader navfooter nav-panel".split())  # Of manuals made by DocBook and Texinfo.
_ANCHOR_CLASSES = frozenset("headerlink header-anchor heading-anchor anchorjs-link anchor hash-link permalink".split())
_CODE_TAGS = frozenset("code kbd samp tt".split())
_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
_BLOCK_TAGS = frozenset(
    """address article blockquote body caption center dd details dialog div dl dt fieldset figcaption figure form header
    hgroup hr html li main menu ol option p pre search section summary table tbody tfoot thead tr td th ul""".split()
) | frozenset(_HEADING_LEVELS)
_CELL_TAGS = frozenset(("td", "th"))
_OBJECT_LEVEL = 100  # The level of a documented function or class; it is below every heading.
_MIN_MAIN_CHARS = 200  # Less text in <main> than this: the page is built otherwise.
_MAX_NESTING = 8  # Levels of lists that are indented.
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source|brush)[-: ]+([\w+#]+)")


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of an HTML file."""
    source = "\n".join(split_lines(text))
    page = _extract_readable(source)
    if not any(page.prose.lines):
        raise UnreadableFile(f"{name} contains no text outside of scripts and markup; save the rendered page instead.")
    title = to_one_line(page.title) or PurePath(name).name
    titles = HeadingPaths(page.prose, "")
    return [
        DocumentChunk(chunk.text, _join_titles(title, titles.title_for(chunk)), "html", lines=page.find_source(chunk))
        for chunk in page.prose.chunk()
    ]


def _join_titles(page_title: str, path: str) -> str:
    """Return the heading path below the title of the page, which often repeats the first heading."""
    first, _, rest = path.partition(" > ")
    if first and page_title.startswith(first):
        return f"{page_title} > {rest}" if rest else page_title
    return f"{page_title} > {path}" if path else page_title


def _extract_readable(source: str) -> "_HtmlExtractor":
    """Return the main part of a page; all of it if none is marked or it is a <nav> that is never closed."""
    boilerplate = _DROPPED_TAGS | _BOILERPLATE_TAGS
    if re.search(r"<main\b|role=[\"']?main\b", source):
        page = _extract(source, boilerplate, only_main=True)
        if sum(map(len, page.prose.lines)) >= _MIN_MAIN_CHARS:
            return page
    page = _extract(source, boilerplate)
    return page if any(page.prose.lines) else _extract(source, _DROPPED_TAGS)


def _extract(source: str, dropped: frozenset[str], only_main: bool = False) -> "_HtmlExtractor":
    try:
        return _run_extractor(source, dropped, only_main)
    except AssertionError:
        # html.parser asserts that "<![" opens a section it knows. Escaping it makes it text and keeps the line numbers.
        return _run_extractor(source.replace("<![", "&lt;!["), dropped, only_main)


def _run_extractor(source: str, dropped: frozenset[str], only_main: bool) -> "_HtmlExtractor":
    parser = _HtmlExtractor(dropped, only_main)
    parser.feed(source)
    parser.close()
    parser.finish()
    return parser


@dataclass(slots=True)
class _List:
    """An open list; ``number`` counts the items of an ordered one."""

    tag: str
    number: int = 0
    is_objects: bool = False
    """A list of documented functions and classes, as Sphinx writes them."""
    headings: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Grid:
    """An open table. ``is_layout``: its cells are parts of the page, not data."""

    rows: list[tuple[list[str], bool, int, int]] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    has_header_cells: bool = False
    in_row: bool = False
    is_layout: bool = False
    first: int = 0


class _HtmlExtractor(HTMLParser):
    """Collects the title and the light Markdown of a page, without the dropped tags."""

    def __init__(self, dropped: frozenset[str], only_main: bool) -> None:
        super().__init__(convert_charrefs=True)
        self.dropped = dropped
        self.title = ""
        self.prose = Prose([])
        self.sources: list[tuple[int, int]] = []
        self._only_main = only_main
        self._main_tag = ""
        self._main_depth = 0
        self._buffer: list[str] = []
        self._first = self._last = 0
        self._level: int | None = None
        self._skipping = ""
        self._skip_depth = 0
        self._in_title = False
        self._pre_depth = 0
        self._language = ""
        self._lists: list[_List] = []
        self._marker = ""
        self._object = ""
        self._grids: list[_Grid] = []
        self._previous = ""

    def find_source(self, chunk: Chunk) -> tuple[int, int]:
        """Return the source lines that the text of a chunk was taken from."""
        spans = [span for span in self.sources[chunk.first - 1 : chunk.last] if span[0]]
        return min(first for first, _ in spans), max(last for _, last in spans)

    # -- events of the parser ------------------------------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        classes = (values.get("class") or "").split()
        if self._skipping:
            self._skip_depth += tag == self._skipping
        elif self._is_dropped(tag, values, classes):
            if tag != "a":
                self.flush()
            self._skipping, self._skip_depth = tag, 1
        elif tag == "title":
            self._in_title = True
        elif tag == "br":
            self._buffer.append("\n" if not self._in_cell else " ")
        elif tag in _CODE_TAGS:
            if self._pre_depth:
                self._find_language(values)
            elif not self._object:
                self._buffer.append("`")
        elif tag in _BLOCK_TAGS:
            self._start_block(tag, values, classes)
        if self._only_main and not self._skipping:
            if not self._main_tag and (tag == "main" or values.get("role") == "main"):
                self._main_tag = tag
            self._main_depth += tag == self._main_tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.dropped and tag != "title":  # <script/> and <title/> are empty and have no end tag.
            super().handle_startendtag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            self._skip_depth -= tag == self._skipping
            if not self._skip_depth:
                self._skipping = ""
            return
        if tag == "title":
            self._in_title = False
        elif tag in _CODE_TAGS and not self._pre_depth and not self._object:
            self._buffer.append("`")
        elif tag in _BLOCK_TAGS:
            self._end_block(tag)
        if tag == self._main_tag:
            self.flush()
            self._main_depth -= 1
            self._main_tag = self._main_tag if self._main_depth else ""

    def handle_data(self, data: str) -> None:
        if self._skipping:
            return
        if self._in_title:
            self.title += data
        elif self._main_tag or not self._only_main:
            self._add(data)

    def finish(self) -> None:
        while self._grids:
            self._close_table()
        self.flush()

    # -- blocks --------------------------------------------------------------------------------------------------------

    @property
    def _in_cell(self) -> bool:
        return bool(self._grids) and self._grids[-1].in_row and not self._grids[-1].is_layout

    def _is_dropped(self, tag: str, values: dict[str, str | None], classes: list[str]) -> bool:
        if tag in self.dropped:
            return True
        if tag == "a":
            return bool(_ANCHOR_CLASSES.intersection(classes)) or values.get("aria-hidden") == "true"
        is_boilerplate = values.get("role") in _BOILERPLATE_ROLES or bool(_BOILERPLATE_CLASSES.intersection(classes))
        return "nav" in self.dropped and is_boilerplate

    def _find_language(self, values: dict[str, str | None]) -> None:
        if found := _LANGUAGE.search(values.get("class") or ""):
            self._language = found[1]

    def _start_block(self, tag: str, values: dict[str, str | None], classes: list[str]) -> None:
        if (
            self._in_cell
            and tag not in ("table", "tr", *_CELL_TAGS, *_HEADING_LEVELS)
            and self._cell_size() < MAX_CHARS
        ):
            self._buffer.append(" ")
            return
        if self._in_cell and (tag == "table" or tag in _HEADING_LEVELS or self._cell_size() >= MAX_CHARS):
            self._dissolve_table()
        if tag == "table":
            self.flush()
            self._grids.append(_Grid())
        elif tag in ("tr", *_CELL_TAGS) and self._grids and not self._grids[-1].is_layout:
            self._start_cell(tag)
        else:
            self.flush()
            self._level = _HEADING_LEVELS.get(tag)
            if tag == "pre":
                self._pre_depth += 1
                self._language = ""
                self._find_language(values)
            self._start_list(tag, values, classes)

    def _end_block(self, tag: str) -> None:
        if tag == "table" and self._grids:
            self._close_table()
        elif self._in_cell:
            if tag in _CELL_TAGS:
                self._end_cell()
            elif tag == "tr":
                self._end_row()
            else:
                self._buffer.append(" ")
        else:
            self.flush()
            self._level = None
            if tag == "pre":
                self._pre_depth = max(0, self._pre_depth - 1)
            elif tag == "dt":
                self._object = ""
            elif tag in ("ul", "ol", "dl") and self._lists:
                self._close_list(tag)
        if tag in ("li", "dt", "dd"):
            self._marker = ""

    def _start_list(self, tag: str, values: dict[str, str | None], classes: list[str]) -> None:
        if tag in ("ul", "ol", "dl"):
            objects = tag == "dl" and bool({"py", "function", "class", "method", "c", "js", "attribute"} & set(classes))
            self._lists.append(_List(tag, is_objects=objects))
            self._marker = ""
        elif tag == "li":
            inner = self._lists[-1] if self._lists else _List("ul")
            inner.number += 1
            self._marker = f"{inner.number}. " if inner.tag == "ol" else "- "
        elif tag == "dt":
            is_object = bool(self._lists) and (self._lists[-1].is_objects or "sig" in classes)
            if is_object:
                self._lists[-1].is_objects = True
                self._object = (values.get("id") or "").rpartition(".")[2] or "object"
            else:
                self._marker = "- "

    def _close_list(self, tag: str) -> None:
        while self._lists:
            closed = self._lists.pop()
            for index in closed.headings:
                self.prose.headings[index] = replace(self.prose.headings[index], end=len(self.prose.lines))
            if closed.tag == tag:
                return

    def _list_indent(self) -> str:
        """Return the indentation of text inside the open items; the items of the innermost list have one level less."""
        nearest = self._lists[-_MAX_NESTING:]
        return " " * sum(3 if each.tag == "ol" else 2 for each in nearest if not each.is_objects)

    def _add(self, data: str) -> None:
        line = self.getpos()[0]
        if data.strip():
            lead = len(data) - len(data.lstrip())
            self._first = self._first or line + data.count("\n", 0, lead)
            self._last = line + data.rstrip().count("\n")
        self._buffer.append(data if self._pre_depth else _collapse_whitespace(data))

    def _take_text(self) -> str:
        text = "".join(self._buffer)
        self._buffer.clear()
        if not self._pre_depth:
            text = "\n".join(" ".join(line.split()) for line in text.replace("¶", "").replace("``", "").split("\n"))
        return text

    def flush(self) -> None:
        """Write the collected text as a block: a heading, code, an item, a term, or a paragraph."""
        text = self._take_text()
        span = (self._first, self._last)
        self._first = self._last = 0
        if not text.strip(" `\n\t|"):
            return
        if self._pre_depth:
            self._write_code(text, span)
        elif self._level is not None:
            words = to_one_line(text)
            self._write([f"{'#' * self._level} {words}"], span, "heading")
            number = len(self.prose.lines)
            self.prose.headings.append(Heading(number, number, self._level, words.replace("`", "")))
        elif self._object:
            self._write([f"`{to_one_line(text).replace('`', '')}`"], span, "object")
            number = len(self.prose.lines)
            level = _OBJECT_LEVEL + sum(each.is_objects for each in self._lists[-_MAX_NESTING:])
            self._lists[-1].headings.append(len(self.prose.headings))
            self.prose.headings.append(Heading(number, number, level, self._object))
        else:
            self._write_paragraph(text.strip(), span)

    def _write_paragraph(self, text: str, span: tuple[int, int]) -> None:
        indent = self._list_indent()
        lines = [part for line in text.split("\n") if line for part in split_text(line)]
        kind = "paragraph"
        if self._marker:
            kind = "item"
            if self._lists and self._lists[-1].tag == "dl":
                lines[-1] += "" if lines[-1].endswith(":") else ":"
            indent = indent[: max(0, len(indent) - (3 if self._lists and self._lists[-1].tag == "ol" else 2))]
            lines = [indent + self._marker + lines[0], *[indent + " " * len(self._marker) + line for line in lines[1:]]]
            self._marker = ""
        elif indent:
            kind = "continuation"
            lines = [indent + line for line in lines]
        self._write(lines, span, kind)

    def _write_code(self, text: str, span: tuple[int, int]) -> None:
        lines = [line.rstrip() for line in text.strip("\n").split("\n")]
        fence = "````" if "```" in text else "```"
        indent = self._list_indent()
        self._write([indent + fence + self._language, *[indent + line for line in lines], indent + fence], span, "code")
        last = len(self.prose.lines)
        self.prose.add_fence(last - len(lines) - 1, last, last - 1)

    def _write(self, lines: list[str], span: tuple[int, int], kind: str) -> None:
        """Append the lines of a block; a blank line parts it from the one above, but for the items of a list."""
        is_inside = kind in ("item", "continuation") and self._previous in ("item", "continuation")
        if self.prose.lines and not is_inside:
            self.prose.lines.append("")
            self.sources.append((0, 0))
        number = len(self.prose.lines) + 1
        if (kind == "item" and self._previous == "paragraph") or kind == "continuation" or kind == "table":
            self.prose.kept_with_previous.add(number)
        if kind == "continuation" and is_inside:
            self.prose.unbroken.add(number)
        elif kind == "item":
            self.prose.block_starts.add(number)
        self.prose.lines += lines
        self.sources += [span] * len(lines)
        self._previous = kind

    # -- tables --------------------------------------------------------------------------------------------------------

    def _cell_size(self) -> int:
        return sum(map(len, self._buffer))

    def _start_cell(self, tag: str) -> None:
        grid = self._grids[-1]
        if tag == "tr":
            self._end_row()
            self.flush()  # Text outside of cells, such as a caption.
            grid.in_row = True
            return
        if not grid.in_row:
            self.flush()
            grid.in_row = True
        self._end_cell()
        if tag == "th":
            grid.has_header_cells = True
        grid.cells.append("")

    def _end_cell(self) -> None:
        grid = self._grids[-1]
        text = to_one_line(self._take_text())
        if grid.cells:
            grid.cells[-1] = f"{grid.cells[-1]} {text}".strip()
        elif text:
            grid.cells.append(text)
        grid.first = grid.first or self._first

    def _end_row(self) -> None:
        grid = self._grids[-1]
        if grid.in_row:
            self._end_cell()
            if any(grid.cells):
                first = grid.first or self._last
                grid.rows.append((grid.cells, grid.has_header_cells, first, max(self._last, first)))
        grid.cells, grid.has_header_cells, grid.in_row, grid.first = [], False, False, 0
        self._first = 0

    def _dissolve_table(self) -> None:
        """Write what a layout table has so far as text, and read on as if there were no table."""
        grid = self._grids[-1]
        buffered, first = self._buffer[:], self._first
        self._buffer.clear()
        for cells, _, low, high in grid.rows:
            self._write([part for cell in cells if cell for part in split_text(cell)], (low, high), "paragraph")
        for cell in grid.cells:
            if cell:
                self._write(split_text(cell), (grid.first or first, self._last), "paragraph")
        grid.rows, grid.cells, grid.in_row, grid.is_layout = [], [], False, True
        self._buffer, self._first = buffered, first or grid.first

    def _close_table(self) -> None:
        grid = self._grids[-1]
        if grid.is_layout:
            self.flush()
        else:
            self._end_row()
        self._grids.pop()
        if grid.rows:
            self._write_rows(grid.rows)

    def _write_rows(self, rows: list[tuple[list[str], bool, int, int]]) -> None:
        cells, has_header, first, _ = rows[0]
        last = max(row[3] for row in rows)
        if len(rows) == 1 or max(len(row[0]) for row in rows) == 1:
            for each, _, low, high in rows:
                self._write([format_record([], each)], (low, high), "paragraph")
            return
        if not has_header:
            for each, _, low, high in rows:
                self._write([f"- {format_record([], each)}"], (low, high), "item")
            return
        width = max(len(row[0]) for row in rows)
        lines = [format_row([*row[0], *[""] * (width - len(row[0]))]) for row in rows]
        lines.insert(1, format_row(["---"] * width))
        self._write(lines, (first, last), "table")
        number = len(self.prose.lines) - len(lines) + 1
        self.sources[number - 1 :] = [(first, last)] * 2 + [(low, high) for _, _, low, high in rows[1:]]
        self.prose.tables.append(Table(tuple(cells), number + 2, len(self.prose.lines)))
        self.prose.unbroken.update((number + 1, number + 2))


def _collapse_whitespace(data: str) -> str:
    words = " ".join(data.split())
    if not words:
        return " " if data else ""
    return f"{' ' if data[0].isspace() else ''}{words}{' ' if data[-1].isspace() else ''}"
