"""A long text shortened for a reader with little room: every heading, the beginning of each section, and the whole tail."""

from suffice.text.headings import find_headings
from suffice.text.sentences import split_sentences

MAX_REVIEW_CHARS = 24_000  # Characters; about 6,000 tokens. What is shorter is read whole.
_TAIL_SHARE = 0.25  # Share of the room that the end of the text gets: conclusions stand there.
_ELLIPSIS = " […]"


def condense(text: str, max_chars: int = MAX_REVIEW_CHARS) -> str:
    """The text in about ``most`` characters; headings are never dropped, so many of them may need more."""
    if len(text) <= max_chars:
        return text
    end = len(text) - int(max_chars * _TAIL_SHARE)
    head, tail = (
        text[:end],
        text[end:],
    )  # A heading cut in two is whole again where they meet: nothing of a heading is dropped.
    parts = [(0, 0, 0), *((part.start, part.body_start, part.end) for part in find_headings(head))]
    parts[0] = (0, 0, parts[1][0] if len(parts) > 1 else len(head))
    room = max(0, max_chars - len(tail) - sum(body - start for start, body, _ in parts))
    shortened = []
    for left, (start, body, end) in zip(range(len(parts), 0, -1), parts, strict=True):
        kept = _truncate_to_sentences(head[body:end], room // left)
        room = max(0, room - len(kept))
        shortened.append(head[start:body] + kept)
    return "".join(shortened) + tail


def _truncate_to_sentences(text: str, most: int) -> str:
    """As many whole sentences as fit, or as many characters when not even one does."""
    if len(text) <= most or not text.strip():
        return text
    ends = [end for _, end in split_sentences(text) if end <= most]
    return text[: ends[-1] if ends else most].rstrip() + _ELLIPSIS + "\n\n"
