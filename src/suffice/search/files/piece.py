"""A piece of a file: a stretch of text, its title, and where it stands.

This module knows the shape only; what is cut where is each reader's business.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from suffice.errors import InputError
from suffice.text.chunks import Chunk

ChunkKind = Literal["text", "markdown", "code", "html", "pdf", "docx", "csv", "notebook", "chat", "record"]

MAX_BYTES = 100 * 1024 * 1024


class UnreadableFile(InputError):
    """A file that cannot be read; the message says what is wrong and how to mend it."""


@dataclass(frozen=True, slots=True)
class DocumentChunk:
    """A stretch of a file.

    With ``lines`` and ``exact``, ``text`` is the file's ``lines[start - 1:end]`` joined by newlines, so that a quote
    inside it maps to exact lines (a piece of one giant line is a stretch of that line). With ``lines`` and not
    ``exact`` (HTML), the range covers the source of the text, but the two do not match line for line.
    ``id`` is set for JSONL records only: the record's own id, with ``#2``, ``#3`` … for the later parts of a long one.
    """

    text: str
    title: str
    kind: ChunkKind
    lines: tuple[int, int] | None = None
    page: int | None = None
    record: str | None = None
    id: str | None = None
    exact: bool = True


def to_document_chunk(chunk: Chunk, title: str, kind: ChunkKind) -> DocumentChunk:
    return DocumentChunk(chunk.text, collapse_whitespace(title), kind, lines=(chunk.first, chunk.last))


def collapse_whitespace(title: str) -> str:
    return " ".join(title.split())


def join_headings(headings: Sequence[str], fallback: str) -> str:
    """``Guide > Install``, or the fallback where no heading stands above."""
    return " > ".join(headings) or fallback
