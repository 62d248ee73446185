"""HTML files as chunks of light Markdown, titled by the page and the headings above.

The lines of the text are not the lines of the file; each chunk has the range of source lines it was taken from. Navigation,
asides, scripts and the anchors of headings are left out. Nothing is fetched and no style is applied. The parser is the
standard library's, which says on which line it is; what it reads in more than linear time is bounded here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from itertools import chain
from pathlib import PurePath

from suffice.search.files.chunk import DocumentChunk, UnreadableFile
from suffice.search.files.prose import OBJECT_LEVEL, Heading, HeadingPaths, Prose, format_record
from suffice.text.chunks import MAX_CHARS, split_lines, split_text
from suffice.text.plain import to_one_line

_DROPPED_TAGS = frozenset("script style noscript template svg button select textarea iframe object title".split())
_BOILERPLATE_TAGS = frozenset("nav footer aside".split())
_BOILERPLATE_CLASSES = frozenset("navheader navfooter nav-panel".split())  # Of manuals made by DocBook and Texinfo.
_ANCHOR_CLASSES = frozenset("headerlink header-anchor heading-anchor anchorjs-link anchor hash-link permalink".split())
_CODE_TAGS = frozenset("code kbd samp tt".split())
_LIST_TAGS = frozenset("ul ol dl".split())
_SCOPE_TAGS = frozenset("ul ol dl table html body div section main article blockquote".split())
_CELL_TAGS = ("td", "th")
_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
_STRUCTURE_TAGS = frozenset({"table", *_HEADING_LEVELS})
_BLOCK_TAGS = frozenset(
    """address article blockquote body caption center dd details dialog div dl dt fieldset figcaption figure form header
    hgroup hr html li main menu nav footer aside ol option p pre search section summary table tbody tfoot thead tr td th
    ul""".split()
) | frozenset(_HEADING_LEVELS)
_VOID_TAGS = frozenset("area base br col embed hr img input link meta source track wbr".split())
# The open elements that a start tag closes, if no list or table began since; other blocks close a paragraph.
_CLOSES: dict[str, tuple[str, ...]] = {
    "a": ("a",),
    "li": ("li", "p"),
    "tr": ("tr", "td", "th"),
    **dict.fromkeys(("dt", "dd"), ("dt", "dd", "p")),
    **dict.fromkeys(("td", "th"), ("td", "th")),
}
_MIN_MAIN_CHARS = 200  # Less text in <main> than this: the page is built otherwise.
_MAX_NESTING = 8  # Levels of lists that are indented.
_MAX_DEPTH = 100  # Elements inside each other; the text of deeper ones belongs to the last.
_MAX_UNFINISHED = 16  # Tags and comments without an end that are looked for; each look reads the rest of the file.
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight-source|brush)[-: ]+([\w+#]+)")


@dataclass(frozen=True, slots=True)
class _HtmlText:
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class _HtmlElement:
    tag: str
    values: dict[str, str | None] = field(default_factory=dict)
    children: list["_HtmlElement | _HtmlText"] = field(default_factory=list)

    @property
    def classes(self) -> list[str]:
        return (self.values.get("class") or "").split()

    def find_all(self, is_wanted: Callable[["_HtmlElement"], bool]) -> Iterator["_HtmlElement"]:
        """Yield the elements inside that are wanted, but none inside of another."""
        for child in self.children:
            if isinstance(child, _HtmlElement):
                if is_wanted(child):
                    yield child
                else:
                    yield from child.find_all(is_wanted)


def parse(text: str, name: str) -> list[DocumentChunk]:
    root = _build_tree("\n".join(split_lines(text)))
    prose = _read_readable(root)
    if not any(prose.lines):
        raise UnreadableFile(f"{name} contains no text outside of scripts and markup; save the rendered page instead.")
    first = next(root.find_all(lambda element: element.tag == "title"), None)
    title = "" if first is None else "".join(child.text for child in first.children if isinstance(child, _HtmlText))
    page_title, paths = to_one_line(title) or PurePath(name).name, HeadingPaths(prose, "")
    titled = [(chunk, _join_titles(page_title, paths.title_for(chunk))) for chunk in prose.chunk()]
    return [DocumentChunk(chunk.text, title, "html", lines=prose.find_source(chunk)) for chunk, title in titled]


def _join_titles(page_title: str, path: str) -> str:
    """Return the heading path below the title of the page, which often repeats the first heading."""
    first, _, rest = path.partition(" > ")
    if first and page_title.startswith(first):
        return f"{page_title} > {rest}" if rest else page_title
    return f"{page_title} > {path}" if path else page_title


def _read_readable(root: _HtmlElement) -> Prose:
    """Return the main part of a page; all of it if none is marked or it is a <nav> that is never closed."""
    boilerplate = _DROPPED_TAGS | _BOILERPLATE_TAGS
    mains = list(root.find_all(lambda element: element.tag == "main" or element.values.get("role") == "main"))
    main = _PageReader(boilerplate).read_all(mains)
    if sum(map(len, main.lines)) >= _MIN_MAIN_CHARS:
        return main
    page = _PageReader(boilerplate).read_all([root])
    return page if any(page.lines) else _PageReader(_DROPPED_TAGS).read_all([root])


# -- the tree --------------------------------------------------------------------------------------------------------------


def _build_tree(source: str) -> _HtmlElement:
    builder = _TreeBuilder()
    try:
        builder.feed(source)
        builder.finish()
    except AssertionError:
        # html.parser asserts that "<![" opens a section it knows. Escaping it makes it text and keeps the line numbers.
        return _build_tree(source.replace("<![", "&lt;!["))
    return builder.root


class _TreeBuilder(HTMLParser):
    """Builds a tree of elements, also from tags that are not closed or not opened."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = _HtmlElement("html")
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        closed = _CLOSES.get(tag, ("p",) if tag in _BLOCK_TAGS else ())
        for index in range(len(self._open) - 1, 0, -1):
            name = self._open[index].tag
            if name in closed:
                del self._open[index:]
            elif name in _SCOPE_TAGS:
                break
        if len(self._open) <= _MAX_DEPTH:
            element = _HtmlElement(tag, dict(attrs))
            self._open[-1].children.append(element)
            if tag not in _VOID_TAGS:
                self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        index = next((i for i in range(len(self._open) - 1, 0, -1) if self._open[i].tag == tag), len(self._open))
        del self._open[index:]

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(_HtmlText(data, self.getpos()[0]))

    def finish(self) -> None:
        """Read what has no end as text; ``close`` alone looks for the end of each such tag again."""
        for _ in range(_MAX_UNFINISHED):
            if self.rawdata.startswith("<"):
                rest, self.rawdata = self.rawdata[1:], ""
                self.handle_data("<")
                self.feed(rest)
        self.rawdata = self.rawdata.replace("<", "&lt;")
        self.close()


# -- the page --------------------------------------------------------------------------------------------------------------


def _join_text(texts: Sequence[_HtmlText]) -> str:
    """Return texts as lines with single spaces; only what stands on no line of the source, such as <br>, ends a line."""
    joined = "".join(part.text.replace("\n", " ") if part.line else part.text for part in texts)
    lines = joined.replace("¶", "").replace("``", "").split("\n")
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def _find_span(texts: Iterable[_HtmlText]) -> tuple[int, int]:
    """Return the first and the last line of the texts; zeros if they are blank."""
    firsts, lasts = [0], [0]
    for part in texts:
        if part.line and (words := part.text.strip()):
            firsts.append(part.line + part.text.count("\n", 0, part.text.index(words)))
            lasts.append(firsts[-1] + words.count("\n"))
    return min(firsts[1:], default=0), max(lasts)


@dataclass(slots=True)
class _HtmlList:
    """An open list. ``is_objects``: it has documented functions and classes, as Sphinx writes them."""

    tag: str
    is_objects: bool = False
    number: int = 0
    headings: list[int] = field(default_factory=list)

    @property
    def width(self) -> int:
        return 0 if self.is_objects else 3 if self.tag == "ol" else 2


class _PageReader:
    """Writes the light Markdown of a page, without the dropped tags."""

    def __init__(self, dropped: frozenset[str]) -> None:
        self._dropped = dropped
        self._prose = Prose([])
        self._buffer: list[_HtmlText] = []
        self._lists: list[_HtmlList] = []
        self._marker = ""

    def read_all(self, elements: Iterable[_HtmlElement]) -> Prose:
        for element in elements:
            self._read(element)
            self._flush()
        return self._prose

    def _is_dropped(self, element: _HtmlElement) -> bool:
        if element.tag == "a":
            is_hidden = element.values.get("aria-hidden") == "true"
            return is_hidden or not _ANCHOR_CLASSES.isdisjoint(element.classes)
        is_boilerplate = "nav" in self._dropped and not _BOILERPLATE_CLASSES.isdisjoint(element.classes)
        return element.tag in self._dropped or is_boilerplate

    def _read(self, parent: _HtmlElement) -> None:
        for child in parent.children:
            if isinstance(child, _HtmlText):
                self._buffer.append(child)
            elif self._is_dropped(child):
                if child.tag != "a":
                    self._flush()
            elif child.tag == "br":
                self._buffer.append(_HtmlText("\n", 0))
            elif child.tag in _CODE_TAGS:
                self._buffer.append(_HtmlText("`", 0))
                self._read(child)
                self._buffer.append(_HtmlText("`", 0))
            elif child.tag in _BLOCK_TAGS:
                self._flush()
                self._read_block(child)
                self._flush()
            else:
                self._read(child)

    def _collect(self, parent: _HtmlElement, is_code: bool = False) -> list[_HtmlText]:
        """Return all texts inside, blocks parted by spaces; in code line ends stay, and there are no marks of code."""
        found: list[_HtmlText] = []
        for child in parent.children:
            if isinstance(child, _HtmlText):
                found.append(child)
            elif child.tag == "br":
                found.append(_HtmlText("\n" if is_code else " ", 0))
            elif not self._is_dropped(child):
                is_block = child.tag in _BLOCK_TAGS
                mark = ("\n" if is_block else "") if is_code else " " if is_block else "`" * (child.tag in _CODE_TAGS)
                has_break = is_code and bool(found) and found[-1].text.endswith("\n")
                inside = self._collect(child, is_code)
                found += [*([] if has_break else [_HtmlText(mark, 0)]), *inside, _HtmlText(mark, 0)]
        return found

    def _read_block(self, element: _HtmlElement) -> None:
        tag = element.tag
        if level := _HEADING_LEVELS.get(tag):
            texts = self._collect(element)
            if words := to_one_line(_join_text(texts)):
                self._prose.append_heading(level, words, _find_span(texts))
        elif tag == "pre":
            self._write_code(element)
        elif tag == "table" and (rows := self._read_rows(element)):
            for caption in element.find_all(lambda inner: inner.tag == "caption"):
                self._read(caption)
            self._flush()
            self._write_rows(rows)
        elif tag in _LIST_TAGS:
            self._read_list(element)
        elif tag == "dt" and self._lists and "sig" in element.classes:
            self._write_object(element)
        elif tag in ("li", "dt"):
            inner = self._lists[-1] if self._lists else _HtmlList("ul")
            inner.number += tag == "li"
            self._marker = f"{inner.number}. " if inner.tag == "ol" else "- "
            self._read(element)
            self._flush()
            self._marker = ""
        else:
            self._read(element)

    def _read_list(self, element: _HtmlElement) -> None:
        self._marker = ""
        self._lists.append(_HtmlList(element.tag))
        self._read(element)
        self._flush()
        for index in self._lists.pop().headings:
            self._prose.headings[index] = replace(self._prose.headings[index], end=len(self._prose.lines))

    def _write_object(self, element: _HtmlElement) -> None:
        texts = self._collect(element, is_code=True)
        self._lists[-1].is_objects = True
        if words := to_one_line(_join_text(texts)).replace("`", ""):
            number = self._prose.append([f"`{words}`"], "object", _find_span(texts))
            level = OBJECT_LEVEL + sum(each.is_objects for each in self._lists[-_MAX_NESTING:])
            name = (element.values.get("id") or "").rpartition(".")[2] or "object"
            self._lists[-1].headings.append(len(self._prose.headings))
            self._prose.headings.append(Heading(number, number, level, name))

    def _flush(self) -> None:
        """Write the collected text as an item, a term or a paragraph."""
        text, span = _join_text(self._buffer), _find_span(self._buffer)
        self._buffer.clear()
        if not text.strip(" `\n|"):
            return
        lines = [part for line in text.split("\n") if line for part in split_text(line)]
        indent = sum(each.width for each in self._lists[-_MAX_NESTING:])
        kind = "item" if self._marker else "continuation" if indent else "paragraph"
        if self._marker and self._lists:
            indent -= self._lists[-1].width
            if self._lists[-1].tag == "dl" and not lines[-1].endswith(":"):
                lines[-1] += ":"
        marks = [self._marker, *[" " * len(self._marker)] * (len(lines) - 1)]
        self._prose.append([f"{' ' * indent}{mark}{line}" for mark, line in zip(marks, lines, strict=True)], kind, span)
        self._marker = ""

    def _write_code(self, element: _HtmlElement) -> None:
        texts = self._collect(element, is_code=True)
        code = "".join(part.text for part in texts).strip("\n")
        inner = next(element.find_all(lambda inner: inner.tag in _CODE_TAGS and bool(inner.classes)), element)
        languages = [found[1] for each in (inner, element) if (found := _LANGUAGE.search(" ".join(each.classes)))]
        if code.strip():
            indent = " " * sum(each.width for each in self._lists[-_MAX_NESTING:])
            self._prose.append_code(code.split("\n"), "".join(languages[:1]), indent, _find_span(texts))

    # -- tables --------------------------------------------------------------------------------------------------------

    def _read_rows(self, table: _HtmlElement) -> list[tuple[list[str], bool, tuple[int, int]]]:
        """Return the rows: cells, whether they are headers, and lines; none if the table only lays out the page."""
        rows = []
        for row in table.find_all(lambda inner: inner.tag == "tr"):
            cells = list(row.find_all(lambda inner: inner.tag in _CELL_TAGS))
            if any(next(cell.find_all(lambda inner: inner.tag in _STRUCTURE_TAGS), None) for cell in cells):
                return []
            texts = [self._collect(cell) for cell in cells]
            words = [to_one_line(_join_text(each)) for each in texts]
            if any(len(each) > MAX_CHARS for each in words):
                return []
            if any(words):
                rows.append((words, any(cell.tag == "th" for cell in cells), _find_span(chain(*texts))))
        return rows

    def _write_rows(self, rows: Sequence[tuple[list[str], bool, tuple[int, int]]]) -> None:
        width = max(len(cells) for cells, _, _ in rows)
        if len(rows) > 1 and width > 1 and rows[0][1]:
            self._prose.append_table([(cells, span) for cells, _, span in rows])
            return
        for cells, _, span in rows:
            mark, kind = ("- ", "item") if len(rows) > 1 and width > 1 else ("", "paragraph")
            self._prose.append([mark + format_record([], cells)], kind, span)
