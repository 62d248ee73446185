"""Readings that compare meanings. Unknown without an embedding model or without texts.

    novelty.embedding                          0–10: ten times the mean distance of the round's passages to the nearest known
    coverage.mean, coverage.min, coverage.gain c_j = highest cosine of topic j to any passage; gain I_k = ‖c(k) − c(k−1)‖₂

The topics are those of the run's outline, or the facets of the question while it is empty. Topic vectors are computed only
when the topics change: computed again each round, their noise would hide the gain.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.measure.coverage import CoverageTracker
from suffice.meters.base import Hit, MeterContext, Moment, RoundView
from suffice.text.entities import extract_facets
from suffice.types import Readings

if TYPE_CHECKING:
    import numpy

_MAX_KNOWN = 512  # New passages are compared with the latest ones only, so that a round's cost does not grow.


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
        """Measure these topics over all passages so far. The first gain after a change is 1: it must not end the search."""
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
        coverage = self._tracker.values
        return {"coverage.mean": float(coverage.mean()), "coverage.min": float(coverage.min()), "coverage.gain": gain}


def _format_hits(hits: Sequence[Hit]) -> list[str]:
    return [f"{hit.title or ''}. {hit.text}" for hit in hits]
