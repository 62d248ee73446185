"""Read a file as chunks: the table of file types, and the choice of the reader.

The suffix of the name decides; a file without a known suffix is recognised by its content. Every failure is an
``UnreadableFile``. The package docstring explains how to add a file type. ``isolated`` calls this module in a child process.
"""

import gzip
import re
import zlib
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from pathlib import Path

from suffice.search.files import chat, code, html, notebook, pdf, plain, records, table, transcript
from suffice.search.files.chunk import Document, DocumentChunk, UnreadableFile, get_suffix, parse_suffixes
from suffice.search.files.decode import decode, load_bytes, read_limited

BINARY_SUFFIXES = parse_suffixes(
    """png jpg jpeg gif bmp tif tiff webp ico icns heic avif psd ai eps raw svgz mp3 wav flac ogg m4a aac mp4 m4v mkv
    mov avi webm wmv jar war whl egg apk ipa deb rpm dmg iso img so dylib dll
    a o obj lib exe bin class pyc pyo pyd wasm node ttf otf woff woff2 eot db sqlite sqlite3 mdb parquet arrow feather
    orc avro npy npz pkl pickle joblib pt pth onnx safetensors gguf h5 hdf5 mat rds rdata tflite pb swp ds_store
    keystore p12 pfx der mo gmo"""
)
# Documents that cannot be read, with advice for the user.
UNSUPPORTED_SUFFIXES = {
    **dict.fromkeys(parse_suffixes("doc pages wpd"), "save it as .docx or PDF"),
    **dict.fromkeys(parse_suffixes("ppt pps key"), "save it as .pptx or PDF"),
    **dict.fromkeys(parse_suffixes("numbers"), "save it as .xlsx or CSV"),
    **dict.fromkeys(parse_suffixes("mobi azw azw3"), "convert it to EPUB or PDF"),
    **dict.fromkeys(parse_suffixes("msg pst"), "save its messages as .eml or .mbox"),
    **dict.fromkeys(parse_suffixes("zip tar tgz tbz2 txz 7z rar"), "unpack it and name the folder"),
    **dict.fromkeys(parse_suffixes("bz2 xz zst lz4"), "unpack it, or compress it as .gz"),
}
# The names of formats, by suffix.
_FORMATS: dict[str, str] = {
    **dict.fromkeys(plain.SUFFIXES, "plain"),
    **dict.fromkeys(code.SUFFIXES | code.CONFIG_SUFFIXES, "code"),
    **dict.fromkeys(parse_suffixes("html htm xhtml"), "html"),
    **dict.fromkeys(parse_suffixes("csv tsv"), "table"),
    **dict.fromkeys(parse_suffixes("jsonl ndjson"), "records"),
    **dict.fromkeys(parse_suffixes("docx docm dotx"), "docx"),
    **dict.fromkeys(parse_suffixes("pptx pptm ppsx potx"), "pptx"),
    **dict.fromkeys(parse_suffixes("xlsx xlsm xlsb xls ods"), "spreadsheet"),
    **dict.fromkeys(parse_suffixes("odt ott odp otp"), "opendocument"),
    **dict.fromkeys(parse_suffixes("eml mbox mbx"), "mail"),
    **dict.fromkeys(BINARY_SUFFIXES, "binary"),
    **dict.fromkeys(UNSUPPORTED_SUFFIXES, "unsupported"),
    ".pdf": "pdf",
    ".rtf": "rtf",
    ".epub": "epub",
    ".ipynb": "notebook",
    ".json": "json",  # Also of CONFIG_SUFFIXES, unless it is a conversation.
}
# Each is read by the module of its name, which is imported only for such a file.
_BINARY_FORMATS = frozenset("docx epub mail opendocument pptx rtf spreadsheet".split())
PACKED_FORMATS = frozenset("pdf docx epub opendocument pptx spreadsheet".split())  # Files much larger than their text.
_HTML_START = re.compile(r"<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_JSONL_RECORD = re.compile(r'\s*\{[^\n]*"(?:text|contents)"\s*:[^\n]*\}\s*(?:\n|$)')
_SHEBANG = re.compile(r"#!.*\b(?:python|(?:sh|bash|zsh|ruby|perl|node)\b)")


def read_document(path: str | Path, use_ocr: bool = False) -> Document:
    """Return a file as a document of at least one chunk, with a remark if a part of it could not be read."""
    path = Path(path)
    format = guess_format(path.name)
    if format == "unsupported":
        suffix = find_unsupported_suffix(path.name)
        raise UnreadableFile(f"{path} cannot be read, because it is a {suffix} file; {UNSUPPORTED_SUFFIXES[suffix]}.")
    try:
        return read_data(load_bytes(path), str(path), use_ocr=use_ocr)
    except RecursionError as error:
        raise UnreadableFile(f"{path} is nested too deeply; save it again with the program that made it.") from error


def read_data(data: bytes, name: str, *, use_ocr: bool = False) -> Document:
    """Return the bytes of a file as a document; ``name`` is its path."""
    if get_suffix(name) == ".gz":
        return _read_compressed(data, name, use_ocr)
    format, path = guess_format(name), Path(name)
    if format == "pdf" or data.startswith(b"%PDF-"):
        return pdf.parse(data, path, use_ocr=use_ocr)
    if format in _BINARY_FORMATS:
        return Document(import_module(f"suffice.search.files.{format}").parse(data, path))
    return Document(read_text(decode(data, name), name))


def read_text(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of a text, such as standard input; the suffix of ``name`` decides the format."""
    chunks = _TEXT_READERS[_detect_text_format(text, name)](text, name) if text.strip() else []
    if not chunks:
        raise UnreadableFile(f"{name} is empty; give a text that is not.")
    return chunks


def guess_format(name: str) -> str | None:
    """Return the format of a file by the suffix of its name; ``None`` if the suffix is not known."""
    lowered = name.lower()
    if lowered.endswith(".gz"):
        return guess_format(lowered.removesuffix(".gz"))
    return _FORMATS.get(get_suffix(lowered))


def find_unsupported_suffix(name: str) -> str:
    """Return the suffix that makes a file unsupported, such as ``.tar`` of ``a.tar.gz``."""
    return get_suffix(name.lower().removesuffix(".gz"))


def _read_compressed(data: bytes, name: str, use_ocr: bool) -> Document:
    inner = name[: -len(".gz")]
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            unpacked = read_limited(file.read, name, "unpacks to more than")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableFile(f"{name} is not a complete gzip file ({error}); compress it again.") from error
    if get_suffix(inner) == ".gz":
        raise UnreadableFile(f"{name} is compressed twice; unpack it once.")
    try:
        return read_data(unpacked, inner, use_ocr=use_ocr)
    except UnreadableFile as error:
        raise type(error)(str(error).replace(inner, name, 1)) from error


def _detect_text_format(text: str, name: str) -> str:
    format = guess_format(name)
    if format is not None and format in _TEXT_READERS:
        return format
    if text.lstrip().startswith("<") and _HTML_START.search(text[:1024]):
        return "html"
    if text.lstrip()[:1] in ("{", "["):
        return "records" if _JSONL_RECORD.match(text) else "json"
    return "code" if _SHEBANG.match(text) else "plain"


_TEXT_READERS: dict[str, Callable[[str, str], list[DocumentChunk]]] = {
    "plain": lambda text, name: transcript.parse(text, name) or plain.parse(text, name),
    "code": code.parse,
    "html": html.parse,
    "table": table.parse,
    "notebook": notebook.parse,
    "json": lambda text, name: chat.parse(text) or code.parse(text, name),
    "records": records.parse,
}
