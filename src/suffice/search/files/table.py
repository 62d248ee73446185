"""CSV and TSV files as records: each row is a line ``name: Bob · age: 5``, at the number it has in the file.

A row stands alone in its chunk, or with its neighbours if they are short. A quoted field may span several lines; so does its
row then. What all rows have together follows as chunks of its own (``columns.py``).
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from suffice.search.files.chunk import DocumentChunk
from suffice.search.files.columns import summarize_columns, to_number
from suffice.search.files.prose import format_record
from suffice.text.chunks import MAX_LINE_CHARS, split_lines, split_text
from suffice.text.plain import to_one_line

_MAX_CHUNK_CHARS = 600  # Rows are dense; a chunk of many has too many topics to be found by one.
_MAX_TITLE_CHARS = 300
_MAX_KEY_CHARS = 60
_MAX_CELL_CHARS = MAX_LINE_CHARS * 1000
_KEY_COLUMNS = ("name", "title", "id", "key", "label", "code", "symbol")


@dataclass(frozen=True, slots=True)
class _Row:
    """The cells of a row and the lines it takes up."""

    first: int
    last: int
    cells: list[str]


def parse(text: str, name: str) -> list[DocumentChunk]:
    rows = list(_iter_rows(split_lines(text)))
    columns = [to_one_line(cell) for cell in rows[0].cells] if rows and _is_header(rows[0].cells) else []
    if columns and len(rows) == 1:
        columns = []
    lowered = [column.lower() for column in columns]  # The column that names a record is called so, or is the first.
    key = next((lowered.index(name) for name in _KEY_COLUMNS if name in lowered), 0)
    file = PurePath(name).name
    found: list[DocumentChunk] = []
    for group in _group_rows([(row, _format_row(row, columns, rows[0])) for row in rows]):
        title = _make_title(file, [row for row, _ in group], key, rows[0] if columns else None)
        chunk_text = "\n".join(text for _, text in group)
        lines = (group[0][0].first, group[-1][0].last)
        parts = split_text(chunk_text) if len(chunk_text) > MAX_LINE_CHARS else [chunk_text]
        found += [DocumentChunk(part, title, "csv", lines=lines) for part in parts]
    if columns:
        found += summarize_columns(columns, [row.cells for row in rows[1:]], file)
    return found


def _iter_rows(lines: Sequence[str]) -> Iterator[_Row]:
    header = next((line for line in lines if line.strip()), "")
    delimiter = max("\t,;|", key=header.count)
    previous_limit = csv.field_size_limit(_MAX_CELL_CHARS)
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    last = 0
    try:
        for cells in reader:
            first, last = last + 1, reader.line_num
            if any(cell.strip() for cell in cells):
                yield _Row(first, last, [cell.strip(" \t") for cell in cells])
    except csv.Error:  # A field exceeds the limit: a quote that is never closed. The rest is read line by line.
        for number in range(last + 1, len(lines) + 1):
            if lines[number - 1].strip():
                yield _Row(number, number, [lines[number - 1]])
    finally:
        csv.field_size_limit(previous_limit)


def _is_header(cells: Sequence[str]) -> bool:
    """Whether the first row names the columns: it has different texts and no number."""
    filled = [cell for cell in cells if cell]
    return len(set(filled)) == len(filled) and not any(to_number(cell) is not None for cell in filled)


def _format_row(row: _Row, columns: Sequence[str], header: _Row) -> str:
    if columns and row is header:
        return f"Columns: {', '.join(column for column in columns if column)}" + "\n" * (row.last - row.first)
    text = format_record(columns, row.cells)
    return text + "\n" * (row.last - row.first - text.count("\n"))


def _group_rows(rows: Iterable[tuple[_Row, str]]) -> list[list[tuple[_Row, str]]]:
    """Return the rows that share a chunk. A blank line parts them, because it would have no line in the text."""
    groups: list[list[tuple[_Row, str]]] = []
    size = 0
    for row, text in rows:
        size += len(text) + 1
        if not groups or row.first != groups[-1][-1][0].last + 1 or size > _MAX_CHUNK_CHARS:
            groups.append([])
            size = len(text) + 1
        groups[-1].append((row, text))
    return groups


def _make_title(file: str, rows: Sequence[_Row], key: int, header: _Row | None) -> str:
    records = [row for row in rows if row is not header]
    keys = [to_one_line(row.cells[key], _MAX_KEY_CHARS) for row in records if key < len(row.cells)]
    if not keys:
        return file
    if len(keys) == 1:
        return f"{file} > {keys[0]}"[:_MAX_TITLE_CHARS]
    return f"{file} > rows {records[0].first}–{records[-1].last}"
