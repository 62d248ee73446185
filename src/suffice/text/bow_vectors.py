"""Texts as vectors of their words, for when there is no embedding model: likeness then means shared words, nothing more."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from suffice.text.entities import content_stems

if TYPE_CHECKING:
    import numpy

_DIMENSION = 2048  # Few of a passage's words collide, and a thousand passages take no more than 16 MB.


def bow_vectors(texts: Sequence[str]) -> "numpy.ndarray":
    """One row of length one a text (zero for a text without words): the cosine of two is the share of stems they have in
    common. ``crc32`` and not ``hash``, which differs from process to process."""
    import numpy

    rows = numpy.zeros((len(texts), _DIMENSION), numpy.float32)
    for row, text in zip(rows, texts, strict=True):
        row[[crc32(stem.encode()) % _DIMENSION for stem in content_stems(text)]] = 1.0
    return rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-9)  # type: ignore[no-any-return]
