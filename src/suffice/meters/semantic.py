"""Readings that compare meanings; without an embedding model, coverage compares words and novelty is unknown.

    novelty.embedding                          0–10: ten times the mean distance of the round's sentences to the nearest known
    coverage.mean, coverage.min, coverage.gain c_j = highest cosine of topic j to any passage; gain I_k = ‖c(k) − c(k−1)‖₂
    coverage.topic.NAME                        c_j of each topic of the run's outline

The topics are those of the run's outline, or the facets of the question while it is empty. Topic vectors are computed only
when the topics change: computed again each round, their noise would hide the gain.

A sentence costs as much to embed as a passage, so novelty is read only if the gate needs it. The same holds for coverage
by words, because every run without an embedding model would pay for it.
"""

from collections.abc import Sequence

import numpy

from suffice.measure.coverage import CoverageTracker, bow_vectors
from suffice.meters.base import TOPIC_PREFIX, Meter, MeterContext, Moment, RoundView
from suffice.text.entities import extract_facets
from suffice.text.sentences import split_sentences
from suffice.types import Note, Readings

_MAX_KNOWN = 512  # New sentences are compared with the latest ones only, so that a round's cost does not grow.
_MAX_SENTENCES = 40  # Sentences of one passage that are compared, about 6,000 characters.


class EmbeddingNoveltyMeter(Meter):
    """0 without results, 10 while nothing is known, unknown without texts. The memory is what is known, if there is one."""

    moment: Moment = "before"
    names: tuple[str, ...] = ("novelty.embedding",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._embed = context.embed
        self._is_needed = "novelty.embedding" in context.needs
        self._known: list[str] = []
        self._vectors: dict[str, numpy.ndarray] = {}

    def set_known(self, notes: Sequence[Note]) -> None:
        """Compare the next round with these notes instead of all earlier rounds."""
        if self._is_needed:
            self._known = [sentence for note in notes for sentence in _list_sentences(note.text)][-_MAX_KNOWN:]

    def read(self, view: RoundView) -> Readings:
        if not self._is_needed:
            return {}
        hits = list({hit.id: hit for hit in (*view.raw, *view.new)}.values())
        if self._embed is None or view.failed or any(hit.text is None for hit in hits):
            return {"novelty.embedding": None}
        found = [sentence for hit in hits for sentence in _list_sentences(hit.text or "")]
        if not found:
            return {"novelty.embedding": 0.0}
        score = 10.0
        if self._known:
            nearest = (self._look_up(found) @ self._look_up(self._known).T).max(axis=1)
            score = float(numpy.clip(10 * (1 - nearest.mean()), 0, 10))
        self._known = [*self._known, *found][-_MAX_KNOWN:]
        return {"novelty.embedding": round(score, 3)}

    def _look_up(self, sentences: Sequence[str]) -> numpy.ndarray:
        """Return the vectors of sentences, each computed once."""
        assert self._embed is not None
        missing = [sentence for sentence in dict.fromkeys(sentences) if sentence not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, self._embed(missing), strict=True))
        return numpy.array([self._vectors[sentence] for sentence in sentences])


class CoverageMeter(Meter):
    names: tuple[str, ...] = ("coverage.mean", "coverage.min", "coverage.gain")

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._topics = [facet.text for facet in extract_facets(context.question or "")]
        self._topic_names: list[str] = []
        needs_words = not context.needs.isdisjoint(self.names)
        self._embed = context.embed or (bow_vectors if needs_words else None)
        self._tracker: CoverageTracker | None = None
        self._topics_changed = True
        self._is_reset = True
        self._rounds = 0

    def set_topics(self, topics: Sequence[str]) -> None:
        """Measure these topics over all passages so far. The first gain after a change is 1: it must not end the search. An
        outline drafted from the first round is no change: the second round is measured against the first."""
        if list(topics) != self._topics:
            self._topics, self._topics_changed, self._is_reset = list(topics), True, self._rounds != 1

    def name_topics(self, names: Sequence[str]) -> None:
        """Read the coverage of each topic under its name."""
        self._topic_names = list(names)

    def read(self, view: RoundView) -> Readings:
        if view.failed or self._embed is None or not self._topics or any(hit.text is None for hit in view.new):
            return dict.fromkeys(self.names)
        if self._tracker is None:
            self._tracker = CoverageTracker()
        if self._topics_changed:
            self._tracker.set_topics(self._embed(self._topics))
        texts = [f"{hit.title or ''}. {hit.text}" for hit in view.new]
        gain = self._tracker.add_chunks(self._embed(texts)) if texts else 0.0
        gain = 1.0 if self._is_reset else gain
        self._topics_changed = self._is_reset = False
        self._rounds += 1
        coverage = self._tracker.values
        by_topic = {
            f"{TOPIC_PREFIX}{name}": round(float(value), 3)
            for name, value in zip(self._topic_names, coverage, strict=False)
        }
        return {
            "coverage.mean": float(coverage.mean()),
            "coverage.min": float(coverage.min()),
            "coverage.gain": gain,
            **by_topic,
        }


def _list_sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text) if any(map(str.isalnum, text[start:end]))][
        :_MAX_SENTENCES
    ]
