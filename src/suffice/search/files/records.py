"""JSONL collections, one ``{"id", "title", "text"}`` on each line, as chunks with the record's own id.

The names ``_id`` and ``contents``, which other collections use, are accepted too. A record without an id is named after its
line (``line-7``). An empty text is skipped; a missing one is an error.

A file whose first record says who speaks, or has no text, may be the export of a mail or chat program: its messages are read as
``chat`` does.
"""

from typing import Any

import msgspec

from suffice.search.files import chat
from suffice.search.files.chunk import DocumentChunk, UnreadableFile
from suffice.text.chunks import split_lines, split_text
from suffice.text.plain import to_one_line


def parse(text: str, name: str) -> list[DocumentChunk]:
    lines = enumerate(split_lines(text), start=1)
    records = [(number, _decode_record(line, f"{name}, line {number}")) for number, line in lines if line.strip()]
    number, first = records[0]
    if _get_text(first) is None or chat.is_message(first):
        chunks = chat.parse_messages(record for _, record in records)
        if not chunks:
            raise _make_no_text_error(f"{name}, line {number}")
        return chunks
    line_by_id: dict[str, int] = {}
    found: list[DocumentChunk] = []
    for number, record in records:
        key, title, body = _parse_record(record, f"{name}, line {number}", number)
        if key in line_by_id:
            raise UnreadableFile(
                f"{name}, line {number} repeats the id {key!r} of line {line_by_id[key]}; ids must be unique."
            )
        line_by_id[key] = number
        for part, part_text in enumerate(split_text(body), start=1):
            id = key if part == 1 else f"{key}#{part}"
            found.append(DocumentChunk(part_text, title, "record", record=key, id=id))
    return found


def _decode_record(line: str, where: str) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableFile(f"{where} is not valid JSON ({error}); fix or remove the line.") from error
    if not isinstance(record, dict):
        raise UnreadableFile(f'{where} is not a JSON object; write {{"id": …, "title": …, "text": …}}.')
    return record


def _get_text(record: dict[str, Any]) -> str | None:
    text = record.get("text", record.get("contents"))
    return text if isinstance(text, str) else None


def _make_no_text_error(where: str) -> UnreadableFile:
    return UnreadableFile(f'{where} has no text; give the record a string "text".')


def _parse_record(record: dict[str, Any], where: str, number: int) -> tuple[str, str, str]:
    text = _get_text(record)
    if text is None:
        raise _make_no_text_error(where)
    key = record.get("id", record.get("_id"))
    if key is None or key == "":
        key = f"line-{number}"
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise UnreadableFile(f"{where} has an id that is neither text nor a whole number; use one of them.")
    title = record.get("title")
    return str(key), to_one_line(title) if isinstance(title, str) and title.strip() else str(key), text
