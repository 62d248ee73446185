"""Read a file as chunks: the table of file types, and the choice of the reader.

The suffix of the name decides; a file without a known suffix is recognised by its content. Every failure is an
``UnreadableFile``. The package docstring explains how to add a file type.
"""

import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Literal

from suffice.search.files import chat, code, docx, html, notebook, pdf, plain, records, table, transcript
from suffice.search.files.chunk import DocumentChunk, UnreadableFile, get_suffix, parse_suffixes
from suffice.search.files.decode import decode, load_bytes

FileFormat = Literal[
    "plain", "code", "html", "pdf", "docx", "table", "notebook", "json", "records", "binary", "unsupported"
]

BINARY_SUFFIXES = parse_suffixes(
    """png jpg jpeg gif bmp tif tiff webp ico icns heic avif psd ai eps raw svgz mp3 wav flac ogg m4a aac mp4 m4v mkv
    mov avi webm wmv zip gz bz2 xz zst 7z rar tar tgz tbz2 txz jar war whl egg apk ipa deb rpm dmg iso img so dylib dll
    a o obj lib exe bin class pyc pyo pyd wasm node ttf otf woff woff2 eot db sqlite sqlite3 mdb parquet arrow feather
    orc avro npy npz pkl pickle joblib pt pth onnx safetensors gguf h5 hdf5 mat rds rdata tflite pb swp ds_store
    keystore p12 pfx der mo gmo"""
)
# Documents that cannot be read, with advice for the user.
UNSUPPORTED_SUFFIXES = {
    **dict.fromkeys(parse_suffixes("doc rtf odt pages"), "save it as .docx or PDF"),
    **dict.fromkeys(parse_suffixes("ppt pptx odp key"), "export it as PDF"),
    **dict.fromkeys(parse_suffixes("xls xlsx ods"), "export it as CSV"),
    **dict.fromkeys(parse_suffixes("epub mobi"), "convert it to HTML or PDF"),
}
_FORMATS: dict[str, FileFormat] = {
    **dict.fromkeys(plain.MARKDOWN_SUFFIXES | parse_suffixes("txt text rst log"), "plain"),
    **dict.fromkeys(code.SUFFIXES, "code"),
    **dict.fromkeys(parse_suffixes("html htm xhtml"), "html"),
    **dict.fromkeys(parse_suffixes("csv tsv"), "table"),
    **dict.fromkeys(parse_suffixes("jsonl ndjson"), "records"),
    **dict.fromkeys(BINARY_SUFFIXES, "binary"),
    **dict.fromkeys(UNSUPPORTED_SUFFIXES, "unsupported"),
    ".pdf": "pdf",
    ".docx": "docx",
    ".ipynb": "notebook",
    ".json": "json",
}
_HTML_START = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_JSONL_RECORD = re.compile(r'\s*\{[^\n]*"(?:text|contents)"\s*:[^\n]*\}\s*(?:\n|$)')
_SHEBANG = re.compile(r"#!.*\b(?:python|(?:sh|bash|zsh|ruby|perl|node)\b)")


def read_file(path: Path) -> list[DocumentChunk]:
    """Return the chunks of a file in order; at least one."""
    format = guess_format(path.name)
    if format == "unsupported":
        suffix = get_suffix(path.name)
        raise UnreadableFile(f"{path} cannot be read, because it is a {suffix} file; {UNSUPPORTED_SUFFIXES[suffix]}.")
    if format == "records":
        return list(records.parse_file(path))
    data = load_bytes(path)
    if format == "pdf" or data.startswith(b"%PDF-"):
        return pdf.parse(data, path)
    if format == "docx":
        return docx.parse(data, path)
    return read_text(decode(data, str(path)), str(path))


def read_text(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of a text, such as standard input; the suffix of ``name`` decides the format."""
    chunks = _TEXT_READERS[_detect_text_format(text, name)](text, name) if text.strip() else []
    if not chunks:
        raise UnreadableFile(f"{name} is empty; give a text that is not.")
    return chunks


def guess_format(name: str) -> FileFormat | None:
    """Return the format of a file by the suffix of its name; ``None`` if the suffix is not known."""
    lowered = name.lower()
    if lowered.endswith((".jsonl.gz", ".ndjson.gz")):
        return "records"
    return _FORMATS.get(get_suffix(lowered))


def _detect_text_format(text: str, name: str) -> FileFormat:
    format = guess_format(name)
    if format is not None and format in _TEXT_READERS:
        return format
    if text.lstrip().startswith("<") and _HTML_START.search(text[:1024]):
        return "html"
    if text.lstrip()[:1] in ("{", "["):
        return "records" if _JSONL_RECORD.match(text) else "json"
    return "code" if _SHEBANG.match(text) else "plain"


def _parse_prose(text: str, name: str) -> list[DocumentChunk]:
    return transcript.parse(text, name) or plain.parse(text, name)


def _parse_json(text: str, name: str) -> list[DocumentChunk]:
    return chat.parse(text) or plain.parse(text, name)


def _parse_records(text: str, name: str) -> list[DocumentChunk]:
    return list(records.parse(BytesIO(text.encode("utf-8", "replace")), name))


_TEXT_READERS: dict[FileFormat, Callable[[str, str], list[DocumentChunk]]] = {
    "plain": _parse_prose,
    "code": code.parse,
    "html": html.parse,
    "table": table.parse,
    "notebook": notebook.parse,
    "json": _parse_json,
    "records": _parse_records,
}
