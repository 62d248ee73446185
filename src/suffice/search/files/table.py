"""CSV and TSV files as records: each row is a line ``name: Bob · age: 5``, at the number it has in the file.

A row stands alone in its chunk, or with its neighbours if they are short. A quoted field may span several lines; so does its
row then.

What all rows have together follows as chunks of their own: how many rows hold each value of a column, and the range of its
numbers. A question such as "How many airports are in AK?" is answered by no single row.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from suffice.search.files.chunk import DocumentChunk
from suffice.search.files.prose import format_record
from suffice.text.chunks import MAX_LINE_CHARS, split_lines, split_text
from suffice.text.plain import to_one_line

_MAX_CHUNK_CHARS = 600  # Rows are dense; a chunk of many has too many topics to be found by one.
_MAX_TITLE_CHARS = 300
_MAX_NAME_CHARS = 60  # Of a cell that names a row or a group of rows.
_MAX_CELL_CHARS = MAX_LINE_CHARS * 1000
_MIN_ROWS = 4  # A reader counts fewer at a glance.
_MAX_VALUES = 100  # A column with more values names the rows; it does not group them.
_MIN_ROWS_PER_VALUE = 2
_MAX_RANGES = 3  # Number columns whose range is given for each value of another column.
_NUMERIC_SHARE = 0.9  # A column of numbers may have a few gaps such as "n/a".
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
        found += _summarize_columns(columns, [row.cells for row in rows[1:]], file)
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
    return len(set(filled)) == len(filled) and not any(_to_number(cell) is not None for cell in filled)


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
    keys = [to_one_line(row.cells[key], _MAX_NAME_CHARS) for row in records if key < len(row.cells)]
    if not keys:
        return file
    if len(keys) == 1:
        return f"{file} > {keys[0]}"[:_MAX_TITLE_CHARS]
    return f"{file} > rows {records[0].first}–{records[-1].last}"


def _summarize_columns(columns: Sequence[str], rows: Sequence[Sequence[str]], file: str) -> Iterator[DocumentChunk]:
    """Yield chunks of counted records, such as ``state: AK · rows: 263``, below what all rows have together."""
    if len(rows) < _MIN_ROWS or not any(columns):
        return
    where = f"all {len(rows)} rows"
    numbers = {i: found for i, name in enumerate(columns) if name and (found := _read_numbers(i, rows))}
    total = [f"rows: {len(rows)} · columns: {', '.join(filter(None, columns))}"]
    ranges = [_describe_range(columns[i], i, values, rows) for i, values in numbers.items()]
    yield from _pack([*total, *ranges], f"{file} > all rows counted", where)
    for index, name in enumerate(columns):
        groups = _group_by_value(index, rows) if name else {}
        if groups:
            others = [(columns[i], values) for i, values in numbers.items() if i != index][:_MAX_RANGES]
            listed = f"{name}, {len(groups)} values: {', '.join(groups)}"
            lines = [_describe_group(name, value, members, others) for value, members in groups.items()]
            yield from _pack([listed, *lines], f"{file} > rows counted by {name}", where)


def _to_number(cell: str) -> float | None:
    """Return a cell as a number; ``None`` if it is none.

    >>> [_to_number(cell) for cell in ("12", "1,5 %", "AK", "nan")]
    [12.0, 1.5, None, None]
    """
    try:
        number = float(cell.replace(",", ".").strip("%$€£ "))
    except ValueError:
        return None
    return number if number - number == 0 else None  # Neither "nan" nor "inf".


def _read_numbers(index: int, rows: Sequence[Sequence[str]]) -> dict[int, float]:
    """Return the number of each row in a column; empty if it is not a column of numbers."""
    filled = {row: cells[index] for row, cells in enumerate(rows) if index < len(cells) and cells[index].strip()}
    values = {row: number for row, cell in filled.items() if (number := _to_number(cell)) is not None}
    return values if len(values) >= _NUMERIC_SHARE * len(filled) else {}


def _describe_range(name: str, index: int, values: Mapping[int, float], rows: Sequence[Sequence[str]]) -> str:
    """Return the highest and the lowest value of a column, each with the first cells of its row."""
    found, ordered = [], sorted(values, key=values.__getitem__)
    for row in (ordered[-1], ordered[0]):
        named = [to_one_line(cell, _MAX_NAME_CHARS) for i, cell in enumerate(rows[row]) if i != index and cell.strip()]
        found.append(f"{rows[row][index]} ({', '.join(named[:2])})")
    return format_record([f"highest {name}", f"lowest {name}"], found)


def _group_by_value(index: int, rows: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Return the rows of each value, the most frequent value first; empty if the column does not group the rows."""
    groups: dict[str, list[int]] = defaultdict(list)
    for row, cells in enumerate(rows):
        if index < len(cells) and cells[index].strip():
            groups[to_one_line(cells[index], _MAX_NAME_CHARS)].append(row)
            if len(groups) > _MAX_VALUES:
                return {}
    filled = sum(map(len, groups.values()))
    if len(groups) < 2 or filled < _MIN_ROWS_PER_VALUE * len(groups):
        return {}
    return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def _describe_group(
    name: str, value: str, members: Sequence[int], numbers: Sequence[tuple[str, Mapping[int, float]]]
) -> str:
    names, cells = [name, "rows"], [value, str(len(members))]
    for column, values in numbers:
        if inside := [values[row] for row in members if row in values]:
            names += [f"highest {column}", f"lowest {column}"]
            cells += [f"{max(inside):.12g}", f"{min(inside):.12g}"]
    return format_record(names, cells)


def _pack(lines: Sequence[str], title: str, where: str) -> Iterator[DocumentChunk]:
    group: list[str] = []
    for line in lines:
        if group and sum(map(len, group)) + len(line) > _MAX_CHUNK_CHARS:
            yield DocumentChunk("\n".join(group), title, "csv", section=where)
            group = []
        group.append(line)
    yield DocumentChunk("\n".join(group), title, "csv", section=where)
