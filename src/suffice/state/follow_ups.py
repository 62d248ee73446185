"""Follow-up queries from what was found, without asking a model.

A multi-hop question is answered over a *bridge*: a passage that is similar to the question and introduces something the
question does not name. Passages wait in a queue, the most similar to the question first. A follow-up query consists of the
question without the words of the bridge's title, that title, and a few entities of the passage that no query has used.

    similarity = cosine(question, passage) + ½ · share of the question's stems in it + 0.3 if the question names its title

Adding a passage costs O(log n), and a passage is examined only when its turn comes.
"""

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.text.entities import content_stems, extract_names, strip_parenthetical
from suffice.text.tokens import normalize_phrase, tokenize
from suffice.types import Embed, Passage, Query

if TYPE_CHECKING:
    import numpy

_MAX_ENTITIES = 5  # Entities of the passage in one query.
_MAX_CANDIDATES = 20  # Passages examined for one proposal: chunks of one document often lead to the same query.
_CONSTANTS = frozenset({"None", "True", "False"})


class FollowUpQueue:
    def __init__(self, question: str, embed: Embed | None = None) -> None:
        self._question = question
        self._question_stems = content_stems(question)
        self._question_phrase = normalize_phrase(question)
        self._question_vector: numpy.ndarray | None = None
        self._embed = embed
        self._queue: list[tuple[float, int, Passage]] = []
        self._added_count = 0  # Earlier passages come before equally similar later ones.
        self._similarities: dict[str, float] = {}
        self._used_names: set[str] = {name.lower() for name in extract_names(question)}
        self._asked_keys: set[tuple[str, ...]] = set()
        self._passage_by_query: dict[str, str] = {}
        self._followed_ids: set[str] = set()

    @property
    def uses_embeddings(self) -> bool:
        return self._embed is not None

    def add(self, passages: Sequence[Passage]) -> None:
        """Add new passages to the queue."""
        for passage, cosine in zip(passages, self._compute_cosines(passages), strict=True):
            stems = content_stems(f"{passage.title} {passage.text}")
            share = len(self._question_stems & stems) / len(self._question_stems) if self._question_stems else 0.0
            is_named = normalize_phrase(strip_parenthetical(passage.title)) in self._question_phrase
            similarity = cosine + 0.5 * share + (0.3 if is_named else 0.0)
            self._similarities[passage.id] = similarity
            self._added_count += 1
            heapq.heappush(self._queue, (-similarity, self._added_count, passage))

    def get_similarity(self, passage: Passage) -> float:
        """Return how similar an added passage is to the question."""
        return self._similarities.get(passage.id, 0.0)

    def propose(self, limit: int) -> list[Query]:
        """Return the best follow-up queries. They are proposed again until ``mark_asked`` is called with them."""
        proposals: dict[tuple[str, ...], Query] = {}
        examined: list[tuple[float, int, Passage]] = []
        while self._queue and len(proposals) < limit and len(examined) < _MAX_CANDIDATES:
            item = heapq.heappop(self._queue)
            if item[2].id in self._followed_ids:
                continue
            query = self._build_query(item[2])
            key = tuple(tokenize(query.text))
            if key in self._asked_keys:  # Another chunk of the same document led to this query before.
                continue
            examined.append(item)
            if key not in proposals:
                proposals[key] = query
                self._passage_by_query[query.text] = item[2].id
        for item in examined:
            heapq.heappush(self._queue, item)
        return list(proposals.values())

    def mark_asked(self, queries: Sequence[str]) -> None:
        """Remove the passages that these queries follow, and remember the names that the queries use."""
        for query in queries:
            self._asked_keys.add(tuple(tokenize(query)))
            if query in self._passage_by_query:
                self._followed_ids.add(self._passage_by_query.pop(query))
            self._used_names.update(name.lower() for name in extract_names(query))

    def _build_query(self, passage: Passage) -> Query:
        title = strip_parenthetical(passage.title)
        title_words = set(tokenize(title))
        rest = [word for word in self._question.split() if not set(tokenize(word.removesuffix("'s"))) <= title_words]
        unused = [
            name for name in extract_names(passage.text) if name.lower() not in self._used_names and name not in title
        ]
        if (
            passage.kind == "code"
        ):  # Single words of code are ``None``, ``False`` and first words of comments, not names.
            unused = [name for name in unused if " " in name and not _CONSTANTS & set(name.split())]
        return Query(" ".join([*rest, title, *unused[:_MAX_ENTITIES]]), f"follow {passage.title!r}")

    def _compute_cosines(self, passages: Sequence[Passage]) -> Sequence[float]:
        if self._embed is None or not passages:
            return [0.0] * len(passages)
        if self._question_vector is None:
            self._question_vector = self._embed([self._question])[0]
        vectors = self._embed([f"{passage.title}. {passage.text}" for passage in passages])
        return [float(value) for value in vectors @ self._question_vector]
