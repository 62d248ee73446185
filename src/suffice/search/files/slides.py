"""A slide as chunks, for all programs that make presentations."""

from collections.abc import Iterator
from dataclasses import dataclass

from suffice.search.files.blocks import Block, join_blocks
from suffice.search.files.chunk import ChunkKind, DocumentChunk
from suffice.text.chunks import split_text
from suffice.text.plain import to_one_line


@dataclass(frozen=True, slots=True)
class Slide:
    """The texts of a slide."""

    title: str
    blocks: tuple[Block, ...]
    notes: str = ""


def make_slide_chunks(slide: Slide, number: int, name: str, kind: ChunkKind) -> Iterator[DocumentChunk]:
    """Yield the chunks of a slide; none if it has no text."""
    heading = [Block(to_one_line(slide.title), 0, level=1)] if slide.title.strip() else []
    notes = [Block(f"Notes: {slide.notes}", 0)] if slide.notes.strip() else []
    title = to_one_line(f"{name}, slide {number}: {slide.title}" if slide.title else f"{name}, slide {number}")
    for part in split_text(join_blocks([*heading, *slide.blocks, *notes])):
        yield DocumentChunk(part, title, kind, section=f"slide {number}")
