"""A survey of everything in scope: all passages ranked by relevance, which of them were read, and how much that is.

A file is as relevant as its two best passages. The best files then move the ranking towards their own words (Rocchio), so that
what the question does not name but its sources do is found too. A passage ranks by its own similarity and that of its file:
a sheet, a thread and a slide deck are read as wholes.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from suffice.measure.relevance import (
    BIAS,
    SLOPE,
    Share,
    estimate_file_relevance,
    estimate_share,
    mean_of_best,
    move_scores,
    standardize,
    to_probabilities,
)
from suffice.search.base import RankedScope
from suffice.types import Coverage, Passage, Query

DEFAULT_TARGET, DEEP_TARGET = 0.9, 0.98  # The share of what is relevant that a broad question reads; the deep tier's.
_FEEDBACK_FILES, _FEEDBACK_PASSAGES = 5, 3
_MIN_FILE = 0.65  # Probability from which on a file is quoted.
_NEAREST = 25
_OWN_SHARE = 0.7  # Of a passage's rank; the rest is its file's.
_MIN_BATCH, _BATCHES = 40, 10  # A round reads at least so many passages, and a tenth of all.


class Survey:
    """The passages in scope, most relevant first."""

    def __init__(self, scope: RankedScope, batch_size: int | None = None) -> None:
        import numpy as np

        rows: dict[str, list[int]] = defaultdict(list)
        for row, passage in enumerate(scope.passages):
            rows[passage.place.path].append(row)
        scores = scope.scores
        files = _score_files(scores, rows)
        best = sorted(files, key=lambda path: -files[path])[:_FEEDBACK_FILES]
        near = [row for path in best for row in sorted(rows[path], key=lambda row: -scores[row])[:_FEEDBACK_PASSAGES]]
        scores = move_scores(scores, scope.vectors, near)
        self.file_scores = _score_files(scores, rows)
        """The similarity of each file to the question."""
        self.passages = scope.passages
        self.nearness = {passage.id: float(score) for passage, score in zip(scope.passages, scores, strict=True)}
        joint = [
            _OWN_SHARE * float(score) + (1 - _OWN_SHARE) * self.file_scores[passage.place.path]
            for passage, score in zip(scope.passages, scores, strict=True)
        ]
        self.scores = standardize(np.array(joint))
        self.batch_size = batch_size or max(_MIN_BATCH, len(scope.passages) // _BATCHES)
        """How many passages a round reads."""
        self.calibration = BIAS, SLOPE
        self._read: dict[int, float] = {}  # The score that each row had when it was read.

    @property
    def size(self) -> int:
        """The number of passages in scope."""
        return len(self.passages)

    @property
    def left(self) -> int:
        """The number of passages that were not read."""
        return self.size - len(self._read)

    @property
    def next_rows(self) -> tuple[int, int]:
        """The places of the next batch in the ranking, from 1."""
        return len(self._read) + 1, min(self.size, len(self._read) + self.batch_size)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        """Return the next passages by relevance, whatever the query: the search of a run that surveys its scope."""
        unread = [row for row in range(self.size) if row not in self._read]
        rows = sorted(unread, key=lambda row: -self.scores[row])[: self.batch_size]
        self._read |= {row: float(self.scores[row]) for row in rows}
        passages = [self.passages[row] for row in rows]
        return [replace(passage, score=self.nearness[passage.id]) for passage in passages]

    def mark_all_read(self) -> None:
        """Take over that everything was read in another way."""
        self._read |= {row: float(self.scores[row]) for row in range(self.size) if row not in self._read}

    def estimate(self) -> Share:
        """Return the share of what is relevant that was read, with its interval."""
        probabilities = to_probabilities(self.scores, *self.calibration)
        left = float(sum(probabilities[row] for row in range(self.size) if row not in self._read))
        return estimate_share(float(sum(probabilities[row] for row in self._read)), left)

    def describe(self) -> Coverage:
        """Return the estimate as the report states it."""
        share, low, high = self.estimate()
        read = {self.passages[row].place.path for row in self._read}
        return Coverage(share, low, high, len(read), len(self.file_scores), "how near passages are to the question")

    def list_nearest(self, read: Iterable[Passage]) -> list[Passage]:
        """Return the passages that were read and are nearest to the question, as many as a narrow question sees."""
        return sorted(read, key=lambda passage: -self.nearness.get(passage.id, 0.0))[:_NEAREST]

    def list_relevant_files(self, evidence: Iterable[Passage]) -> list[list[Passage]]:
        """Return the files that are likely relevant, best first, each as its passages in the evidence."""
        best = max(self.file_scores.values(), default=0.0)
        read: dict[str, list[Passage]] = defaultdict(list)
        for passage in evidence:
            read[passage.place.path].append(passage)
        ranked = sorted(self.file_scores.items(), key=lambda pair: -pair[1])
        return [
            read[path] for path, score in ranked if read[path] and estimate_file_relevance(score, best) >= _MIN_FILE
        ]


def _score_files(scores: Iterable[float], rows: dict[str, list[int]]) -> dict[str, float]:
    values = [float(score) for score in scores]
    return {path: mean_of_best([values[row] for row in own]) for path, own in rows.items()}
