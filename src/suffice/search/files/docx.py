"""Word documents as chunks titled by the headings above them.

Paragraphs and table rows of the body are read in order; footnotes, headers and comments are not read.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

from suffice.search.files.chunk import (
    MAX_BYTES,
    DocumentChunk,
    HeadingPath,
    UnreadableFile,
    enter_heading,
    format_heading_path,
)
from suffice.text.chunks import MAX_CHARS, TARGET_CHARS, split_text

_WORD_NS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK_TAG = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# RuntimeError: encrypted; NotImplementedError: an unknown compression; KeyError: a missing part.
_PARSE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    ElementTree.ParseError,
    NotImplementedError,
    RuntimeError,
)
_HEADING_STYLE = re.compile(r"heading\s*(\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Paragraph:
    text: str
    level: int | None  # The level of a heading.


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    """Return the chunks of a Word document."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            levels = _read_heading_levels(archive, path)
            body = _read_part(archive, "word/document.xml", path).find(f"{_WORD_NS}body")
    except _PARSE_ERRORS as error:
        raise UnreadableFile(f"{path} is not a valid Word document ({error}); save it again as .docx.") from error
    paragraphs = [] if body is None else [p for p in _iter_paragraphs(body, levels) if p.text.strip()]
    if not paragraphs:
        raise UnreadableFile(f"{path} contains no text; give a document that does.")
    return list(_pack_paragraphs(paragraphs, path.name))


def _read_part(archive: zipfile.ZipFile, name: str, path: Path) -> ElementTree.Element:
    """Parse one XML part. ``zipfile`` never yields more than the declared size, so the check also stops zip bombs."""
    if archive.getinfo(name).file_size > MAX_BYTES:
        raise UnreadableFile(
            f"{path} unpacks to more than {MAX_BYTES // 1024 // 1024} MB; split it into smaller files."
        )
    data = archive.read(name)
    if b"<!DOCTYPE" in data[:1024]:
        raise ElementTree.ParseError("it declares a document type, which Word does not write")
    return ElementTree.fromstring(data)


def _read_heading_levels(archive: zipfile.ZipFile, path: Path) -> dict[str, int]:
    """Return the heading level of each style id. Word translates the ids into its language, but not the names."""
    if "word/styles.xml" not in archive.namelist():
        return {}
    levels = {}
    for style in _read_part(archive, "word/styles.xml", path).iter(f"{_WORD_NS}style"):
        name = style.find(f"{_WORD_NS}name")
        title = "" if name is None else name.get(f"{_WORD_NS}val", "")
        if match := _HEADING_STYLE.fullmatch(title):
            levels[style.get(f"{_WORD_NS}styleId", "")] = int(match.group(1))
        elif title.lower() == "title":
            levels[style.get(f"{_WORD_NS}styleId", "")] = 0
    return levels


def _iter_paragraphs(parent: ElementTree.Element, levels: dict[str, int]) -> Iterator[_Paragraph]:
    for child in parent:
        if child.tag == f"{_WORD_NS}p":
            yield _Paragraph(_extract_text(child), _get_heading_level(child, levels))
        elif child.tag == f"{_WORD_NS}tbl":
            for row in child.findall(f"{_WORD_NS}tr"):
                cells = [
                    " ".join(_extract_text(p) for p in cell.iter(f"{_WORD_NS}p")).strip()
                    for cell in row.findall(f"{_WORD_NS}tc")
                ]
                yield _Paragraph(" | ".join(cells) if any(cells) else "", None)
        else:
            yield from _iter_paragraphs(child, levels)


def _get_heading_level(paragraph: ElementTree.Element, levels: dict[str, int]) -> int | None:
    style = paragraph.find(f"{_WORD_NS}pPr/{_WORD_NS}pStyle")
    if style is None:
        return None
    name = style.get(f"{_WORD_NS}val", "")
    match = _HEADING_STYLE.fullmatch(name)
    return levels.get(name, int(match.group(1)) if match else 0 if name == "Title" else None)


def _extract_text(node: ElementTree.Element) -> str:
    if node.tag == f"{_WORD_NS}t":
        return node.text or ""
    if node.tag == f"{_WORD_NS}tab":
        return "\t"
    if node.tag in (f"{_WORD_NS}br", f"{_WORD_NS}cr"):
        return "\n"
    # A text box is stored twice, the second time for old versions of Word; pPr holds tab stops, which are not text.
    return "".join(_extract_text(child) for child in node if child.tag not in (_FALLBACK_TAG, f"{_WORD_NS}pPr"))


def _pack_paragraphs(paragraphs: list[_Paragraph], name: str) -> Iterator[DocumentChunk]:
    path: HeadingPath = []
    texts: list[str] = []
    first, has_body = 1, False
    for number, paragraph in enumerate(paragraphs, start=1):
        size = sum(len(text) + 1 for text in texts)
        is_full = size + len(paragraph.text) > (TARGET_CHARS if size >= TARGET_CHARS // 2 else MAX_CHARS)
        # A heading starts a new chunk, unless only headings precede it.
        if texts and ((paragraph.level is not None and has_body) or is_full):
            yield from _make_chunks(texts, path, name, first)
            texts, has_body = [], False
        if not texts:
            first = number
        if paragraph.level is None:
            has_body = True
        else:
            path = enter_heading(path, paragraph.level, paragraph.text)
        texts.append(paragraph.text)
    yield from _make_chunks(texts, path, name, first)


def _make_chunks(texts: list[str], path: HeadingPath, name: str, first: int) -> Iterator[DocumentChunk]:
    title = format_heading_path(path, name)
    for part in split_text("\n".join(texts)):
        yield DocumentChunk(part, title, "docx", record=f"para-{first}")
