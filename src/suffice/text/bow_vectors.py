"""Bag-of-words vectors, used where there is no embedding model: similarity then means shared words."""

from collections.abc import Sequence
from zlib import crc32

import numpy

from suffice.text.entities import content_stems

_DIMENSION = 2048  # Few words of a passage collide, and a thousand passages take 8 MB.


def bow_vectors(texts: Sequence[str]) -> numpy.ndarray:
    """Return one row of length one for each text; zeros for a text without words.

    The cosine of two rows is the share of stems that the texts have in common. ``crc32`` is the same in every process,
    ``hash`` is not.
    """
    rows = numpy.zeros((len(texts), _DIMENSION), numpy.float32)
    for row, text in zip(rows, texts, strict=True):
        row[[crc32(stem.encode()) % _DIMENSION for stem in content_stems(text)]] = 1.0
    return numpy.asarray(rows / numpy.maximum(numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-9), numpy.float32)
