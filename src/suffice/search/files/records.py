"""JSONL collections, one ``{"id", "title", "text"}`` on each line, as chunks with the record's own id.

The names ``_id`` and ``contents``, which other collections use, are accepted too. A record without an id is named after its
line (``line-7``). An empty text is skipped; a missing one is an error. A record without a title that says who speaks is a
message of a conversation. The file is streamed.

A file whose first record has neither text nor message may be the export of a mail or chat program: its messages are read, and
its other records (users, channels) are skipped.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from suffice.search.files import chat
from suffice.search.files.chunk import MAX_BYTES, ChunkKind, DocumentChunk, UnreadableFile
from suffice.search.files.decode import make_open_error
from suffice.text.chunks import split_text
from suffice.text.plain import to_one_line


def parse_file(path: Path) -> Iterator[DocumentChunk]:
    """Yield the chunks of a ``.jsonl`` or ``.jsonl.gz`` file while reading it."""
    zipped = path.name.lower().endswith(".gz")
    try:
        with gzip.open(path, "rb") if zipped else path.open("rb") as file:
            yield from parse(_read_bounded_lines(file, path), str(path))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableFile(f"{path} is not a complete gzip file ({error}); compress it again.") from error
    except OSError as error:
        raise make_open_error(path, error) from error


def parse(lines: Iterable[bytes], name: str) -> Iterator[DocumentChunk]:
    """Yield the chunks of the records on these lines."""
    line_by_id: dict[str, int] = {}
    rows = (
        (number, data)
        for number, line in enumerate(lines, start=1)
        if (data := line.removeprefix(b"\xef\xbb\xbf").strip())
    )
    for number, data in rows:
        where = f"{name}, line {number}"
        record = _decode_record(data, where)
        if not line_by_id and _get_text(record) is None and chat.parse_message(record) is None:
            following = (_decode_record(data, f"{name}, line {number}") for number, data in rows)
            yield from _parse_messages(chain([record], following), where)
            return
        key, title, text, kind = _parse_record(record, where, number)
        if key in line_by_id:
            raise UnreadableFile(
                f"{name}, line {number} repeats the id {key!r} of line {line_by_id[key]}; ids must be unique."
            )
        line_by_id[key] = number
        for part, part_text in enumerate(split_text(text), start=1):
            yield DocumentChunk(part_text, title, kind, record=key, id=key if part == 1 else f"{key}#{part}")
    if not line_by_id:
        raise UnreadableFile(f"{name} is empty; give a file that contains records.")


def _parse_messages(records: Iterable[dict[str, Any]], where: str) -> list[DocumentChunk]:
    chunks = chat.parse_messages(records)
    if not chunks:
        raise _make_no_text_error(where)
    return chunks


def _decode_record(data: bytes, where: str) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(data.decode("utf-8", errors="replace"))
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


def _parse_record(record: dict[str, Any], where: str, number: int) -> tuple[str, str, str, ChunkKind]:
    """Return the id, the title, the text and the kind of a record."""
    key = _get_record_id(record, where, number)
    if (message := chat.parse_message(record)) is not None:
        return key, *message, "chat"
    text = _get_text(record)
    if text is None:
        raise _make_no_text_error(where)
    title = record.get("title")
    return key, to_one_line(title) if isinstance(title, str) and title.strip() else key, text, "record"


def _get_record_id(record: dict[str, Any], where: str, number: int) -> str:
    key = record.get("id", record.get("_id"))
    if key is None or key == "":
        return f"line-{number}"
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise UnreadableFile(f"{where} has an id that is neither text nor a whole number; use one of them.")
    return str(key)


def _read_bounded_lines(file: BinaryIO | gzip.GzipFile, path: Path) -> Iterator[bytes]:
    """Yield the lines up to the size limit; for a compressed file the unpacked size counts."""
    left = MAX_BYTES
    while line := file.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise UnreadableFile(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MB; split it into smaller files.")
        yield line
