"""Rich Text Format as chunks of its paragraphs. Headings are not marked in the format, so chunks have no heading path."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from suffice.search.files.blocks import Block, make_item, make_table, pack_blocks
from suffice.search.files.chunk import DocumentChunk, UnreadableFile

_LIST_ITEM = re.compile(r"(?:[•◦▪·*-]|(?P<number>\d{1,3})[.)]?)\t\s*")


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    from striprtf.striprtf import rtf_to_text

    if not data.lstrip().startswith(b"{\\rtf"):
        raise UnreadableFile(f"{path} is not a valid RTF document; save it again as .docx.")
    text: str = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    lines = [line.strip() for line in text.split("\n") if line.strip(" |\t")]
    return pack_blocks(_make_blocks(lines), path, "rtf")


def _make_blocks(lines: list[str]) -> Iterator[Block]:
    """Yield paragraphs; a line that ends in a bar is a row of a table, and a mark before a tab begins a list item."""
    number = 0
    for is_table, group in groupby(lines, key=lambda line: line.endswith("|")):
        paragraphs = list(group)
        if is_table:
            rows = [line.rstrip("|").split("|") for line in paragraphs]
            yield make_table(rows, number + 1)
            number += len(rows)
            continue
        for line in paragraphs:
            number += 1
            if item := _LIST_ITEM.match(line):
                mark = f"{item.group('number')}." if item.group("number") else "-"
                yield make_item(line[item.end() :], number, 0, mark)
            else:
                yield Block(line, number)
