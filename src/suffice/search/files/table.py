"""CSV and TSV files as pieces of whole rows, titled by the file and its columns.

Rows stay verbatim lines; a quoted field that spans lines is not cut while it fits. Cells are not interpreted.
"""

import csv
from collections.abc import Sequence
from pathlib import PurePath

from suffice.search.files.piece import DocumentChunk, to_document_chunk
from suffice.text.chunks import chunk_lines, split_lines

_MAX_TITLE_CHARS = 300


def parse(text: str, name: str) -> list[DocumentChunk]:
    lines = split_lines(text)
    delimiter = _guess_delimiter(lines)
    columns, glued = _scan_rows(lines, delimiter)
    title = f"{PurePath(name).name}: {', '.join(columns)}"
    return [
        to_document_chunk(chunk, title[:_MAX_TITLE_CHARS], "csv") for chunk in chunk_lines(lines, no_break_before=glued)
    ]


def _guess_delimiter(lines: Sequence[str]) -> str:
    header = next((line for line in lines if line.strip()), "")
    return max("\t,;|", key=header.count)


def _scan_rows(lines: Sequence[str], delimiter: str) -> tuple[list[str], set[int]]:
    """The first row's cells, and the lines that continue a row begun above."""
    columns: list[str] = []
    glued: set[int] = set()
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    row_starts = 1
    try:
        for row in reader:
            columns = columns or [" ".join(cell.split()) for cell in row if cell.strip()]
            glued.update(range(row_starts + 1, reader.line_num + 1))
            row_starts = reader.line_num + 1
    except csv.Error:
        return columns, glued  # a field beyond csv's limit: the rest is cut at any line
    return columns, glued
