"""How well chunks cover topics (S5): c_j = highest cosine of topic j to any chunk. Max, not mean: one good chunk is enough.

Incremental: new chunks cost O(new chunks × topics); only changed topics are compared with what came before. Vectors are rows
of length one. This module knows nothing of texts or embedding models.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy


class CoverageTracker:
    """``values`` is the coverage vector: one number a topic, 0 where nothing has come near."""

    def __init__(self) -> None:
        import numpy

        self.topics: numpy.ndarray | None = None
        self.values: numpy.ndarray = numpy.zeros(0)
        self._chunks: list[numpy.ndarray] = []

    @property
    def chunks(self) -> "numpy.ndarray | None":
        """Every chunk's vector, in the order they came."""
        import numpy

        if len(self._chunks) > 1:
            self._chunks = [numpy.concatenate(self._chunks)]
        return self._chunks[0] if self._chunks else None

    def set_topics(self, topics: "numpy.ndarray") -> None:
        """Other topics: coverage is taken anew over all chunks."""
        self.topics = topics
        self.values = self._max_similarities(topics, self.chunks)

    def add_topics(self, topics: "numpy.ndarray") -> None:
        """Further topics; those that were there keep their coverage."""
        import numpy

        if self.topics is None:
            self.set_topics(topics)
            return
        self.topics = numpy.concatenate([self.topics, topics])
        self.values = numpy.concatenate([self.values, self._max_similarities(topics, self.chunks)])

    def add_chunks(self, chunks: "numpy.ndarray") -> float:
        """Take in new chunks; the information gain I = ‖c(k) − c(k−1)‖₂."""
        import numpy

        if not len(chunks):
            return 0.0
        self._chunks.append(chunks)
        if self.topics is None:
            return 0.0
        before = self.values
        self.values = numpy.maximum(before, self._max_similarities(self.topics, chunks))
        return float(numpy.linalg.norm(self.values - before))

    @staticmethod
    def _max_similarities(topics: "numpy.ndarray", chunks: "numpy.ndarray | None") -> "numpy.ndarray":
        import numpy

        if chunks is None or not len(chunks):
            return numpy.zeros(len(topics))
        best: numpy.ndarray = numpy.maximum(0.0, (topics @ chunks.T).max(axis=1))
        return best
