"""Where to look next without asking a model: the open ends of what was found.

A multi-hop question is answered over a *bridge*: a passage that is like the question and introduces something the question
does not name. Seen passages wait in a queue, most question-like first. A lead asks the question, less the words of the
bridge's title, plus that title and a few entities of the passage that no query has used.

    likeness = cosine(question, passage) + ½ · share of the question's stems in it + 0.3 if the question names its title

Adding a passage costs O(log n); nothing seen is ever looked at again until it is its turn.
"""

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.text.entities import content_stems, extract_names, strip_parenthetical
from suffice.text.tokens import tokenize
from suffice.types import Embed, Passage, Query

if TYPE_CHECKING:
    import numpy

_MAX_ENTITIES = 5
_MAX_CANDIDATES = (
    20  # Waiting passages looked at for one proposal: many pieces of one document may lead to the same query.
)


class FollowUpQueue:
    def __init__(self, question: str, embed: Embed | None = None) -> None:
        self._question = question
        self._question_stems = content_stems(question)
        self._embed = embed
        self._question_vector: numpy.ndarray | None = None
        self._queue: list[tuple[float, int, Passage]] = []
        self._question_phrase = _normalize_phrase(question)
        self._used_names: set[str] = {name.lower() for name in extract_names(question)}
        self._proposed_ids: dict[str, str] = {}
        self._closed_ids: set[str] = set()
        self._asked_keys: set[tuple[str, ...]] = set()
        self._similarities: dict[str, float] = {}
        self._count = 0

    @property
    def uses_embeddings(self) -> bool:
        return self._embed is not None

    def add(self, passages: Sequence[Passage]) -> None:
        """Put a round's new passages into the queue."""
        for passage, cosine in zip(passages, self._compute_cosines(passages), strict=True):
            own = content_stems(f"{passage.title} {passage.text}")
            share = len(self._question_stems & own) / len(self._question_stems) if self._question_stems else 0.0
            named = 0.3 if _normalize_phrase(strip_parenthetical(passage.title)) in self._question_phrase else 0.0
            likeness = cosine + 0.5 * share + named
            self._similarities[passage.id] = likeness
            self._count += 1
            heapq.heappush(self._queue, (-likeness, self._count, passage))

    def get_similarity(self, passage: Passage) -> float:
        """How much an added passage is like the question."""
        return self._similarities.get(passage.id, 0.0)

    def propose(self, most: int) -> list[Query]:
        """The best open leads. They stay open until ``asked`` is told that they were followed."""
        proposals: dict[tuple[str, ...], Query] = {}
        looked_at: list[tuple[float, int, Passage]] = []
        while self._queue and len(proposals) < most and len(looked_at) < _MAX_CANDIDATES:
            item = heapq.heappop(self._queue)
            if item[2].id in self._closed_ids:
                continue
            query = self._build_query(item[2])
            key = tuple(tokenize(query.text))
            if key in self._asked_keys:  # Pieces of one document may lead to the same query: it is followed once.
                continue
            looked_at.append(item)
            if key not in proposals:
                proposals[key] = query
                self._proposed_ids[query.text] = item[2].id
        for item in looked_at:
            heapq.heappush(self._queue, item)
        return list(proposals.values())

    def mark_asked(self, queries: Sequence[str]) -> None:
        """Close the leads that were followed and remember what was named in queries."""
        for query in queries:
            self._asked_keys.add(tuple(tokenize(query)))
            if query in self._proposed_ids:
                self._closed_ids.add(self._proposed_ids.pop(query))
            self._used_names.update(name.lower() for name in extract_names(query))

    def _build_query(self, passage: Passage) -> Query:
        name = strip_parenthetical(passage.title)
        own = set(tokenize(name))
        rest = [word for word in self._question.split() if not set(tokenize(word.removesuffix("'s"))) <= own]
        fresh = [
            found
            for found in extract_names(passage.text)
            if found.lower() not in self._used_names and found not in name
        ]
        return Query(" ".join([*rest, name, *fresh[:_MAX_ENTITIES]]), f"follow {passage.title!r}")

    def _compute_cosines(self, passages: Sequence[Passage]) -> Sequence[float]:
        if self._embed is None or not passages:
            return [0.0] * len(passages)
        if self._question_vector is None:
            self._question_vector = self._embed([self._question])[0]
        vectors = self._embed([f"{passage.title}. {passage.text}" for passage in passages])
        return [float(value) for value in vectors @ self._question_vector]


def _normalize_phrase(text: str) -> str:
    return f" {' '.join(tokenize(text))} "
