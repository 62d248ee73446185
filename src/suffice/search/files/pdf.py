"""PDF files as chunks with page numbers, and a page as a picture with the places of words in it.

PDFium extracts the text and draws the page; ``ocr`` reads scanned pages if the caller wants it.
"""

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, takewhile
from pathlib import Path
from threading import Lock
from typing import Any

from suffice.errors import describe_install
from suffice.search.files import ocr
from suffice.search.files.chunk import MAX_BYTES, Document, DocumentChunk, ScannedFile, UnreadableFile, make_size_error
from suffice.search.files.decode import load_bytes
from suffice.text.chunks import split_text
from suffice.text.plain import replace_surrogates, to_one_line

Box = tuple[float, float, float, float]
_PDFIUM_LOCK = Lock()  # PDFium is not thread-safe, not even across documents.
_SENTENCE_ENDS = frozenset(".!?:")
_HEADING_WIDTH = 0.7  # Of the longest line of the page.
_HEADING_WORDS = 10
_MIN_SECTION_CHARS = 200  # A shorter section stays with the next one.
_EDGE_LINES = 2  # So many lines at the top and bottom of a page may be running titles.
_MIN_RUNNING = 3  # Pages.
_MAX_RUNNING_CHARS = 200
_MAX_DIGITS = 6  # A longer number is not a page's.
_PICTURE_WIDTH = 1200  # Pixels.
_MAX_PICTURE_PIXELS = 3_000_000  # A page may be many metres long.


@dataclass(frozen=True, slots=True)
class _PdfPage:
    number: int
    text: str
    is_scanned: bool = False  # It has pictures and no text of its own.
    is_damaged: bool = False  # Its fonts do not say what some of its signs are.


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as a PNG file, and the boxes of words: left, top, width and height as fractions of the page."""

    png: bytes
    width: int
    height: int
    boxes: list[Box]


def parse(data: bytes, path: Path, *, max_chars: int | None = None, use_ocr: bool = False) -> Document:
    """Return a PDF file as a document; with ``max_chars``, only the pages up to so many characters are read."""
    import pypdfium2

    with _PDFIUM_LOCK:
        try:
            with pypdfium2.PdfDocument(data) as document:
                title = document.get_metadata_value("Title").strip("\x00 ")
                pages = _drop_running_lines(list(_read_pages(document, path, max_chars, use_ocr)))
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower():
                raise UnreadableFile(f"{path} is encrypted; save a copy without a password.") from error
            raise UnreadableFile(f"{path} is not a valid PDF; export it again.") from error
    name = to_one_line(title or path.name)
    chunks = [
        DocumentChunk(part, f"{name}, page {page.number}{' (OCR)' if page.is_scanned else ''}", "pdf", page=page.number)
        for page in pages
        for section in _split_sections(page.text)
        for part in split_text(section)
    ]
    unread = [page.number for page in pages if page.is_scanned and not page.text]
    if chunks:
        damaged = [page.number for page in pages if page.is_damaged]
        return Document(chunks, _describe_unread(unread, damaged), needs_ocr=bool(unread) and not use_ocr)
    if not unread:
        raise UnreadableFile(f"{path} contains no text; run OCR on it first if its pages show some.")
    if use_ocr:
        raise UnreadableFile(f"{path} looks scanned, and OCR finds no text in its pictures; leave it out.")
    raise ScannedFile(
        f"{path} looks scanned: its pages are pictures without text; run OCR on it first, or: {describe_install('ocr')}"
    )


def render_page(path: str, number: int, quotes: Sequence[tuple[str, str]]) -> PagePicture:
    """Return a page with the boxes of quotes, each given with the longer stretch in which it stands."""
    import pypdfium2

    with _PDFIUM_LOCK:
        try:
            with pypdfium2.PdfDocument(load_bytes(Path(path))) as document:
                page = document[number - 1]
                width, height = page.get_size()
                scale = min(_PICTURE_WIDTH / width, (_MAX_PICTURE_PIXELS / width / height) ** 0.5)
                bitmap = page.render(scale=scale, rev_byteorder=True)
                boxes = _find_boxes(page, quotes, bitmap)
                return PagePicture(_encode_png(bitmap.to_numpy()), bitmap.width, bitmap.height, boxes)
        except (pypdfium2.PdfiumError, IndexError, ZeroDivisionError) as error:
            raise UnreadableFile(f"Page {number} of {path} cannot be drawn ({error}).") from error


def _encode_png(pixels: Any) -> bytes:
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row[:, :3].tobytes() for row in pixels)  # Each row begins with its filter: none.
    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes((8, 2, 0, 0, 0))
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(body).to_bytes(4, "big") + name + body + zlib.crc32(name + body).to_bytes(4, "big") for name, body in parts
    )


def _find_boxes(page: Any, quotes: Sequence[tuple[str, str]], bitmap: Any) -> list[Box]:
    """Find quotes by their letters and digits, because PDFium adds line ends and marks hyphens."""
    from pypdfium2.raw import FPDFText_GetUnicode

    textpage, place = page.get_textpage(), bitmap.get_posconv(page).to_bitmap
    chars = [chr(FPDFText_GetUnicode(textpage, i)) for i in range(textpage.count_chars())]
    positions = [i for i, char in enumerate(chars) if char.isalnum()]
    text = "".join(chars[i] for i in positions)
    lines: list[Box] = []
    for quote, stretch in quotes:
        needle, context = ("".join(filter(str.isalnum, part)) for part in (quote, stretch))
        at = text.find(needle, max(0, text.find(context)))
        if not needle or at < 0:
            continue
        first, last = positions[at], positions[at + len(needle) - 1]
        boxes: list[Box] = []
        for i in range(textpage.count_rects(first, last - first + 1)):
            left, bottom, right, top = textpage.get_rect(i)
            (x1, x2), (y1, y2) = (sorted(ends) for ends in zip(place(left, bottom), place(right, top), strict=True))
            if boxes and y1 < boxes[-1][3] and y2 > boxes[-1][1]:  # A line has a rectangle for each of its fonts.
                x, y, right_end, low_end = boxes.pop()
                x1, y1, x2, y2 = min(x, x1), min(y, y1), max(right_end, x2), max(low_end, y2)
            boxes.append((x1, y1, x2, y2))
        lines += boxes
    width, height = bitmap.width, bitmap.height
    return [(x1 / width, y1 / height, (x2 - x1) / width, (y2 - y1) / height) for x1, y1, x2, y2 in lines]


def _read_pages(document: Any, path: Path, max_chars: int | None, use_ocr: bool) -> Iterator[_PdfPage]:
    from pypdfium2.raw import FPDF_PAGEOBJ_IMAGE, FPDFText_HasUnicodeMapError

    recognizer: ocr.PageRecognizer | None = None
    size = 0
    for index in range(len(document)):
        page = document[index]
        textpage = page.get_textpage()
        text = _clean_text(textpage.get_text_bounded())
        is_damaged = any(FPDFText_HasUnicodeMapError(textpage, i) == 1 for i in range(textpage.count_chars()))
        textpage.close()
        pictures = () if text.strip() else page.get_objects(filter=[FPDF_PAGEOBJ_IMAGE], max_depth=3)
        is_scanned = next(iter(pictures), None) is not None
        if is_scanned and use_ocr:
            recognizer = recognizer or ocr.PageRecognizer()
            if recognizer.has_time():
                text = _clean_text(recognizer.read(page.render(scale=ocr.RENDER_SCALE).to_numpy()))
        page.close()
        size += len(text)
        if size > MAX_BYTES:
            raise make_size_error(path, "unpacks to more than")
        yield _PdfPage(index + 1, text.strip(), is_scanned, is_damaged)
        if max_chars is not None and size >= max_chars:
            return


def _drop_running_lines(pages: list[_PdfPage]) -> list[_PdfPage]:
    """Drop lines at the top and bottom that most pages have but for their number, and outermost ones with that number."""
    lines = [page.text.split("\n") for page in pages]
    tops = _count_running([own[:_EDGE_LINES] for own in lines])
    bottoms = _count_running([own[: -_EDGE_LINES - 1 : -1] for own in lines])
    texts = ("\n".join(own[a : len(own) - b]).strip() for own, a, b in zip(lines, tops, bottoms, strict=True))
    return [replace(page, text=text or page.text) for page, text in zip(pages, texts, strict=True)]


def _count_running(edges: Sequence[Sequence[str]]) -> list[int]:
    """Return how many lines at the edge of each page are running ones; the outermost line comes first."""
    pages = [
        [_list_marks(line.strip(), i == 0, page) for i, line in enumerate(edge)] for page, edge in enumerate(edges)
    ]
    counts = Counter(chain.from_iterable(set().union(*marks) for marks in pages))
    least = {str: len(pages) / 2, int: len(pages) * 3 / 4}  # A number beside any words may be that of a table's row.
    running = {mark for mark, count in counts.items() if count >= _MIN_RUNNING and count > least[type(mark)]}
    return [len(list(takewhile(running.intersection, marks))) for marks in pages]


def _list_marks(line: str, is_outermost: bool, page: int) -> set[str | int]:
    """Return what a running line has in common with others: its text, in which the page's number differs as the pages do."""
    parts = ["".join(run) for _, run in groupby(line[:_MAX_RUNNING_CHARS], str.isdecimal)]
    numbers = [i for i, part in enumerate(parts) if part.isdecimal() and len(part) < _MAX_DIGITS]
    texts = ("\0".join(["", *parts[:i], str(int(parts[i]) - page), *parts[i + 1 :]]) for i in numbers)
    ends = (int(word) - page for word in {*line.split()[:1], *line.split()[-1:]} & {parts[i] for i in numbers})
    return {line, *texts, *(ends if is_outermost else ())}


def _describe_unread(scanned: Sequence[int], damaged: Sequence[int]) -> str:
    hint = "" if ocr.is_installed() else f"; install OCR with: {describe_install('ocr')}"
    remarks = [f"{_name_pages(scanned)} scanned and could not be read{hint}"] if scanned else []
    if damaged:
        remarks.append(
            f"{_name_pages(damaged)} damaged: a font does not say what some signs are, so figures may be wrong"
        )
    return "; ".join(remarks)


def _name_pages(pages: Sequence[int]) -> str:
    return f"page {pages[0]} looks" if len(pages) == 1 else f"{len(pages)} pages, from page {pages[0]} on, look"


def _split_sections(text: str) -> list[str]:
    """Split a page at its headings, which PDFium does not mark, and put a blank line after each of them.

    A heading is a run of short lines without a full stop, between the end of a sentence and a line that begins one, or a short
    line with a number such as 2.1. Without the blank line it would run into the sentence below it. Short sections stay with
    the next one.
    """
    lines = text.split("\n")
    full_width = max(map(len, lines))
    sections: list[list[str]] = [[]]
    run: list[str] = []
    for line in lines:
        begins_sentence = line[:1].isupper() or line[:1].isdigit()
        section = sections[-1]
        is_after_sentence = bool(run) or not section or section[-1].rstrip()[-1:] in _SENTENCE_ENDS
        is_short = len(line.rstrip()) < _HEADING_WIDTH * full_width and len(line.split()) <= _HEADING_WORDS
        is_open = line.rstrip()[-1:].isalnum() or (_is_numbered(line) and line.rstrip()[-1:] not in _SENTENCE_ENDS)
        if begins_sentence and is_after_sentence and is_short and is_open:
            run.append(line)
            continue
        if run and (begins_sentence or _is_numbered(run[-1])):
            if sum(map(len, section)) >= _MIN_SECTION_CHARS:
                section = []
                sections.append(section)
            section += [*([""] if section else []), *run, ""]
        else:
            section += run
        run = []
        section.append(line)
    sections[-1] += run
    return ["\n".join(section) for section in sections]


def _is_numbered(line: str) -> bool:
    number, _, title = line.partition(" ")
    return "." in number[1:-1] and number.replace(".", "").isdecimal() and title[:1].isalpha()


def _clean_text(text: str) -> str:
    # PDFium marks a hyphen at the end of a line with U+FFFE or U+0002; in print it is a hyphen.
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-").replace("\x02", "-")
    return replace_surrogates(text.replace("\x00", ""))  # Broken font tables yield lone surrogates.
