"""Paragraphs, list items and tables of a document as light Markdown, packed into chunks below their headings."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from suffice.search.files.chunk import ChunkKind, DocumentChunk, HeadingPath, enter_heading, format_heading_path
from suffice.text.chunks import MAX_CHARS, TARGET_CHARS, split_text
from suffice.text.plain import to_one_line


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading with its ``level``, a list item or a table. ``number`` counts the paragraphs of the file."""

    text: str
    number: int
    level: int | None = None
    is_item: bool = False


def format_item(text: str, depth: int, mark: str = "-") -> str:
    """Return a list item; its further lines are indented."""
    indent = "  " * depth
    return f"{indent}{mark} " + text.strip().replace("\n", f"\n{indent}  ")


def format_tables(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table in Markdown; a long one as several tables, each with the header."""
    cleaned = [[to_one_line(cell).replace("|", "\\|") for cell in row] for row in rows]
    cleaned = [row for row in cleaned if any(row)]
    if not cleaned:
        return []
    width = max(len(row) for row in cleaned)
    if width == 1:  # A frame around text, not a table.
        return ["\n\n".join(row[0].replace("\\|", "|") for row in cleaned)]
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in cleaned]
    header = f"{lines[0]}\n|{'---|' * width}"
    tables, body = [], ""
    for line in lines[1:]:
        if body and len(header) + len(body) + len(line) > TARGET_CHARS:
            tables.append(header + body)
            body = ""
        body += f"\n{line}"
    return [*tables, header + body]


def join_blocks(blocks: Iterable[Block]) -> str:
    """Return the blocks as Markdown: list items close together, everything else with a blank line between."""
    text = ""
    was_item = False
    for block in blocks:
        mark = "#" * max(1, min(block.level, 6)) + " " if block.level is not None else ""
        text += ("\n" if was_item and block.is_item else "\n\n") if text else ""
        text += mark + block.text
        was_item = block.is_item
    return text


def pack_blocks(blocks: Iterable[Block], name: str, kind: ChunkKind) -> Iterator[DocumentChunk]:
    """Yield the chunks of a document. Their record is the number of the first paragraph, as in ``para-7``."""
    path: HeadingPath = []
    group: list[Block] = []
    size, has_body = 0, False
    for block in blocks:
        is_full = size + len(block.text) > (TARGET_CHARS if size >= TARGET_CHARS // 2 else MAX_CHARS)
        # A heading starts a new chunk, unless only headings precede it.
        if group and ((block.level is not None and has_body) or is_full):
            yield from _make_chunks(group, path, name, kind)
            group, size, has_body = [], 0, False
        if block.level is None:
            has_body = True
        else:
            path = enter_heading(path, block.level, block.text)
        group.append(block)
        size += len(block.text) + 1
    if group:
        yield from _make_chunks(group, path, name, kind)


def _make_chunks(group: Sequence[Block], path: HeadingPath, name: str, kind: ChunkKind) -> Iterator[DocumentChunk]:
    title = format_heading_path(path, name)
    for part in split_text(join_blocks(group)):
        yield DocumentChunk(part, title, kind, record=f"para-{group[0].number}")
