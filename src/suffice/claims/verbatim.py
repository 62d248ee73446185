"""Find words in a text exactly: white space, emphasis marks and the case of the first letter do not matter."""

from functools import lru_cache

from suffice.text.plain import fold_spaces
from suffice.text.sentences import Offsets, quotable_spans
from suffice.types import Passage

_MARKUP = frozenset("*_`")
_NUMBER_JOINTS = frozenset(".,-−–")


def find_words(words: str, text: str) -> Offsets | None:
    """Return where a text has the words, as whole words; ``None`` where it does not.

    >>> find_words("the tower is high", "So *The\\ntower* is high.")
    (4, 22)
    """
    wanted, _ = _fold(words)
    folded, offsets = _fold(text)
    if not wanted:
        return None
    for variant in dict.fromkeys((wanted, wanted[0].swapcase() + wanted[1:])):
        place = folded.find(variant)
        while place >= 0:
            end = place + len(variant)
            if _is_whole(folded, place, end):
                return offsets[place], offsets[end - 1] + 1
            place = folded.find(variant, place + 1)
    return None


def find_sentences(claim: str, passage: Passage) -> Offsets | None:
    """Return where a passage has the claim as one or more whole sentences; ``None`` where it does not."""
    found = find_words(claim.rstrip(" .!?…。"), passage.text)
    if found is None:
        return None
    text, spans = passage.text, quotable_spans(passage.text, passage.kind)
    first = max((start for start, _ in spans if start <= found[0]), default=0)
    last = min((end for _, end in spans if end >= found[1]), default=len(text))
    before, after = text[first : found[0]], text[found[1] : last]
    is_whole = not any(map(str.isalpha, before)) and not any(map(str.isalnum, after))
    return (found[0], last) if is_whole else None


@lru_cache(maxsize=256)
def _fold(text: str) -> tuple[str, list[int]]:
    """Return the text without markup and with single spaces, and where each of its characters is in the original."""
    return fold_spaces((place, char) for place, char in enumerate(text) if char not in _MARKUP)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a stretch neither begins nor ends inside a word or a number."""
    before, first, last, after = text[max(0, start - 1) : start], text[start], text[end - 1], text[end : end + 2]
    if (before.isalnum() and first.isalnum()) or (after[:1].isalnum() and last.isalnum()):
        return False
    if first.isdigit() and before in _NUMBER_JOINTS and before:
        return False
    return not (last.isdigit() and (after[:1] in ("%", "°", "×") or (after[:1] in (".", ",") and after[1:].isdigit())))
