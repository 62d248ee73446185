"""Spreadsheets (Excel and OpenDocument) as one chunk for each row: ``column: value`` on each line.

The first row that names its columns is the header; without one, columns have their letters. Formulas are read as the
values that the program stored. A very wide row is split.
"""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

from suffice.search.files.chunk import ChunkKind, DocumentChunk, UnreadableFile, get_suffix
from suffice.text.chunks import split_text
from suffice.text.plain import to_one_line

_HEADER_SEARCH_ROWS = 10  # Titles and remarks stand above a table in at most so many rows.
_Row = tuple[int, list[str], list[Any]]  # The number of the row, its cells as text, and as they are.


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    kind: ChunkKind = "ods" if get_suffix(path.name) == ".ods" else "xlsx"
    try:
        workbook = CalamineWorkbook.from_filelike(BytesIO(data))
        found = [
            chunk
            for name in workbook.sheet_names
            for chunk in _read_sheet(name, _list_rows(workbook.get_sheet_by_name(name)), path.name, kind)
        ]
    except PasswordError as error:
        raise UnreadableFile(f"{path} is encrypted; save a copy without a password.") from error
    except CalamineError as error:
        raise UnreadableFile(f"{path} is not a valid spreadsheet ({error}); save it again as .xlsx.") from error
    if not found:
        raise UnreadableFile(f"{path} contains no cells with a value; give a spreadsheet that does.")
    return found


def _list_rows(sheet: Any) -> list[_Row]:
    """Return the rows that have a value. Cells to the left of the first used column are left out."""
    first, _ = sheet.start or (0, 0)
    rows = []
    for number, cells in enumerate(sheet.to_python(skip_empty_area=True), start=first + 1):
        texts = [_format_value(cell) for cell in cells]
        if any(texts):
            rows.append((number, texts, cells))
    return rows


def _read_sheet(sheet: str, rows: Sequence[_Row], file: str, kind: ChunkKind) -> Iterator[DocumentChunk]:
    header = _find_header(rows)
    columns = rows[header][1] if header is not None else []
    title = to_one_line(f"{file}, sheet {sheet}")
    for index, (number, texts, _) in enumerate(rows):
        if index == header and len(rows) > index + 1:  # Else it is a form without entries.
            continue
        if header is None or index <= header or len(texts) == 1:
            text = " | ".join(filter(None, texts))
        else:
            text = "\n".join(f"{columns[i] or f'column {i + 1}'}: {cell}" for i, cell in enumerate(texts) if cell)
        for part in split_text(text):
            yield DocumentChunk(part, title, kind, section=to_one_line(f"sheet {sheet} row {number}"))


def _find_header(rows: Sequence[_Row]) -> int | None:
    """Return the index of the row that names the columns: texts only, and no fewer than in the rows below."""
    for index, (_, texts, cells) in enumerate(rows[:_HEADER_SEARCH_ROWS]):
        named = [i for i, text in enumerate(texts) if text]
        if len(named) < 2 or not all(isinstance(cells[i], str) for i in named):
            continue
        if len({texts[i] for i in named}) < len(named):
            continue
        below = [sum(map(bool, other)) for _, other, _ in rows[index + 1 : index + 1 + _HEADER_SEARCH_ROWS]]
        if not below or len(named) >= max(below) - 1:
            return index
    return None


def _format_value(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.12g}"
        case datetime():
            has_time = value.time() != time()
            return value.isoformat(" ", "minutes") if has_time else value.date().isoformat()
        case date() | time() | timedelta():
            return str(value)
        case _:
            return to_one_line(str(value))
