"""Compare a text with passages by their nearest stretch: in the vector of a whole passage its details are lost."""

from collections.abc import Sequence

from suffice.types import Embed

_STRETCH_CHARS = 400
_STRETCH_STEP = 260


def split_stretches(title: str, text: str) -> list[str]:
    """Return the overlapping stretches of a passage, each below its title."""
    starts = range(0, max(1, len(text) - _STRETCH_CHARS + _STRETCH_STEP), _STRETCH_STEP)
    return [f"{title}. {text[start : start + _STRETCH_CHARS]}" for start in starts]


def compare_stretches(
    text: str, passages: Sequence[tuple[str, str]], embed: Embed, rough: Embed | None = None
) -> list[float]:
    """Return the similarity of each passage's nearest stretch to a text; passages are titles with texts.

    With vectors that cost nothing (``rough``), only the stretch that is nearest by them is embedded: it finds as much as all.
    """
    stretches = [split_stretches(*passage) for passage in passages]
    if rough is not None:
        likely = iter(compute_cosines(text, [one for own in stretches for one in own], rough))
        stretches = [[max((next(likely), one) for one in own)[1]] for own in stretches]
    cosines = iter(compute_cosines(text, [one for own in stretches for one in own], embed))
    return [max(next(cosines) for _ in own) for own in stretches]


def compute_cosines(text: str, others: Sequence[str], embed: Embed | None) -> list[float]:
    """Return the similarity of each other text to the first; 0 without embeddings."""
    if embed is None or not others:
        return [0.0] * len(others)
    vectors = embed([text, *others])
    return [float(value) for value in vectors[1:] @ vectors[0]]
