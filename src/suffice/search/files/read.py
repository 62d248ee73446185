"""A file's text in pieces, by the reader that its name or its content asks for.

It chooses; how a format is cut and titled is each reader's business. Every failure is an ``Unreadable``.
"""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from suffice.search.files import chat, code, docx, html, notebook, pdf, plain, records, table, transcript
from suffice.search.files.decode import decode, load
from suffice.search.files.formats import FOREIGN, Family, family_of, suffix_of
from suffice.search.files.piece import Piece, Unreadable

_HTML = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_RECORD = re.compile(r'\s*\{[^\n]*"(?:text|contents)"\s*:[^\n]*\}\s*(?:\n|$)')
_PYTHON = re.compile(r"#!.*\bpython")
_SHELL = re.compile(r"#!.*\b(?:sh|bash|zsh|ruby|perl|node)\b")


def read(path: Path) -> list[Piece]:
    """The pieces of a file, in order; at least one."""
    family = family_of(path.name)
    if family == "foreign":
        suffix = suffix_of(path.name)
        raise Unreadable(f"{path} cannot be read, because it is a {suffix} file; {FOREIGN[suffix]}.")
    if family == "records":
        return list(records.stream(path))
    data = load(path)
    if family == "pdf" or data.startswith(b"%PDF-"):
        return pdf.pieces(data, path)
    if family == "docx":
        return docx.pieces(data, path)
    return read_text(decode(data, str(path)), str(path))


def read_text(text: str, name: str) -> list[Piece]:
    """The pieces of a text that is at hand (standard input); ``name`` titles it and its suffix names the format."""
    if not text.strip():
        raise Unreadable(f"{name} is empty; give a text that holds something.")
    found = _READERS[_family(text, name)](text, name)
    if not found:
        raise Unreadable(f"{name} is empty; give a text that holds something.")
    return found


def _family(text: str, name: str) -> Family:
    family = family_of(name)
    if family in _READERS and family is not None:
        return family
    if text.lstrip().startswith("<") and _HTML.search(text[:1024]):
        return "html"
    if text.lstrip()[:1] in ("{", "["):
        return "records" if _RECORD.match(text) else "json"
    return "code" if _PYTHON.match(text) or _SHELL.match(text) else "plain"


def _prose(text: str, name: str) -> list[Piece]:
    return transcript.pieces(text, name) or plain.pieces(text, name)


def _json(text: str, name: str) -> list[Piece]:
    return chat.pieces(text) or plain.pieces(text, name)


def _records(text: str, name: str) -> list[Piece]:
    return list(records.pieces(BytesIO(text.encode("utf-8", "replace")), name))


_READERS: dict[Family, Callable[[str, str], list[Piece]]] = {
    "plain": _prose,
    "code": code.pieces,
    "html": html.pieces,
    "table": table.pieces,
    "notebook": notebook.pieces,
    "json": _json,
    "records": _records,
}
