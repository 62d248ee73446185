"""Zip packages of XML parts, which Office, OpenDocument and EPUB files are."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

from suffice.search.files.chunk import MAX_BYTES, UnreadableFile, make_size_error

# KeyError: a missing part; RuntimeError: encrypted, or an unknown compression.
_PARSE_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, ElementTree.ParseError, RuntimeError)


class Package:
    """An open package. All parts together may not be larger than a file may be."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive = archive
        self._path = path
        self._left = MAX_BYTES
        self.names = frozenset(archive.namelist())

    def read(self, name: str) -> bytes:
        """Return a part. ``zipfile`` never yields more than the declared size, so the check also stops zip bombs."""
        self._left -= self._archive.getinfo(name).file_size
        if self._left < 0:
            raise make_size_error(self._path, "unpacks to more than")
        return self._archive.read(name)

    def read_xml(self, name: str) -> ElementTree.Element:
        """Parse a part. Office programs declare no document type; a hostile one could declare entities that expand."""
        data = self.read(name)
        if b"<!DOCTYPE" in data[:1024]:
            raise ElementTree.ParseError("it declares a document type")
        return ElementTree.fromstring(data)


@contextmanager
def open_package(data: bytes, path: Path, kind: str) -> Iterator[Package]:
    """Open a package; inside, everything that is wrong with it is raised as ``UnreadableFile``."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            yield Package(archive, path)
    except RecursionError:
        raise  # ``read`` says it of every format.
    except _PARSE_ERRORS as error:
        if "encrypted" in str(error) or "password" in str(error):
            raise UnreadableFile(f"{path} is encrypted; save a copy without a password.") from error
        raise UnreadableFile(
            f"{path} is not a valid {kind} ({error}); save it again with the program that made it."
        ) from error
