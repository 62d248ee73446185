"""Word documents as chunks titled by the headings above them.

Paragraphs, lists and tables of the body are read in order; footnotes, headers and comments are not read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from suffice.search.files.blocks import Block, make_item, make_table, pack_blocks
from suffice.search.files.chunk import DocumentChunk
from suffice.search.files.package import Package, open_package

_WORD_NS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK_TAG = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SKIPPED_TAGS = frozenset({_FALLBACK_TAG, *(f"{_WORD_NS}{name}" for name in ("pPr", "delText", "instrText"))})
_HEADING_STYLE = re.compile(r"heading\s*(\d)", re.IGNORECASE)
_UNNUMBERED = ("bullet", "none", "")


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    with open_package(data, path, "Word document") as package:
        body = package.read_xml("word/document.xml").find(f"{_WORD_NS}body")
        reader = _BodyReader(_read_styles(package), _read_numbered_lists(package))
        return pack_blocks([] if body is None else reader.read(body), path, "docx")


@dataclass(frozen=True, slots=True)
class _Style:
    """What a paragraph style says: the level of a heading, and the list that its paragraphs are items of."""

    level: int | None = None
    list_id: str = ""


@dataclass(slots=True)
class _BodyReader:
    """Reads paragraphs in order; numbers paragraphs and the items of lists."""

    styles: dict[str, _Style]
    numbered_lists: frozenset[tuple[str, int]]
    paragraphs: int = 0
    item_counts: dict[tuple[str, int], int] = field(default_factory=dict)

    def read(self, parent: Element) -> Iterator[Block]:
        for child in parent:
            if child.tag == f"{_WORD_NS}p":
                yield self._read_paragraph(child)
            elif child.tag == f"{_WORD_NS}tbl":
                first = self.paragraphs + 1
                cells = ([cell.iter(f"{_WORD_NS}p") for cell in _find_all(row, "tc")] for row in _find_all(child, "tr"))
                rows = [[" ".join(" ".join(map(_extract_text, cell)).split()) for cell in row] for row in cells]
                self.paragraphs += sum(map(any, rows))  # A row counts as one paragraph.
                yield make_table(rows, first)
            else:
                yield from self.read(child)

    def _read_paragraph(self, paragraph: Element) -> Block:
        text = _extract_text(paragraph).strip()
        if text:
            self.paragraphs += 1
        name = _read_value(paragraph, "pPr/pStyle")
        style = self.styles.get(name) or _Style(_parse_heading_level(name))
        if style.level is not None:
            return Block(" ".join(text.split()), self.paragraphs, style.level)
        list_id = _read_value(paragraph, "pPr/numPr/numId") or style.list_id
        depth = min(_to_int(_read_value(paragraph, "pPr/numPr/ilvl")), 8)
        if not text or list_id in ("", "0"):
            return Block(text, self.paragraphs)
        mark = self._count_item(list_id, depth) if (list_id, depth) in self.numbered_lists else "-"
        return make_item(text, self.paragraphs, depth, mark)

    def _count_item(self, list_id: str, depth: int) -> str:
        self.item_counts[list_id, depth] = self.item_counts.get((list_id, depth), 0) + 1
        for key in [key for key in self.item_counts if key[0] == list_id and key[1] > depth]:
            del self.item_counts[key]
        return f"{self.item_counts[list_id, depth]}."


def _find_all(node: Element, name: str) -> Iterator[Element]:
    """Yield the children with this name, also those inside content controls."""
    for child in node:
        if child.tag == f"{_WORD_NS}{name}":
            yield child
        elif child.tag in (f"{_WORD_NS}sdt", f"{_WORD_NS}sdtContent", f"{_WORD_NS}ins"):
            yield from _find_all(child, name)


def _read_styles(package: Package) -> dict[str, _Style]:
    """Return the styles by id. Word translates the ids into its language, but not the names."""
    if "word/styles.xml" not in package.names:
        return {}
    return {
        style.get(f"{_WORD_NS}styleId", ""): _Style(
            _parse_heading_level(_read_value(style, "name")), _read_value(style, "pPr/numPr/numId")
        )
        for style in package.read_xml("word/styles.xml").iter(f"{_WORD_NS}style")
    }


def _parse_heading_level(style_name: str) -> int | None:
    match = _HEADING_STYLE.fullmatch(style_name)
    return int(match.group(1)) if match else 0 if style_name.lower() == "title" else None


def _read_numbered_lists(package: Package) -> frozenset[tuple[str, int]]:
    """Return the lists, by id and depth, whose items have numbers instead of bullets."""
    if "word/numbering.xml" not in package.names:
        return frozenset()
    root = package.read_xml("word/numbering.xml")
    numbered: dict[str, list[int]] = {}
    for abstract in root.iter(f"{_WORD_NS}abstractNum"):
        for level in abstract.iter(f"{_WORD_NS}lvl"):
            if _read_value(level, "numFmt") not in _UNNUMBERED:
                key = abstract.get(f"{_WORD_NS}abstractNumId", "")
                numbered.setdefault(key, []).append(_to_int(level.get(f"{_WORD_NS}ilvl", "")))
    found = set()
    for number in root.iter(f"{_WORD_NS}num"):
        key = _read_value(number, "abstractNumId")
        found |= {(number.get(f"{_WORD_NS}numId", ""), depth) for depth in numbered.get(key, [])}
    return frozenset(found)


def _read_value(node: Element, path: str) -> str:
    """Return the value of the element at a path such as ``pPr/pStyle``; empty if there is none."""
    found = node.find("/".join(f"{_WORD_NS}{name}" for name in path.split("/")))
    return "" if found is None else found.get(f"{_WORD_NS}val", "")


def _to_int(value: str) -> int:
    return int(value) if value.isdecimal() else 0


def _extract_text(node: Element) -> str:
    if node.tag == f"{_WORD_NS}t":
        return node.text or ""
    if node.tag == f"{_WORD_NS}tab":
        return "\t"
    if node.tag in (f"{_WORD_NS}br", f"{_WORD_NS}cr"):
        return "\n"
    # A text box is stored twice, the second time for old versions of Word; pPr holds tab stops, which are not text.
    return "".join(_extract_text(child) for child in node if child.tag not in _SKIPPED_TAGS)
