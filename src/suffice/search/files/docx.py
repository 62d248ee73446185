"""Word documents as pieces titled by the headings above them.

Paragraphs and table rows of the body in reading order; footnotes, headers and comments are not read.
"""

import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

from suffice.search.files.piece import MAX_BYTES, Piece, Unreadable, one_line, path_title
from suffice.text.chunks import LIMIT, TARGET, slices

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# RuntimeError: encrypted; NotImplementedError: an unknown compression; KeyError: the part is missing
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    ElementTree.ParseError,
    NotImplementedError,
    RuntimeError,
)
_LEVEL = re.compile(r"heading\s*(\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Paragraph:
    text: str
    level: int | None  # of a heading


def pieces(data: bytes, path: Path) -> list[Piece]:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            levels = _heading_levels(archive, path)
            body = _part(archive, "word/document.xml", path).find(f"{_W}body")
    except _BROKEN as error:
        raise Unreadable(f"{path} is not a valid Word document ({error}); save it again as .docx.") from error
    paragraphs = [] if body is None else [p for p in _paragraphs(body, levels) if p.text.strip()]
    if not paragraphs:
        raise Unreadable(f"{path} holds no text; give a document that does.")
    return list(_packed(paragraphs, path.name))


def _part(archive: zipfile.ZipFile, name: str, path: Path) -> ElementTree.Element:
    """One XML part; ``zipfile`` never yields more than the size it declares, so the check bounds a bomb."""
    if archive.getinfo(name).file_size > MAX_BYTES:
        raise Unreadable(f"{path} unpacks to more than {MAX_BYTES // 1024 // 1024} MB; split it into smaller files.")
    data = archive.read(name)
    if b"<!DOCTYPE" in data[:1024]:
        raise ElementTree.ParseError("it declares a document type, which Word never writes")
    return ElementTree.fromstring(data)


def _heading_levels(archive: zipfile.ZipFile, path: Path) -> dict[str, int]:
    """Style id to heading level. Ids are translated with Word's language, names are not."""
    if "word/styles.xml" not in archive.namelist():
        return {}
    levels = {}
    for style in _part(archive, "word/styles.xml", path).iter(f"{_W}style"):
        name = style.find(f"{_W}name")
        title = "" if name is None else name.get(f"{_W}val", "")
        if match := _LEVEL.fullmatch(title):
            levels[style.get(f"{_W}styleId", "")] = int(match.group(1))
        elif title.lower() == "title":
            levels[style.get(f"{_W}styleId", "")] = 0
    return levels


def _paragraphs(parent: ElementTree.Element, levels: dict[str, int]) -> Iterator[_Paragraph]:
    for child in parent:
        if child.tag == f"{_W}p":
            yield _Paragraph(_text(child), _level(child, levels))
        elif child.tag == f"{_W}tbl":
            for row in child.findall(f"{_W}tr"):
                cells = [" ".join(_text(p) for p in cell.iter(f"{_W}p")).strip() for cell in row.findall(f"{_W}tc")]
                yield _Paragraph(" | ".join(cells) if any(cells) else "", None)
        else:
            yield from _paragraphs(child, levels)


def _level(paragraph: ElementTree.Element, levels: dict[str, int]) -> int | None:
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    if style is None:
        return None
    name = style.get(f"{_W}val", "")
    match = _LEVEL.fullmatch(name)
    return levels.get(name, int(match.group(1)) if match else 0 if name == "Title" else None)


def _text(node: ElementTree.Element) -> str:
    if node.tag == f"{_W}t":
        return node.text or ""
    if node.tag == f"{_W}tab":
        return "\t"
    if node.tag in (f"{_W}br", f"{_W}cr"):
        return "\n"
    # A text box is stored twice, the second time for old versions of Word; pPr holds tab stops, which are no text.
    return "".join(_text(child) for child in node if child.tag not in (_FALLBACK, f"{_W}pPr"))


def _packed(paragraphs: list[_Paragraph], name: str) -> Iterator[Piece]:
    path: list[tuple[int, str]] = []
    texts: list[str] = []
    first, body = 1, False
    for number, paragraph in enumerate(paragraphs, start=1):
        size = sum(len(text) + 1 for text in texts)
        full = size + len(paragraph.text) > (TARGET if size >= TARGET // 2 else LIMIT)
        # A heading parts what has a body; a heading that follows a heading stays with it.
        if texts and ((paragraph.level is not None and body) or full):
            yield from _pieces(texts, path, name, first)
            texts, body = [], False
        if not texts:
            first = number
        if paragraph.level is None:
            body = True
        else:
            path = [
                *[(level, text) for level, text in path if level < paragraph.level],
                (paragraph.level, paragraph.text),
            ]
        texts.append(paragraph.text)
    yield from _pieces(texts, path, name, first)


def _pieces(texts: list[str], path: list[tuple[int, str]], name: str, first: int) -> Iterator[Piece]:
    title = one_line(path_title([text for _, text in path], name))
    for part in slices("\n".join(texts)):
        yield Piece(part, title, "docx", record=f"para-{first}")
