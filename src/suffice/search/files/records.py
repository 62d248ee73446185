"""JSONL collections, one ``{"id", "title", "text"}`` a line, as pieces that carry the record's own id.

``_id`` and ``contents``, as other collections call them, are understood too. A record without an id goes by its line
(``line-7``); an empty text is passed over, a missing one is an error. The file is streamed.
"""

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from suffice.search.files.decode import make_open_error
from suffice.search.files.piece import MAX_BYTES, DocumentChunk, UnreadableFile, collapse_whitespace
from suffice.text.chunks import split_text


def parse_file(path: Path) -> Iterator[DocumentChunk]:
    """The pieces of a ``.jsonl`` or ``.jsonl.gz`` file, while it is being read."""
    zipped = path.name.lower().endswith(".gz")
    try:
        with gzip.open(path, "rb") if zipped else path.open("rb") as file:
            yield from parse(_read_bounded_lines(file, path), str(path))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableFile(f"{path} is not a whole gzip file ({error}); compress it again.") from error
    except OSError as error:
        raise make_open_error(path, error) from error


def parse(lines: Iterable[bytes], name: str) -> Iterator[DocumentChunk]:
    seen: dict[str, int] = {}
    number = 0
    for number, line in enumerate(lines, start=1):
        data = line.removeprefix(b"\xef\xbb\xbf").strip()
        if not data:
            continue
        key, title, text = _parse_record(data, f"{name}, line {number}", number)
        if key in seen:
            raise UnreadableFile(
                f"{name}, line {number} repeats the id {key!r} of line {seen[key]}; ids must be unique."
            )
        seen[key] = number
        for part, words in enumerate(split_text(text), start=1):
            yield DocumentChunk(words, title, "record", record=key, id=key if part == 1 else f"{key}#{part}")
    if not seen:
        raise UnreadableFile(f"{name} is empty; give a file that holds records.")


def _parse_record(data: bytes, where: str, number: int) -> tuple[str, str, str]:
    try:
        record = msgspec.json.decode(data.decode("utf-8", errors="replace"))
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableFile(f"{where} is not valid JSON ({error}); mend or remove the line.") from error
    if not isinstance(record, dict):
        raise UnreadableFile(f'{where} is not a JSON object; write {{"id": …, "title": …, "text": …}}.')
    text = record.get("text", record.get("contents"))
    if not isinstance(text, str):
        raise UnreadableFile(f'{where} has no text; give the record a string "text".')
    title = record.get("title")
    key = _get_record_id(record, where, number)
    return key, collapse_whitespace(title) if isinstance(title, str) and title.strip() else key, text


def _get_record_id(record: dict[str, Any], where: str, number: int) -> str:
    key = record.get("id", record.get("_id"))
    if key is None or key == "":
        return f"line-{number}"
    if isinstance(key, bool) or not isinstance(key, str | int):
        raise UnreadableFile(f"{where} has an id that is neither text nor a whole number; give it one that is.")
    return str(key)


def _read_bounded_lines(file: BinaryIO | gzip.GzipFile, path: Path) -> Iterator[bytes]:
    """The lines, up to the size every file may have; of a compressed file it is the unpacked size that counts."""
    left = MAX_BYTES
    while line := file.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise UnreadableFile(f"{path} is larger than {MAX_BYTES // 1024 // 1024} MB; split it into smaller files.")
        yield line
