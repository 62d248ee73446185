"""Cut the stretch that answers a question out of a passage.

A stretch is a window of whole sentences, list items, table rows and code blocks around a core, within one section, or the whole
passage with its headings if it is short and the core may be wrong. It begins at the top of the section if the core is not far
below, else a little before the core.
"""

from collections.abc import Sequence

from suffice.answers import Quotation
from suffice.text.blocks import TextBlock, split_blocks
from suffice.text.entities import strip_parenthetical
from suffice.text.plain import to_one_line
from suffice.text.sentences import Offsets
from suffice.text.tokens import normalize_phrase
from suffice.types import Passage

_Piece = tuple[Offsets, TextBlock]


def quote_around(
    passage: Passage,
    core: Offsets,
    room: int,
    *,
    list_room: int = 0,
    highlight: Sequence[Offsets] = (),
    is_sure: bool = False,
) -> Quotation:
    """Return the stretch of a passage around ``core`` of about ``room`` characters; a whole list may take ``list_room``.

    ``is_sure`` says that the core is the right one, so that no other section is shown.
    """
    blocks = split_blocks(passage.text, passage.kind)
    pieces = [piece for block in blocks if not block.is_heading for piece in _split_block(block, room)]
    if not pieces:
        return Quotation(passage, ((0, len(passage.text)),), title=passage.title)
    span, block = next((piece for piece in pieces if core[0] < piece[0][1]), pieces[-1])
    if introduced := next((other for other in blocks if other.lead == span), None):
        span, block = next(piece for piece in pieces if piece[1] == introduced)
    if block.format in ("list", "table") and room < block.end - block.start <= list_room:
        chosen = [*_introduce(block, block.start), ((block.start, block.end), block)]
    else:
        if is_sure or len(passage.text) > room:
            heading = _find_heading(blocks, block)
            pieces = [piece for piece in pieces if _find_heading(blocks, piece[1]) == heading]
        chosen = _choose_window(pieces, pieces.index((span, block)), room)
    shown = chosen[0][0][0], chosen[-1][0][1]
    between = [((one.start, one.end), one) for one in blocks if one.is_heading and shown[0] < one.start < shown[1]]
    return Quotation(
        passage,
        tuple(_join_pieces(sorted([*chosen, *between], key=lambda piece: piece[0]))),
        block.format,
        tuple(span for span in highlight if any(a <= span[0] and span[1] <= b for (a, b), _ in chosen)),
        _extend_title(passage, _find_heading(blocks, chosen[0][1])),
    )


def _split_block(block: TextBlock, room: int) -> list[_Piece]:
    """Return the parts of a block that are not torn: sentences, items, rows and their header; code as a whole if it fits."""
    is_whole = block.format == "code" and block.end - block.start <= room
    units = ([block.head] if block.head else []) + list(block.units)
    return [(span, block) for span in ([(block.start, block.end)] if is_whole else units)]


def _introduce(block: TextBlock, start: int) -> list[_Piece]:
    """Return what introduces a block and stands before ``start``: its lead-in, and the header of a table."""
    return [(span, block) for span in (block.lead, block.head) if span is not None and span[0] < start]


def _choose_window(pieces: Sequence[_Piece], center: int, room: int) -> list[_Piece]:
    """Return the pieces around one that fit: all before it if they do, else a few with their lead-in; then what follows."""
    first = last = center
    start, end = pieces[center][0]
    before = min(room - (end - start), room if end - pieces[0][0][0] <= room else room // 4)
    while first > 0 and start - pieces[first - 1][0][0] <= before:
        first -= 1
    lead = _introduce(pieces[first][1], pieces[first][0][0]) if first else []
    left = room - sum(end - start for (start, end), _ in lead)
    while last + 1 < len(pieces) and pieces[last + 1][0][1] - pieces[first][0][0] <= left:
        last += 1
    while first > 0 and not lead and pieces[last][0][1] - pieces[first - 1][0][0] <= left:
        first -= 1
    if last > center and last + 1 < len(pieces) and pieces[last + 1][1].lead == pieces[last][0]:
        last -= 1  # An introduction without what it introduces says nothing.
    return [*lead, *pieces[first : last + 1]]


def _join_pieces(pieces: Sequence[_Piece]) -> list[Offsets]:
    """Return one span for the pieces of a block that follow each other, with no unit left out between them."""
    joined: list[tuple[Offsets, TextBlock]] = []
    for (start, end), block in pieces:
        before = joined[-1][0][1] if joined and joined[-1][1] == block else None
        if before is not None and not any(before <= first and last <= start for first, last in block.units):
            joined[-1] = ((joined[-1][0][0], end), block)
        else:
            joined.append(((start, end), block))
    return [span for span, _ in joined]


def _find_heading(blocks: Sequence[TextBlock], block: TextBlock) -> TextBlock | None:
    return next((other for other in reversed(blocks) if other.is_heading and other.end <= block.start), None)


def _extend_title(passage: Passage, heading: TextBlock | None) -> str:
    """Return the title of a passage with the heading above the stretch, if that is another one."""
    words = passage.text[heading.start : heading.end].strip("#= \n").replace("`", "") if heading else ""
    last = passage.title.rpartition(" > ")[2]
    known = map(normalize_phrase, ("", last, strip_parenthetical(last)))  # Also without the date of the document.
    if normalize_phrase(words) in known:
        return passage.title
    return f"{passage.title} > {to_one_line(words)}".removeprefix(" > ")
