"""OpenDocument texts and presentations (.odt, .odp), as LibreOffice writes them; spreadsheets are read by ``spreadsheet``.

The XML is read here, because odfpy has had no release since 2020.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from suffice.search.files.blocks import Block, Slide, make_item, make_table, pack_blocks, pack_slides
from suffice.search.files.chunk import ChunkKind, DocumentChunk, UnreadableFile, get_suffix
from suffice.search.files.package import open_package

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _TABLE, _DRAW, _OFFICE, _PRESENTATION, _STYLE = (
    f"{{{_OASIS}{name}:1.0}}" for name in ("text", "table", "drawing", "office", "presentation", "style")
)
# Comments, footnotes, deleted text and the notes of a slide stand in the middle of the text that they belong to.
_SKIPPED_TAGS = frozenset(
    {f"{_OFFICE}annotation", f"{_PRESENTATION}notes", f"{_DRAW}desc"}
    | {f"{_TEXT}{name}" for name in ("note", "tracked-changes", "table-of-content")}
)
_MAX_REPEATED_CELLS = 64  # A spreadsheet program repeats an empty cell up to the last column.


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    kind: ChunkKind = "odp" if get_suffix(path.name) in (".odp", ".otp") else "odt"
    with open_package(data, path, "OpenDocument file") as package:
        if b"<manifest:encryption-data" in package.read("META-INF/manifest.xml"):
            raise UnreadableFile(f"{path} is encrypted; save a copy without a password.")
        root = package.read_xml("content.xml")
        lists = _find_numbered_lists(root)
        if kind == "odp":
            pages = root.iterfind(f"{_OFFICE}body/{_OFFICE}presentation/{_DRAW}page")
            return pack_slides((_read_slide(page, lists) for page in pages), path, kind)
        bodies = root.iterfind(f"{_OFFICE}body/{_OFFICE}text")
        return pack_blocks((block for body in bodies for block in _OdfReader(lists).read(body)), path, kind)


def _find_numbered_lists(root: Element) -> frozenset[str]:
    """Return the list styles whose first level has numbers instead of bullets."""
    return frozenset(
        style.get(f"{_STYLE}name", "")
        for style in root.iter(f"{_TEXT}list-style")
        if (first := next(iter(style), None)) is not None
        and first.tag == f"{_TEXT}list-level-style-number"
        and bool(first.get(f"{_STYLE}num-format", "1"))
    )


def _read_slide(page: Element, lists: frozenset[str]) -> Slide:
    title, blocks = "", []
    for child in page:
        read = [block for block in _OdfReader(lists).read([child]) if block.text.strip()]
        if child.get(f"{_PRESENTATION}class") == "title" and not title:
            title = " ".join(block.text for block in read)
        else:
            blocks += read
    notes = [
        block.text
        for frame in page.iterfind(f"{_PRESENTATION}notes/{_DRAW}frame")
        if frame.get(f"{_PRESENTATION}class") == "notes"
        for block in _OdfReader(lists).read([frame])
    ]
    return Slide(title, blocks, "\n".join(filter(None, notes)))


@dataclass(slots=True)
class _OdfReader:
    """Reads paragraphs, lists and tables in order; numbers the paragraphs."""

    numbered_lists: frozenset[str]
    paragraphs: int = 0
    _list_styles: list[str] = field(default_factory=list)

    def read(self, parent: "Element | list[Element]") -> Iterator[Block]:
        for child in parent:
            if child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                yield from self._read_paragraph(child)
            elif child.tag == f"{_TEXT}list":
                yield from self._read_list(child, len(self._list_styles))
            elif child.tag == f"{_TABLE}table":
                yield from self._read_table(child)
            elif child.tag not in _SKIPPED_TAGS:
                yield from self.read(child)

    def _read_paragraph(self, node: Element) -> Iterator[Block]:
        text = _extract_text(node).strip()
        if text:
            self.paragraphs += 1
        if node.tag == f"{_TEXT}h":
            level = node.get(f"{_TEXT}outline-level", "1")
            yield Block(" ".join(text.split()), self.paragraphs, int(level) if level.isdecimal() else 1)
        else:
            yield Block(text, self.paragraphs)
        for box in node.iter(f"{_DRAW}text-box"):  # A frame that is anchored to this paragraph.
            yield from self.read(box)

    def _read_list(self, node: Element, depth: int) -> Iterator[Block]:
        style = node.get(f"{_TEXT}style-name") or (self._list_styles[0] if self._list_styles else "")
        self._list_styles.append(style)
        number = 0
        for item in node:
            if item.tag not in (f"{_TEXT}list-item", f"{_TEXT}list-header"):
                continue
            is_first = True
            for block in self.read(item):
                if block.is_item or not block.text.strip() or block.level is not None:
                    yield block
                    continue
                number += is_first
                mark = f"{number}." if style in self.numbered_lists else "-"
                more = Block("  " * (depth + 1) + block.text, block.number, is_item=True)
                yield make_item(block.text, block.number, depth, mark) if is_first else more
                is_first = False
        self._list_styles.pop()

    def _read_table(self, table: Element) -> Iterator[Block]:
        first = self.paragraphs + 1
        rows = []
        for row in table.iter(f"{_TABLE}table-row"):
            cells: list[str] = []
            for cell in row:
                if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                    continue
                text = " ".join(block.text for block in _OdfReader(self.numbered_lists).read(cell) if block.text)
                repeated = cell.get(f"{_TABLE}number-columns-repeated", "1")
                cells += [text] * min(int(repeated) if repeated.isdecimal() else 1, _MAX_REPEATED_CELLS)
            rows.append(cells)
        self.paragraphs += sum(map(any, rows))  # A row counts as one paragraph.
        yield make_table(rows, first)


def _extract_text(node: Element) -> str:
    parts = [node.text or ""]
    for child in node:
        if child.tag == f"{_TEXT}s":
            count = child.get(f"{_TEXT}c", "1")
            parts.append(" " * min(int(count) if count.isdecimal() else 1, 80))
        elif child.tag == f"{_TEXT}tab":
            parts.append("\t")
        elif child.tag == f"{_TEXT}line-break":
            parts.append("\n")
        elif child.tag not in _SKIPPED_TAGS and child.tag != f"{_DRAW}frame":
            parts.append(_extract_text(child))
        parts.append(child.tail or "")
    return "".join(parts)
