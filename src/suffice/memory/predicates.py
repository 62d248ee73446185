"""The open questions of a run: what must be known before the task can be done. They live in the run, so every memory works.

Bounded and without doubles. A question that was tried goes behind those that were tried less often: one that cannot be
answered does not displace the others.
"""

from suffice.text.entities import content_stems
from suffice.text.tokens import jaccard, words

MOST_OPEN = 8  # More open questions than this are a list, not a plan.
MOST_EVER = 24  # An extractor that asks for more and more must not keep a run alive.
LONGEST = 300  # Characters of a question.
_SAME = 0.7  # A model quotes a question not quite literally; this share of stems in common is the same question.


class Predicates:
    def __init__(self) -> None:
        self._open: dict[tuple[str, ...], str] = {}
        self._known: set[tuple[str, ...]] = set()
        self._tries: dict[str, int] = {}
        self.judged = 0  # The last round that somebody held against the open questions.

    @property
    def open(self) -> tuple[str, ...]:
        return tuple(self._open.values())

    @property
    def reading(self) -> float | None:
        """``belief.open``: how many are open; unknown while nobody ever set one."""
        return float(len(self._open)) if self._known else None

    def add(self, question: str) -> bool:
        """Open a question; false when it is no question, was there before, or there are too many."""
        text = " ".join(question.split())[:LONGEST]
        key = tuple(words(text))
        if not key or key in self._known or len(self._open) >= MOST_OPEN or len(self._known) >= MOST_EVER:
            return False
        self._known.add(key)
        self._open[key] = text
        return True

    def resolve(self, question: str) -> bool:
        """Close a question; false when no open one is meant."""
        meant = self.find(question)
        if meant is None:
            return False
        del self._open[tuple(words(meant))]
        return True

    def find(self, question: str) -> str | None:
        """The open question that these words mean."""
        exact = self._open.get(tuple(words(question)))
        if exact is not None or not self._open:
            return exact
        own = content_stems(question)
        likeness, best = max((jaccard(own, content_stems(text)), text) for text in self._open.values())
        return best if own and likeness >= _SAME else None

    def ranked(self) -> list[str]:
        """The open questions, those tried least often first, else in the order they were set."""
        return sorted(self._open.values(), key=lambda text: self._tries.get(text, 0))

    def top(self) -> str | None:
        return next(iter(self.ranked()), None)

    def tried(self, question: str) -> None:
        self._tries[question] = self._tries.get(question, 0) + 1
