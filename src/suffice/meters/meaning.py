"""Readings that compare meanings; unknown where there is no embedding model or no text.

    novelty.embedding                          0–10: mean distance of the round's passages to the nearest known one, times ten
    coverage.mean, coverage.min, coverage.gain S5: c_j = highest cosine of topic j to any passage; I_k = ‖c(k) − c(k−1)‖₂

The facets of the question stand in for an outline where there is none. Topic vectors are made once: made again each round,
their noise would drown the gain.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.measure.coverage import Cover
from suffice.meters.base import Context, Hit, Moment, Sight
from suffice.text.entities import facets
from suffice.types import Readings

if TYPE_CHECKING:
    import numpy

_KNOWN = 512  # Passages that a new one is compared with: the latest ones, so that a round's cost does not grow.


class EmbeddingNovelty:
    moment: Moment = "before"
    names: tuple[str, ...] = ("novelty.embedding",)

    def __init__(self, context: Context = Context()) -> None:
        self._embed = context.embed
        self._known: numpy.ndarray | None = None

    def read(self, sight: Sight) -> Readings:
        hits = list({hit.id: hit for hit in (*sight.raw, *sight.new)}.values())
        if self._embed is None or sight.failed or any(hit.text is None for hit in hits):
            return {"novelty.embedding": None}
        if not hits:
            return {"novelty.embedding": 0.0}
        import numpy

        vectors = self._embed(_texts(hits))
        if self._known is None:
            score = 10.0
            self._known = vectors
        else:
            nearest = (vectors @ self._known.T).max(axis=1)
            score = float(numpy.clip(10 * (1 - nearest.mean()), 0, 10))
            self._known = numpy.concatenate([self._known, vectors])[-_KNOWN:]
        return {"novelty.embedding": round(score, 3)}


class Coverage:
    moment: Moment = "after"
    names: tuple[str, ...] = ("coverage.mean", "coverage.min", "coverage.gain")

    def __init__(self, context: Context = Context()) -> None:
        self._topics = [facet.text for facet in facets(context.question or "")]
        self._embed = context.embed
        self._cover: Cover | None = None
        self._changed = True

    def outline(self, topics: Sequence[str]) -> None:
        """A changed outline: what was gathered is held against the new topics, and the next gain counts as a full one (S5)."""
        if list(topics) != self._topics:
            self._topics, self._changed = list(topics), True

    def read(self, sight: Sight) -> Readings:
        if sight.failed or self._embed is None or not self._topics or any(hit.text is None for hit in sight.new):
            return dict.fromkeys(self.names)
        if self._cover is None:
            self._cover = Cover()
        if self._changed:
            self._cover.about(self._embed(self._topics))
        gain = self._cover.add(self._embed(_texts(sight.new))) if sight.new else 0.0
        if self._changed:
            gain, self._changed = 1.0, False
        now = self._cover.values
        return {"coverage.mean": float(now.mean()), "coverage.min": float(now.min()), "coverage.gain": gain}


def _texts(hits: Sequence[Hit]) -> list[str]:
    return [f"{hit.title or ''}. {hit.text}" for hit in hits]
