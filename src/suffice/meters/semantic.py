"""Readings that compare meanings; unknown where there is no embedding model or no text.

    novelty.embedding                          0–10: mean distance of the round's passages to the nearest known one, times ten
    coverage.mean, coverage.min, coverage.gain S5: c_j = highest cosine of topic j to any passage; I_k = ‖c(k) − c(k−1)‖₂

The facets of the question stand in for an outline where there is none. Topic vectors are made once: made again each round,
their noise would drown the gain.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.measure.coverage import CoverageTracker
from suffice.meters.base import Hit, MeterContext, Moment, RoundView
from suffice.text.entities import extract_facets
from suffice.types import Readings

if TYPE_CHECKING:
    import numpy

_MAX_KNOWN = 512  # Passages that a new one is compared with: the latest ones, so that a round's cost does not grow.


class EmbeddingNoveltyMeter:
    moment: Moment = "before"
    names: tuple[str, ...] = ("novelty.embedding",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._embed = context.embed
        self._known_vectors: numpy.ndarray | None = None

    def read(self, view: RoundView) -> Readings:
        hits = list({hit.id: hit for hit in (*view.raw, *view.new)}.values())
        if self._embed is None or view.failed or any(hit.text is None for hit in hits):
            return {"novelty.embedding": None}
        if not hits:
            return {"novelty.embedding": 0.0}
        import numpy

        vectors = self._embed(_format_hits(hits))
        if self._known_vectors is None:
            score = 10.0
            self._known_vectors = vectors
        else:
            nearest = (vectors @ self._known_vectors.T).max(axis=1)
            score = float(numpy.clip(10 * (1 - nearest.mean()), 0, 10))
            self._known_vectors = numpy.concatenate([self._known_vectors, vectors])[-_MAX_KNOWN:]
        return {"novelty.embedding": round(score, 3)}


class CoverageMeter:
    moment: Moment = "after"
    names: tuple[str, ...] = ("coverage.mean", "coverage.min", "coverage.gain")

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._topics = [facet.text for facet in extract_facets(context.question or "")]
        self._embed = context.embed
        self._tracker: CoverageTracker | None = None
        self._topics_changed = True

    def set_topics(self, topics: Sequence[str]) -> None:
        """A changed outline: what was gathered is held against the new topics, and the next gain counts as a full one (S5)."""
        if list(topics) != self._topics:
            self._topics, self._topics_changed = list(topics), True

    def read(self, view: RoundView) -> Readings:
        if view.failed or self._embed is None or not self._topics or any(hit.text is None for hit in view.new):
            return dict.fromkeys(self.names)
        if self._tracker is None:
            self._tracker = CoverageTracker()
        if self._topics_changed:
            self._tracker.set_topics(self._embed(self._topics))
        gain = self._tracker.add_chunks(self._embed(_format_hits(view.new))) if view.new else 0.0
        if self._topics_changed:
            gain, self._topics_changed = 1.0, False
        now = self._tracker.values
        return {"coverage.mean": float(now.mean()), "coverage.min": float(now.min()), "coverage.gain": gain}


def _format_hits(hits: Sequence[Hit]) -> list[str]:
    return [f"{hit.title or ''}. {hit.text}" for hit in hits]
