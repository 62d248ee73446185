"""What all rows of a table have together: how many rows hold each value of a column, and the range of its numbers.

A question such as "How many airports are in AK?" is answered by no single row. So a table gets a few chunks of records that
were counted over all rows when it was read.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from suffice.search.files.chunk import DocumentChunk
from suffice.search.files.prose import format_record
from suffice.text.plain import to_one_line

_MIN_ROWS = 4  # A reader counts fewer at a glance.
_MAX_VALUES = 100  # A column with more values names the rows; it does not group them.
_MIN_ROWS_PER_VALUE = 2
_MAX_RANGES = 3  # Number columns whose range is given for each value of another column.
_NUMERIC_SHARE = 0.9  # A column of numbers may have a few gaps such as "n/a".
_MAX_CELL_CHARS = 60
_MAX_CHUNK_CHARS = 600


def summarize_columns(columns: Sequence[str], rows: Sequence[Sequence[str]], file: str) -> Iterator[DocumentChunk]:
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


def to_number(cell: str) -> float | None:
    """Return a cell as a number; ``None`` if it is none.

    >>> [to_number(cell) for cell in ("12", "1,5 %", "AK", "nan")]
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
    values = {row: number for row, cell in filled.items() if (number := to_number(cell)) is not None}
    return values if len(values) >= _NUMERIC_SHARE * len(filled) else {}


def _describe_range(name: str, index: int, values: Mapping[int, float], rows: Sequence[Sequence[str]]) -> str:
    """Return the highest and the lowest value of a column, each with the first cells of its row."""
    found, ordered = [], sorted(values, key=values.__getitem__)
    for row in (ordered[-1], ordered[0]):
        named = [to_one_line(cell, _MAX_CELL_CHARS) for i, cell in enumerate(rows[row]) if i != index and cell.strip()]
        found.append(f"{rows[row][index]} ({', '.join(named[:2])})")
    return format_record([f"highest {name}", f"lowest {name}"], found)


def _group_by_value(index: int, rows: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Return the rows of each value, the most frequent value first; empty if the column does not group the rows."""
    groups: dict[str, list[int]] = defaultdict(list)
    for row, cells in enumerate(rows):
        if index < len(cells) and cells[index].strip():
            groups[to_one_line(cells[index], _MAX_CELL_CHARS)].append(row)
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
