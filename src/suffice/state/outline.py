"""The outline of an answer (S5): its topics, what each would say, and how well the evidence covers them.

A topic's vector is that of a *hypothetical answer* to it (HyDE): an answer lies nearer to the passages that hold it than its
heading does. It is made once a topic; made again each round, its noise would drown the gain. Without an embedding model
words stand in for meaning; latent topics, which need meaning, are then not looked for.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.measure.clusters import cluster_rows
from suffice.measure.coverage import CoverageTracker
from suffice.text.bow_vectors import bow_vectors
from suffice.text.tokens import tokenize
from suffice.types import Embed, Hits, Note, Passage

if TYPE_CHECKING:
    import numpy

# Chunk choice (S5): near to the topic, far from what is known. As good as the hypothetical answers are: where topics stand
# for themselves, choosing 5 of 15 this way found less than the search's own order (MuSiQue, recall at round 2: .675, .825).
UTILITY_WEIGHT, REDUNDANCY_WEIGHT = 0.65, 0.35
MAX_CHUNKS = 15  # Chunks that a round keeps (S5).
NEW_TOPIC_THRESHOLD = 0.65  # A latent topic is new when its cosine to every topic is below this (S5).
_COMPARED_CHUNKS = (
    512  # Chunks that new ones are compared and grouped with: the latest, so that a round's cost does not grow.
)


class TopicOutline:
    def __init__(self, embed: Embed | None = None) -> None:
        self.supports_latent_topics = embed is not None
        self.topics: list[str] = []
        self.hypothetical_answers: list[str] = []
        self._embed: Embed = embed or bow_vectors
        self._coverage = CoverageTracker()
        self._chunks: list[Passage] = []

    def add_topics(self, topics: Sequence[str], hypothetical: Sequence[str]) -> None:
        """Further topics, each with its hypothetical answer."""
        if topics:
            self._coverage.add_topics(self._embed(hypothetical))
            self.topics += topics
            self.hypothetical_answers += hypothetical

    def has_topic(self, topic: str) -> bool:
        """Whether the topic is there already, in the same words or by meaning."""
        if tuple(tokenize(topic)) in {tuple(tokenize(other)) for other in self.topics}:
            return True
        if self._coverage.topics is None or not self.supports_latent_topics:
            return False
        return bool((self._coverage.topics @ self._embed([topic])[0]).max() >= NEW_TOPIC_THRESHOLD)

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Passages that were accepted. Costs O(new passages × topics)."""
        if passages:
            self._coverage.add_chunks(self._embed(_build_embedding_texts(passages)))
            self._chunks += passages

    @property
    def passage_count(self) -> int:
        return len(self._chunks)

    def rank_open_topics(self) -> list[int]:
        """The topics by number, least covered first."""
        return sorted(range(len(self.topics)), key=lambda number: float(self._coverage.values[number]))

    def select_passages(self, found: Sequence[tuple[int, Hits]]) -> list[Passage]:
        """The chunks worth keeping of what was found for each topic: 0.65 · utility − 0.35 · redundancy, best first."""
        scores: dict[str, tuple[float, Passage]] = {}
        for number, hits in found:
            for passage, score in zip(hits.passages, self._score_passages(number, hits.passages), strict=True):
                if passage.id not in scores or score > scores[passage.id][0]:
                    scores[passage.id] = (score, passage)
        ranked = sorted(scores.values(), key=lambda item: -item[0])
        return [passage for _, passage in ranked[:MAX_CHUNKS]]

    def select_notes(self, number: int, notes: Sequence[Note], most: int) -> list[int]:
        """Which notes are nearest to a topic, in reading order."""
        if self._coverage.topics is None or not notes:
            return []
        near = self._embed([f"{note.title}. {note.text}" for note in notes]) @ self._coverage.topics[number]
        return sorted(sorted(range(len(notes)), key=lambda i: -float(near[i]))[:most])

    def find_latent_groups(self, seed: int) -> list[list[Passage]]:
        """Latent topics: passages that belong together, largest group first. Less than two of a kind are no topic."""
        vectors = self._coverage.chunks
        if vectors is None or not self.supports_latent_topics:
            return []
        latest = self._chunks[-_COMPARED_CHUNKS:]
        found = cluster_rows(vectors[-_COMPARED_CHUNKS:], seed=seed)
        return [[latest[i] for i in members] for members in found if len(members) > 1]

    def _score_passages(self, number: int, passages: Sequence[Passage]) -> "Sequence[float] | numpy.ndarray":
        if not passages or self._coverage.topics is None:
            return [0.0] * len(passages)
        vectors = self._embed(_build_embedding_texts(passages))
        known = self._coverage.chunks
        redundancy = (vectors @ known[-_COMPARED_CHUNKS:].T).max(axis=1) if known is not None else 0.0
        scores: numpy.ndarray = (
            UTILITY_WEIGHT * (vectors @ self._coverage.topics[number]) - REDUNDANCY_WEIGHT * redundancy
        )
        return scores


def normalize_topics(topics: Sequence[str], most: int) -> list[str]:
    """Topics that can be used: with words in them, one line, each once, no more than ``most``."""
    found: dict[tuple[str, ...], str] = {}
    for topic in topics:
        line = " ".join(topic.split())[:_MAX_TOPIC_CHARS]
        key = tuple(tokenize(line))
        if key:
            found.setdefault(key, line)
    return list(found.values())[:most]


_MAX_TOPIC_CHARS = 120  # Characters of a topic: it becomes a heading and a query.


def _build_embedding_texts(passages: Sequence[Passage]) -> list[str]:
    return [f"{passage.title}. {passage.text}" for passage in passages]
