"""Whether queries and results repeat.

overlap.jaccard[@W]   highest Jaccard similarity of this round's query words to one of the last W rounds (default 5)
overlap.consecutive   the same to the round before only
overlap.upr           unique-passage rate: share of the hits not seen before
novelty.words         0–10: share of the round's words that are not known, times ten, rounded. In a running search the memory
                      holds what is known, so a memory that forgets makes rounds newer; of a recorded run, all earlier rounds
"""

from collections import deque
from collections.abc import Sequence

from suffice.meters.base import Meter, MeterContext, Moment, RoundView
from suffice.text.tokens import jaccard, tokenize, word_set
from suffice.types import Note, Readings

DEFAULT_WINDOW = 5


class QueryOverlapMeter(Meter):
    """Compares the sets of lower-cased words of all queries of a round, stop words included; 0 in the first round."""

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        needed = sorted(name for name in context.needs if name.startswith("overlap.jaccard@"))
        self._windows = {"overlap.jaccard": DEFAULT_WINDOW, "overlap.consecutive": 1}
        self._windows |= {name: int(name.partition("@")[2]) for name in needed}
        self.names: tuple[str, ...] = tuple(self._windows)
        self._earlier_queries: deque[frozenset[str]] = deque(maxlen=max(self._windows.values()))

    def read(self, view: RoundView) -> Readings:
        tokens = frozenset(tokenize(" ".join(view.queries)))
        similarities = [jaccard(tokens, earlier) for earlier in self._earlier_queries]
        self._earlier_queries.append(tokens)
        return {name: max(similarities[-window:], default=0.0) for name, window in self._windows.items()}


class UniqueRateMeter(Meter):
    """A search without hits found nothing new (0); after a failed search the rate is unknown."""

    names: tuple[str, ...] = ("overlap.upr",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._seen: set[str] = set()

    def read(self, view: RoundView) -> Readings:
        if view.failed:
            return {"overlap.upr": None}
        ids = {hit.id for hit in view.raw}
        rate = len(ids - self._seen) / len(ids) if ids else 0.0
        self._seen |= ids | {hit.id for hit in view.new}
        return {"overlap.upr": rate}


class WordNoveltyMeter(Meter):
    """0 without results, 10 while nothing is known, unknown without texts. Scale from the source, docs/sources.md."""

    moment: Moment = "before"
    names: tuple[str, ...] = ("novelty.words",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._known_words: set[str] = set()

    def set_known(self, notes: Sequence[Note]) -> None:
        """Compare the next round with these notes instead of all earlier rounds."""
        self._known_words = set().union(*(word_set(text) for note in notes for text in (note.title, note.text)))

    def read(self, view: RoundView) -> Readings:
        if view.failed:
            return {"novelty.words": None}
        hits = [*view.raw, *view.new]
        if any(hit.text is None for hit in hits):
            return {"novelty.words": None}
        found = frozenset[str]().union(*(word_set(text) for text in {hit.text or "" for hit in hits}))
        if not found:
            return {"novelty.words": 0.0}
        known_before = len(self._known_words)
        self._known_words |= found
        new = len(self._known_words) - known_before
        score = 10.0 if not known_before else float(round(10 * new / len(found)))
        return {"novelty.words": score}
