"""The chunk of a file: a stretch of its text, its title, and where it stands. Every reader returns chunks."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from suffice.errors import InputError
from suffice.text.chunks import Chunk
from suffice.text.plain import to_one_line

TextKind = Literal["text", "markdown", "code", "html", "csv", "notebook", "chat", "record", "email"]
PackedKind = Literal["pdf", "docx", "odt", "rtf", "pptx", "odp", "xlsx", "ods", "epub"]
ChunkKind = Literal[TextKind, PackedKind]

INEXACT_KINDS = frozenset({"html"})  # Their text does not match the lines of the source one by one.
MAX_BYTES = 100 * 1024 * 1024  # Size limit of a file, unpacked.


class UnreadableFile(InputError):
    """A file that cannot be read; the message says what is wrong and how to fix it."""


def make_size_error(name: object, what: str) -> UnreadableFile:
    """Return the error of a file that ``is larger than`` or ``unpacks to more than`` the limit."""
    return UnreadableFile(f"{name} {what} {MAX_BYTES // 1024 // 1024} MB; split it into smaller files.")


class ScannedFile(UnreadableFile):
    """A file whose pages are pictures without text, which OCR may be able to read."""


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """A stretch of a file.

    With ``lines``, ``text`` has one line for each line of the file from start to end, so that a quote inside it maps to exact
    lines (a chunk of one giant line is a stretch of that line). Source code and plain text are verbatim; prose is light
    Markdown and a table row is a record. For ``INEXACT_KINDS`` the range only covers the source of the text. ``section`` is
    a part that has a number or a name of its own, such as ``slide 3``. ``id`` is set for JSONL records only: the record's own
    id, with ``#2``, ``#3`` … for the later parts of a long one.
    """

    text: str
    title: str
    kind: ChunkKind
    lines: tuple[int, int] | None = None
    page: int | None = None
    record: str | None = None
    id: str | None = None
    section: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """The chunks of a file in order. ``remark`` says what of it could not be read, as in ``pages 2-5 look scanned …``.

    ``needs_ocr`` means that OCR may be able to read it.
    """

    chunks: list[DocumentChunk]
    remark: str = ""
    needs_ocr: bool = False


def to_document_chunk(chunk: Chunk, title: str, kind: ChunkKind) -> DocumentChunk:
    return DocumentChunk(chunk.text, to_one_line(title), kind, lines=(chunk.first, chunk.last))


class HeadingPath(tuple[tuple[int, str], ...]):
    """The headings above a line, outermost first, each with its level."""

    def leave(self, level: int) -> "HeadingPath":
        """Return the path without the headings of a level and deeper ones."""
        return HeadingPath(heading for heading in self if heading[0] < level)

    def enter(self, level: int, text: str) -> "HeadingPath":
        """Return the path below a new heading, which replaces those of its own level and deeper ones."""
        return HeadingPath((*self.leave(level), (level, text)))

    def format(self, fallback: str) -> str:
        """Return ``Guide > Install``, or the fallback if there is no heading."""
        return to_one_line(" > ".join(text for _, text in self) or fallback)


def get_suffix(name: str) -> str:
    """Return the suffix of a file name in lower case, such as ``.md``."""
    return PurePath(name).suffix.lower()


def parse_suffixes(names: str) -> frozenset[str]:
    """Return ``{".md", ".rst"}`` for ``"md rst"``."""
    return frozenset(f".{name}" for name in names.split())
