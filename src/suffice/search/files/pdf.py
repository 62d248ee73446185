"""PDF files as chunks with page numbers. PDFium extracts the text; scanned pages are not read."""

from pathlib import Path
from threading import Lock

from suffice.search.files.chunk import DocumentChunk, UnreadableFile
from suffice.text.chunks import split_text
from suffice.text.plain import to_one_line

_PDFIUM_LOCK = Lock()  # PDFium is not thread-safe, not even across documents.


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    """Return the chunks of a PDF file."""
    import pypdfium2

    with _PDFIUM_LOCK:
        try:
            title, pages = _read_pages(data)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower():
                raise UnreadableFile(f"{path} is encrypted; save a copy without a password.") from error
            raise UnreadableFile(f"{path} is not a valid PDF ({error}); export it again.") from error
    found = [
        DocumentChunk(part, to_one_line(f"{title or path.name}, page {number}"), "pdf", page=number)
        for number, text in enumerate(pages, start=1)
        for part in split_text(text)
    ]
    if not found:
        raise UnreadableFile(f"{path} contains no text, only images; run OCR on it first.")
    return found


def _read_pages(data: bytes) -> tuple[str, list[str]]:
    import pypdfium2

    with pypdfium2.PdfDocument(data) as document:
        title = document.get_metadata_value("Title").strip("\x00 ")
        texts = []
        for index in range(len(document)):
            page = document[index]
            textpage = page.get_textpage()
            texts.append(_clean_text(textpage.get_text_bounded()))
            textpage.close()
            page.close()
    return title, texts


def _clean_text(text: str) -> str:
    # PDFium marks a hyphen at the end of a line with U+FFFE or U+0002; in print it is a hyphen.
    text = (
        text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-").replace("\x02", "-").replace("\x00", "")
    )
    return text.encode("utf-8", "replace").decode()  # Broken font tables yield lone surrogates.
