"""Readings of repetition: is the same asked again, and does the same come back?

overlap.jaccard[@W]   highest Jaccard similarity of this round's query words with one of the last W rounds (W = 5)
overlap.consecutive   the same with the round before only
overlap.upr           unique-passage rate: share of the raw hits never seen before
novelty.words         0–10: share of the round's words that no accepted round had, times ten, rounded
"""

from collections import deque

from suffice.meters.base import Context, Moment, Sight
from suffice.text.tokens import jaccard, word_set, words
from suffice.types import Readings

WINDOW = 5


class QueryOverlap:
    """Tokens are the set of lower-cased words of a round's queries joined; no stop words removed; first round 0."""

    moment: Moment = "after"

    def __init__(self, context: Context = Context()) -> None:
        wanted = sorted(name for name in context.needs if name.startswith("overlap.jaccard@"))
        self._windows = {"overlap.jaccard": WINDOW, "overlap.consecutive": 1}
        self._windows |= {name: int(name.partition("@")[2]) for name in wanted}
        self.names: tuple[str, ...] = tuple(self._windows)
        self._asked: deque[frozenset[str]] = deque(maxlen=max(self._windows.values()))

    def read(self, sight: Sight) -> Readings:
        tokens = frozenset(words(" ".join(sight.queries)))
        alike = [jaccard(tokens, earlier) for earlier in self._asked]
        self._asked.append(tokens)
        return {name: max(alike[-window:], default=0.0) for name, window in self._windows.items()}


class UniqueRate:
    """A search that succeeded without hits brought nothing new (0); a failed one says nothing (unknown)."""

    moment: Moment = "after"
    names: tuple[str, ...] = ("overlap.upr",)

    def __init__(self, context: Context = Context()) -> None:
        self._seen: set[str] = set()

    def read(self, sight: Sight) -> Readings:
        if sight.failed:
            return {"overlap.upr": None}
        ids = {hit.id for hit in sight.raw}
        rate = len(ids - self._seen) / len(ids) if ids else 0.0
        self._seen |= ids | {hit.id for hit in sight.new}
        return {"overlap.upr": rate}


class WordNovelty:
    """S2's word assessor: empty results 0, empty knowledge 10, missing text unknown."""

    moment: Moment = "before"
    names: tuple[str, ...] = ("novelty.words",)

    def __init__(self, context: Context = Context()) -> None:
        self._known: set[str] = set()

    def read(self, sight: Sight) -> Readings:
        if sight.failed:
            return {"novelty.words": None}
        hits = [*sight.raw, *sight.new]
        if any(hit.text is None for hit in hits):
            return {"novelty.words": None}
        found = frozenset[str]().union(*(word_set(text) for text in {hit.text or "" for hit in hits}))
        if not found:
            return {"novelty.words": 0.0}
        new = found - self._known
        score = 10.0 if not self._known else float(round(10 * len(new) / len(found)))
        self._known |= new
        return {"novelty.words": score}
