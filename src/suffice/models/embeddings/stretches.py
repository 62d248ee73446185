"""Compare a text with passages by their nearest stretch: in the vector of a whole passage its details are lost."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.types import Embed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_STRETCH_CHARS = 400
_STRETCH_STEP = 260


def split_stretches(title: str, text: str) -> list[str]:
    """Return the overlapping stretches of a passage, each below its title."""
    starts = range(0, max(1, len(text) - _STRETCH_CHARS + _STRETCH_STEP), _STRETCH_STEP)
    return [f"{title}. {text[start : start + _STRETCH_CHARS]}" for start in starts]


def compare_stretches(text: str, passages: Sequence[tuple[str, str]], embed: Embed) -> list[float]:
    """Return the similarity of each passage's nearest stretch to a text; passages are titles with texts."""
    stretches = [split_stretches(*passage) for passage in passages]
    vectors: NDArray[np.float32] = embed([text, *(one for own in stretches for one in own)])
    cosines = iter((vectors[1:] @ vectors[0]).tolist())
    return [max(next(cosines) for _ in own) for own in stretches]
