"""A file's text in pieces, by the reader that its name or its content asks for.

It chooses; how a format is cut and titled is each reader's business. Every failure is an ``Unreadable``.
"""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from suffice.search.files import chat, code, docx, html, notebook, pdf, plain, records, table, transcript
from suffice.search.files.decode import decode, load_bytes
from suffice.search.files.formats import (
    UNSUPPORTED,
    FileFormat,
    get_suffix,
    guess_format,
)
from suffice.search.files.piece import DocumentChunk, UnreadableFile

_HTML_START = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_JSONL_RECORD = re.compile(r'\s*\{[^\n]*"(?:text|contents)"\s*:[^\n]*\}\s*(?:\n|$)')
_PYTHON_SHEBANG = re.compile(r"#!.*\bpython")
_SCRIPT_SHEBANG = re.compile(r"#!.*\b(?:sh|bash|zsh|ruby|perl|node)\b")


def read_file(path: Path) -> list[DocumentChunk]:
    """The pieces of a file, in order; at least one."""
    family = guess_format(path.name)
    if family == "foreign":
        suffix = get_suffix(path.name)
        raise UnreadableFile(f"{path} cannot be read, because it is a {suffix} file; {UNSUPPORTED[suffix]}.")
    if family == "records":
        return list(records.parse_file(path))
    data = load_bytes(path)
    if family == "pdf" or data.startswith(b"%PDF-"):
        return pdf.parse(data, path)
    if family == "docx":
        return docx.parse(data, path)
    return read_text(decode(data, str(path)), str(path))


def read_text(text: str, name: str) -> list[DocumentChunk]:
    """The pieces of a text that is at hand (standard input); ``name`` titles it and its suffix names the format."""
    if not text.strip():
        raise UnreadableFile(f"{name} is empty; give a text that holds something.")
    found = _READERS[_detect_format(text, name)](text, name)
    if not found:
        raise UnreadableFile(f"{name} is empty; give a text that holds something.")
    return found


def _detect_format(text: str, name: str) -> FileFormat:
    family = guess_format(name)
    if family in _READERS and family is not None:
        return family
    if text.lstrip().startswith("<") and _HTML_START.search(text[:1024]):
        return "html"
    if text.lstrip()[:1] in ("{", "["):
        return "records" if _JSONL_RECORD.match(text) else "json"
    return "code" if _PYTHON_SHEBANG.match(text) or _SCRIPT_SHEBANG.match(text) else "plain"


def _parse_prose(text: str, name: str) -> list[DocumentChunk]:
    return transcript.parse(text, name) or plain.parse(text, name)


def _parse_json(text: str, name: str) -> list[DocumentChunk]:
    return chat.parse(text) or plain.parse(text, name)


def _parse_records(text: str, name: str) -> list[DocumentChunk]:
    return list(records.parse(BytesIO(text.encode("utf-8", "replace")), name))


_READERS: dict[FileFormat, Callable[[str, str], list[DocumentChunk]]] = {
    "plain": _parse_prose,
    "code": code.parse,
    "html": html.parse,
    "table": table.parse,
    "notebook": notebook.parse,
    "json": _parse_json,
    "records": _parse_records,
}
