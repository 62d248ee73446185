"""The outline of an answer (S5): its topics, what each would say, and how well the evidence covers them.

A topic's vector is that of a *hypothetical answer* to it (HyDE): an answer lies nearer to the passages that hold it than its
heading does. It is made once a topic; made again each round, its noise would drown the gain. Without an embedding model
words stand in for meaning; latent topics, which need meaning, are then not looked for.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.leads import Embed
from suffice.measure.clusters import groups
from suffice.measure.coverage import Cover
from suffice.text.bags import bags
from suffice.text.tokens import words
from suffice.types import Hits, Note, Passage

if TYPE_CHECKING:
    import numpy

# Chunk choice (S5): near to the topic, far from what is known. As good as the hypothetical answers are: where topics stand
# for themselves, choosing 5 of 15 this way found less than the search's own order (MuSiQue, recall at round 2: .675, .825).
UTILITY, REDUNDANCY = 0.65, 0.35
CHUNKS = 15  # Chunks that a round keeps (S5).
NEW_TOPIC = 0.65  # A latent topic is new when its cosine to every topic is below this (S5).
_REMEMBERED = (
    512  # Chunks that new ones are compared and grouped with: the latest, so that a round's cost does not grow.
)


class Outline:
    def __init__(self, embed: Embed | None = None) -> None:
        self.latent = embed is not None
        self.topics: list[str] = []
        self.texts: list[str] = []
        self._embed: Embed = embed or bags
        self._cover = Cover()
        self._chunks: list[Passage] = []

    def add(self, topics: Sequence[str], hypothetical: Sequence[str]) -> None:
        """Further topics, each with its hypothetical answer."""
        if topics:
            self._cover.extend(self._embed(hypothetical))
            self.topics += topics
            self.texts += hypothetical

    def knows(self, topic: str) -> bool:
        """Whether the topic is there already, in the same words or by meaning."""
        if tuple(words(topic)) in {tuple(words(other)) for other in self.topics}:
            return True
        if self._cover.topics is None or not self.latent:
            return False
        return bool((self._cover.topics @ self._embed([topic])[0]).max() >= NEW_TOPIC)

    def take(self, passages: Sequence[Passage]) -> None:
        """Passages that were accepted. Costs O(new passages × topics)."""
        if passages:
            self._cover.add(self._embed(_texts(passages)))
            self._chunks += passages

    @property
    def taken(self) -> int:
        return len(self._chunks)

    def open_topics(self) -> list[int]:
        """The topics by number, least covered first."""
        return sorted(range(len(self.topics)), key=lambda number: float(self._cover.values[number]))

    def choose(self, found: Sequence[tuple[int, Hits]]) -> list[Passage]:
        """The chunks worth keeping of what was found for each topic: 0.65 · utility − 0.35 · redundancy, best first."""
        scores: dict[str, tuple[float, Passage]] = {}
        for number, hits in found:
            for passage, score in zip(hits.passages, self._scores(number, hits.passages), strict=True):
                if passage.id not in scores or score > scores[passage.id][0]:
                    scores[passage.id] = (score, passage)
        ranked = sorted(scores.values(), key=lambda item: -item[0])
        return [passage for _, passage in ranked[:CHUNKS]]

    def best(self, number: int, notes: Sequence[Note], most: int) -> list[int]:
        """Which notes are nearest to a topic, in reading order."""
        if self._cover.topics is None or not notes:
            return []
        near = self._embed([f"{note.title}. {note.text}" for note in notes]) @ self._cover.topics[number]
        return sorted(sorted(range(len(notes)), key=lambda i: -float(near[i]))[:most])

    def groups(self, seed: int) -> list[list[Passage]]:
        """Latent topics: passages that belong together, largest group first. Less than two of a kind are no topic."""
        vectors = self._cover.chunks
        if vectors is None or not self.latent:
            return []
        latest = self._chunks[-_REMEMBERED:]
        found = groups(vectors[-_REMEMBERED:], seed=seed)
        return [[latest[i] for i in members] for members in found if len(members) > 1]

    def _scores(self, number: int, passages: Sequence[Passage]) -> "Sequence[float] | numpy.ndarray":
        if not passages or self._cover.topics is None:
            return [0.0] * len(passages)
        vectors = self._embed(_texts(passages))
        known = self._cover.chunks
        redundancy = (vectors @ known[-_REMEMBERED:].T).max(axis=1) if known is not None else 0.0
        scores: numpy.ndarray = UTILITY * (vectors @ self._cover.topics[number]) - REDUNDANCY * redundancy
        return scores


def distinct(topics: Sequence[str], most: int) -> list[str]:
    """Topics that can be used: with words in them, one line, each once, no more than ``most``."""
    found: dict[tuple[str, ...], str] = {}
    for topic in topics:
        line = " ".join(topic.split())[:_LONGEST]
        key = tuple(words(line))
        if key:
            found.setdefault(key, line)
    return list(found.values())[:most]


_LONGEST = 120  # Characters of a topic: it becomes a heading and a query.


def _texts(passages: Sequence[Passage]) -> list[str]:
    return [f"{passage.title}. {passage.text}" for passage in passages]
