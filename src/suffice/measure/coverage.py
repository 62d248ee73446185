"""Measure how well chunks cover topics: c_j is the highest cosine of topic j with any chunk. One good chunk is enough.

Where there is no embedding model, ``bow_vectors`` makes similarity mean shared words.

The tracker is incremental: new chunks cost O(new chunks × topics), and only changed topics are compared with earlier chunks.
Vectors are rows of length one.
"""

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


class CoverageTracker:
    """Tracks the coverage vector ``values``: one number per topic, 0 for a topic without a similar chunk."""

    def __init__(self) -> None:
        self.topics: numpy.ndarray | None = None
        self.values: numpy.ndarray = numpy.zeros(0)
        self._chunks: list[numpy.ndarray] = []

    @property
    def chunks(self) -> numpy.ndarray | None:
        """The vectors of all chunks, in the order they were added."""
        if len(self._chunks) > 1:
            self._chunks = [numpy.concatenate(self._chunks)]
        return self._chunks[0] if self._chunks else None

    def set_topics(self, topics: numpy.ndarray) -> None:
        self.topics = topics
        self.values = self._max_similarities(topics, self.chunks)

    def add_topics(self, topics: numpy.ndarray) -> None:
        """Add topics. The coverage of the existing ones does not change."""
        self.set_topics(topics if self.topics is None else numpy.concatenate([self.topics, topics]))

    def add_chunks(self, chunks: numpy.ndarray) -> float:
        """Add chunks and return the information gain I = ‖c(k) − c(k−1)‖₂."""
        if not len(chunks):
            return 0.0
        self._chunks.append(chunks)
        if self.topics is None:
            return 0.0
        before = self.values
        self.values = numpy.maximum(before, self._max_similarities(self.topics, chunks))
        return float(numpy.linalg.norm(self.values - before))

    @staticmethod
    def _max_similarities(topics: numpy.ndarray, chunks: numpy.ndarray | None) -> numpy.ndarray:
        if chunks is None or not len(chunks):
            return numpy.zeros(len(topics))
        return numpy.asarray((topics @ chunks.T).max(axis=1).clip(0.0))
