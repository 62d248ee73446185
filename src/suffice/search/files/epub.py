"""E-books in EPUB as chunks of their chapters, in reading order. A chapter is one document of the book's spine."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from suffice.search.files import html
from suffice.search.files.chunk import DocumentChunk, UnreadableFile
from suffice.search.files.decode import decode
from suffice.search.files.package import Package, open_package
from suffice.text.plain import to_one_line

_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_OPF = "{http://www.idpf.org/2007/opf}"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_PAGE_TYPES = ("application/xhtml+xml", "text/html")


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    with open_package(data, path, "EPUB") as package:
        rootfile = package.read_xml("META-INF/container.xml").find(f".//{_CONTAINER}rootfile")
        if rootfile is None:
            raise KeyError("it names no content")
        content = rootfile.get("full-path", "")
        book = package.read_xml(content)
        title = to_one_line(book.findtext(f".//{_TITLE}") or "") or path.name
        chunks = list(_read_chapters(package, _list_chapters(book, dirname(content)), title))
    if not chunks:
        raise UnreadableFile(f"{path} contains no readable text; it may be protected by its shop.")
    return chunks


def _list_chapters(book: Element, folder: str) -> list[str]:
    pages = {
        item.get("id", ""): normpath(join(folder, unquote(item.get("href", ""))))
        for item in book.iterfind(f"{_OPF}manifest/{_OPF}item")
        if item.get("media-type") in _PAGE_TYPES and "nav" not in item.get("properties", "").split()
    }
    spine = book.iterfind(f"{_OPF}spine/{_OPF}itemref")
    return [pages[id] for item in spine if (id := item.get("idref", "")) in pages]


def _read_chapters(package: Package, names: list[str], title: str) -> Iterator[DocumentChunk]:
    number = 0
    for name in names:
        if name not in package.names:
            continue
        try:
            chunks = html.parse(decode(package.read(name), name), name)
        except UnreadableFile:  # A cover or another page without text.
            continue
        number += 1
        for chunk in chunks:
            heading = "" if chunk.title in (title, name.rpartition("/")[2]) else chunk.title.removeprefix(f"{title} > ")
            full = f"{title} > {heading}" if heading else title
            yield replace(chunk, title=to_one_line(full), kind="epub", lines=None, section=f"chapter {number}")
