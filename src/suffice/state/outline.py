"""The outline of an answer: its topics, a hypothetical answer to each, and how well the evidence covers them.

A topic's vector is that of a *hypothetical answer* to it (HyDE): an answer lies nearer to the passages that hold it than a
heading does. It is computed once per topic; computed again each round, its noise would hide the gain. Without an embedding
model, vectors count words, and latent topics are not looked for.

A run starts with an empty outline. A strategy may add topics; the coverage meter measures them and the report has a section
for each.
"""

from collections.abc import Sequence

import numpy

from suffice.measure.clusters import cluster_rows
from suffice.measure.coverage import CoverageTracker, bow_vectors
from suffice.text.tokens import tokenize
from suffice.types import Embed, Hits, Note, Passage

# Passages are selected by 0.65 · nearness to the topic − 0.35 · nearness to known passages (values of the source system, see
# docs/sources.md). This is only as good as the hypothetical answers: where the topics themselves are used, choosing 5 of 15
# this way found less than the search's own order (MuSiQue, recall at round 2: .675 against .825).
UTILITY_WEIGHT, REDUNDANCY_WEIGHT = 0.65, 0.35
MAX_CHUNKS = 15  # Passages that are chosen from. Value of the source system, see docs/sources.md.
# A topic is new if its cosine to every other is below this. Value of the source system, see docs/sources.md.
NEW_TOPIC_THRESHOLD = 0.65
MAX_TOPIC_CHARS = 120  # A topic becomes a heading and a query.
_COMPARED_CHUNKS = 512  # New passages are compared with the latest ones only, so that a round's cost does not grow.


class TopicOutline:
    """``topics`` and ``hypothetical_answers`` have the same length; a topic is referred to by its index."""

    def __init__(self, embed: Embed | None = None) -> None:
        self.supports_latent_topics = embed is not None
        self.topics: list[str] = []
        self.hypothetical_answers: list[str] = []
        self._embed: Embed = embed or bow_vectors
        self._passages: list[Passage] = []
        self._coverage = CoverageTracker()

    def add_topics(self, topics: Sequence[str], hypothetical_answers: Sequence[str]) -> None:
        if topics:
            self._coverage.add_topics(self._embed(hypothetical_answers))
            self.topics += topics
            self.hypothetical_answers += hypothetical_answers

    def has_topic(self, topic: str) -> bool:
        """Return whether the outline has this topic, in the same words or in meaning."""
        if tuple(tokenize(topic)) in {tuple(tokenize(other)) for other in self.topics}:
            return True
        if self._coverage.topics is None or not self.supports_latent_topics:
            return False
        return bool((self._coverage.topics @ self._embed([topic])[0]).max() >= NEW_TOPIC_THRESHOLD)

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Add accepted passages to the coverage. Costs O(new passages × topics)."""
        if passages:
            self._coverage.add_chunks(self._embed(_build_embedding_texts(passages)))
            self._passages += passages

    @property
    def has_hypothetical_answers(self) -> bool:
        """Whether some topic has an answer that is not the topic itself, so that passages can be told apart by it."""
        return any(topic != answer for topic, answer in zip(self.topics, self.hypothetical_answers, strict=True))

    def describe_coverage(self) -> str:
        """Say how well each topic is covered, from 0 to 1."""
        covered = zip(self.topics, self._coverage.values, strict=True)
        return ", ".join(f"{topic!r}: {value:.2f}" for topic, value in covered)

    @property
    def passage_count(self) -> int:
        return len(self._passages)

    def rank_open_topics(self) -> list[int]:
        """Return the indexes of the topics, the least covered first."""
        return sorted(range(len(self.topics)), key=lambda topic: float(self._coverage.values[topic]))

    def select_passages(self, found: Sequence[tuple[int, Hits]]) -> list[Passage]:
        """Return the best of the passages found for each topic: near to the topic and different from known ones."""
        scores: dict[str, tuple[float, Passage]] = {}
        for topic, hits in found:
            for passage, score in zip(hits.passages, self._score_passages(topic, hits.passages), strict=True):
                if passage.id not in scores or score > scores[passage.id][0]:
                    scores[passage.id] = (score, passage)
        ranked = sorted(scores.values(), key=lambda item: -item[0])
        return [passage for _, passage in ranked[:MAX_CHUNKS]]

    def select_notes(self, topic: int, notes: Sequence[Note], limit: int) -> list[int]:
        """Return the indexes of the notes nearest to a topic, in reading order."""
        if self._coverage.topics is None or not notes:
            return []
        near = self._embed([f"{note.title}. {note.text}" for note in notes]) @ self._coverage.topics[topic]
        return sorted(sorted(range(len(notes)), key=lambda i: -float(near[i]))[:limit])

    def find_latent_groups(self, seed: int) -> list[list[Passage]]:
        """Return groups of at least two similar passages, the largest first: each may be a topic of its own."""
        vectors = self._coverage.chunks
        if vectors is None or not self.supports_latent_topics:
            return []
        latest = self._passages[-_COMPARED_CHUNKS:]
        groups = cluster_rows(vectors[-_COMPARED_CHUNKS:], seed=seed)
        return [[latest[i] for i in members] for members in groups if len(members) > 1]

    def _score_passages(self, topic: int, passages: Sequence[Passage]) -> Sequence[float] | numpy.ndarray:
        if not passages or self._coverage.topics is None:
            return [0.0] * len(passages)
        vectors = self._embed(_build_embedding_texts(passages))
        known = self._coverage.chunks
        redundancy = (vectors @ known[-_COMPARED_CHUNKS:].T).max(axis=1) if known is not None else 0.0
        utility = vectors @ self._coverage.topics[topic]
        scores: numpy.ndarray = UTILITY_WEIGHT * utility - REDUNDANCY_WEIGHT * redundancy
        return scores


def normalize_topics(topics: Sequence[str], limit: int) -> list[str]:
    """Return the usable topics: on one line, with words in them, each once, at most ``limit``."""
    found: dict[tuple[str, ...], str] = {}
    for topic in topics:
        line = " ".join(topic.split())[:MAX_TOPIC_CHARS]
        key = tuple(tokenize(line))
        if key:
            found.setdefault(key, line)
    return list(found.values())[:limit]


def _build_embedding_texts(passages: Sequence[Passage]) -> list[str]:
    return [f"{passage.title}. {passage.text}" for passage in passages]
