"""Where to look next without asking a model: the open ends of what was found.

A multi-hop question is answered over a *bridge*: a passage that is like the question and introduces something the question
does not name. Seen passages wait in a queue, most question-like first. A lead asks the question, less the words of the
bridge's title, plus that title and a few entities of the passage that no query has used.

    likeness = cosine(question, passage) + ½ · share of the question's stems in it + 0.3 if the question names its title
               − 0.02 · rank − 0.03 · round

Adding a passage costs O(log n); nothing seen is ever looked at again until it is its turn.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from suffice.text.entities import content_stems, entities, stems
from suffice.types import Passage, Query

if TYPE_CHECKING:
    import numpy

_ENTITIES = 5

Embed = Callable[[Sequence[str]], "numpy.ndarray"]


class Leads:
    def __init__(self, question: str, embed: Embed | None = None) -> None:
        self._question = question
        self._stems = content_stems(question)
        self._embed = embed
        self._aim: numpy.ndarray | None = None
        self._queue: list[tuple[float, int, Passage]] = []
        self._used: set[str] = {entity.lower() for entity in entities(question)}
        self._offered: dict[str, str] = {}
        self._closed: set[str] = set()
        self._likeness: dict[str, float] = {}
        self._count = 0

    @property
    def embeds(self) -> bool:
        return self._embed is not None

    def add(self, passages: Sequence[Passage], round_index: int) -> None:
        """Put a round's new passages, best first, into the queue."""
        for rank, (passage, cosine) in enumerate(zip(passages, self._cosines(passages), strict=True)):
            own = content_stems(f"{passage.title} {passage.text}")
            share = len(self._stems & own) / len(self._stems) if self._stems else 0.0
            title = content_stems(passage.title)
            named = 0.3 if title and title <= self._stems else 0.0
            likeness = cosine + 0.5 * share + named - 0.02 * rank - 0.03 * round_index
            self._likeness[passage.id] = likeness
            self._count += 1
            heapq.heappush(self._queue, (-likeness, self._count, passage))

    def likeness(self, passage: Passage) -> float:
        """How much an added passage is like the question."""
        return self._likeness.get(passage.id, 0.0)

    def propose(self, most: int) -> list[Query]:
        """The best open leads. They stay open until ``asked`` is told that they were followed."""
        best: list[tuple[float, int, Passage]] = []
        while self._queue and len(best) < most:
            item = heapq.heappop(self._queue)
            if item[2].id not in self._closed:
                best.append(item)
        for item in best:
            heapq.heappush(self._queue, item)
        proposals = [self._query(passage) for _, _, passage in best]
        self._offered.update((query.text, passage.id) for query, (_, _, passage) in zip(proposals, best, strict=True))
        return proposals

    def asked(self, queries: Sequence[str]) -> None:
        """Close the leads that were followed and remember what was named in queries."""
        for query in queries:
            if query in self._offered:
                self._closed.add(self._offered.pop(query))
            self._used.update(entity.lower() for entity in entities(query))

    def _query(self, passage: Passage) -> Query:
        own = set(stems(passage.title))
        rest = [word for word in self._question.split() if not own & set(stems(word))]
        fresh = [name for name in entities(passage.text) if name.lower() not in self._used and name != passage.title]
        text = " ".join([*rest, passage.title, *fresh[:_ENTITIES]])
        return Query(text, f"follow {passage.title!r}")

    def _cosines(self, passages: Sequence[Passage]) -> Sequence[float]:
        if self._embed is None or not passages:
            return [0.0] * len(passages)
        if self._aim is None:
            self._aim = self._embed([self._question])[0]
        vectors = self._embed([f"{passage.title}. {passage.text}" for passage in passages])
        return [float(value) for value in vectors @ self._aim]
