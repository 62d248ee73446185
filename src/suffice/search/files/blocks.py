"""Paragraphs, list items, tables and slides of Office documents, as light Markdown in chunks below their headings."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from suffice.search.files.chunk import ChunkKind, DocumentChunk, HeadingPath, UnreadableFile
from suffice.search.files.prose import Prose
from suffice.text.chunks import split_text
from suffice.text.plain import to_one_line


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading with its ``level``, a list item, or a table of ``rows``.

    ``number`` counts the paragraphs of the file.
    """

    text: str
    number: int = 0
    level: int | None = None
    is_item: bool = False
    rows: tuple[tuple[str, ...], ...] = ()


class Slide(NamedTuple):
    title: str
    blocks: list[Block]
    notes: str


def make_item(text: str, number: int, depth: int, mark: str = "-") -> Block:
    """Return a list item; its further lines are indented."""
    indent = "  " * depth
    return Block(f"{indent}{mark} " + text.strip().replace("\n", f"\n{indent}  "), number, is_item=True)


def make_table(rows: Iterable[Iterable[str]], number: int = 0) -> Block:
    """Return a table without its empty rows; its text is empty if all are."""
    filled = [row for row in (tuple(map(to_one_line, cells)) for cells in rows) if any(row)]
    # A single column is a frame around text, not a table.
    is_frame = all(len(row) == 1 for row in filled)
    return Block("\n\n".join(" ".join(row) for row in filled), number, rows=() if is_frame else tuple(filled))


def pack_blocks(blocks: Iterable[Block], path: Path, kind: ChunkKind) -> list[DocumentChunk]:
    """Return the chunks of a document. Their record is the number of the first paragraph, as in ``para-7``."""
    sections: list[list[Block]] = [[]]
    for block in blocks:
        # A heading begins a section, unless only headings precede it.
        if block.level is not None and any(above.level is None for above in sections[-1]):
            sections.append([])
        if block.text.strip():
            sections[-1].append(block)
    headings = HeadingPath()
    found = []
    for section in sections:
        for block in section:
            headings = headings if block.level is None else headings.enter(block.level, block.text)
        prose, title = _to_prose(section), headings.format(path.name)
        for chunk in prose.chunk():
            record = f"para-{prose.find_source(chunk)[0]}"
            found.append(DocumentChunk(chunk.text, title, kind, record=record))
    if not found:
        raise UnreadableFile(f"{path} contains no text; give a document that does.")
    return found


def pack_slides(slides: Iterable[Slide], path: Path, kind: ChunkKind) -> list[DocumentChunk]:
    """Return the chunks of a presentation, with the number of the slide."""
    found = []
    for number, slide in enumerate(slides, start=1):
        name = f"{path.name}, slide {number}"
        title = to_one_line(f"{name}: {slide.title}" if slide.title else name)
        notes = Block(f"Notes: {slide.notes}" if slide.notes.strip() else "")
        prose = _to_prose([Block(to_one_line(slide.title), level=1), *slide.blocks, notes])
        found += [DocumentChunk(chunk.text, title, kind, section=f"slide {number}") for chunk in prose.chunk()]
    if not found:
        raise UnreadableFile(f"{path} contains no text, only pictures; export it as text or run OCR on it first.")
    return found


def _to_prose(blocks: Iterable[Block]) -> Prose:
    prose = Prose([])
    for block in blocks:
        source = (block.number, block.number)
        lines = []
        for line in block.text.split("\n"):  # Each in parts that fit into a chunk, with its indent.
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + part for part in split_text(line)] or [""]
        if not block.text.strip():
            continue
        if block.level is not None:
            prose.append_heading(block.level, to_one_line(block.text), source)
        elif block.rows:
            prose.append_table([(row, source) for row in block.rows])
        else:
            prose.append(lines, "item" if block.is_item else "paragraph", source)
    return prose
