"""Where to look next without asking a model: the open ends of what was found.

A multi-hop question is answered over a *bridge*: a passage that is like the question and introduces something the question
does not name. Seen passages wait in a queue, most question-like first. A lead asks the question, less the words of the
bridge's title, plus that title and a few entities of the passage that no query has used.

    likeness = cosine(question, passage) + ½ · share of the question's stems in it + 0.3 if the question names its title

Adding a passage costs O(log n); nothing seen is ever looked at again until it is its turn.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from suffice.text.entities import bare, content_stems, names
from suffice.text.tokens import words
from suffice.types import Passage, Query

if TYPE_CHECKING:
    import numpy

_ENTITIES = 5
_LOOK = 20  # Waiting passages looked at for one proposal: many pieces of one document may lead to the same query.

Embed = Callable[[Sequence[str]], "numpy.ndarray"]


class Leads:
    def __init__(self, question: str, embed: Embed | None = None) -> None:
        self._question = question
        self._stems = content_stems(question)
        self._embed = embed
        self._aim: numpy.ndarray | None = None
        self._queue: list[tuple[float, int, Passage]] = []
        self._phrase = _phrase(question)
        self._used: set[str] = {name.lower() for name in names(question)}
        self._offered: dict[str, str] = {}
        self._closed: set[str] = set()
        self._followed: set[tuple[str, ...]] = set()
        self._likeness: dict[str, float] = {}
        self._count = 0

    @property
    def embeds(self) -> bool:
        return self._embed is not None

    def add(self, passages: Sequence[Passage]) -> None:
        """Put a round's new passages into the queue."""
        for passage, cosine in zip(passages, self._cosines(passages), strict=True):
            own = content_stems(f"{passage.title} {passage.text}")
            share = len(self._stems & own) / len(self._stems) if self._stems else 0.0
            named = 0.3 if _phrase(bare(passage.title)) in self._phrase else 0.0
            likeness = cosine + 0.5 * share + named
            self._likeness[passage.id] = likeness
            self._count += 1
            heapq.heappush(self._queue, (-likeness, self._count, passage))

    def likeness(self, passage: Passage) -> float:
        """How much an added passage is like the question."""
        return self._likeness.get(passage.id, 0.0)

    def propose(self, most: int) -> list[Query]:
        """The best open leads. They stay open until ``asked`` is told that they were followed."""
        proposals: dict[tuple[str, ...], Query] = {}
        looked_at: list[tuple[float, int, Passage]] = []
        while self._queue and len(proposals) < most and len(looked_at) < _LOOK:
            item = heapq.heappop(self._queue)
            if item[2].id in self._closed:
                continue
            query = self._query(item[2])
            key = tuple(words(query.text))
            if key in self._followed:  # Pieces of one document may lead to the same query: it is followed once.
                continue
            looked_at.append(item)
            if key not in proposals:
                proposals[key] = query
                self._offered[query.text] = item[2].id
        for item in looked_at:
            heapq.heappush(self._queue, item)
        return list(proposals.values())

    def asked(self, queries: Sequence[str]) -> None:
        """Close the leads that were followed and remember what was named in queries."""
        for query in queries:
            self._followed.add(tuple(words(query)))
            if query in self._offered:
                self._closed.add(self._offered.pop(query))
            self._used.update(name.lower() for name in names(query))

    def _query(self, passage: Passage) -> Query:
        name = bare(passage.title)
        own = set(words(name))
        rest = [word for word in self._question.split() if not set(words(word.removesuffix("'s"))) <= own]
        fresh = [found for found in names(passage.text) if found.lower() not in self._used and found not in name]
        return Query(" ".join([*rest, name, *fresh[:_ENTITIES]]), f"follow {passage.title!r}")

    def _cosines(self, passages: Sequence[Passage]) -> Sequence[float]:
        if self._embed is None or not passages:
            return [0.0] * len(passages)
        if self._aim is None:
            self._aim = self._embed([self._question])[0]
        vectors = self._embed([f"{passage.title}. {passage.text}" for passage in passages])
        return [float(value) for value in vectors @ self._aim]


def _phrase(text: str) -> str:
    return f" {' '.join(words(text))} "
