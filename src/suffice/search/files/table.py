"""CSV and TSV files as chunks of whole rows, titled by the file and its columns.

Rows stay unchanged lines. A quoted field that spans several lines is not split if it fits into a chunk.
"""

import csv
from collections.abc import Sequence
from pathlib import PurePath

from suffice.search.files.chunk import DocumentChunk, to_document_chunk
from suffice.text.chunks import chunk_lines, split_lines
from suffice.text.plain import to_one_line

_MAX_TITLE_CHARS = 300


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of a CSV or TSV file."""
    lines = split_lines(text)
    delimiter = _guess_delimiter(lines)
    columns, continuation_lines = _scan_rows(lines, delimiter)
    title = f"{PurePath(name).name}: {', '.join(columns)}"[:_MAX_TITLE_CHARS]
    return [to_document_chunk(chunk, title, "csv") for chunk in chunk_lines(lines, no_break_before=continuation_lines)]


def _guess_delimiter(lines: Sequence[str]) -> str:
    header = next((line for line in lines if line.strip()), "")
    return max("\t,;|", key=header.count)


def _scan_rows(lines: Sequence[str], delimiter: str) -> tuple[list[str], set[int]]:
    """Return the cells of the first row, and the lines that continue a row."""
    columns: list[str] = []
    continuation_lines: set[int] = set()
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    row_start = 1
    try:
        for row in reader:
            columns = columns or [to_one_line(cell) for cell in row if cell.strip()]
            continuation_lines.update(range(row_start + 1, reader.line_num + 1))
            row_start = reader.line_num + 1
    except csv.Error:
        return columns, continuation_lines  # A field exceeds csv's limit: the rest may be split at any line.
    return columns, continuation_lines
