"""The open questions of a run: what must be known before the task can be done. They live in the run, so every memory works.

Bounded and without doubles. A question that was tried goes behind those that were tried less often: one that cannot be
answered does not displace the others.
"""

from suffice.text.entities import content_stems
from suffice.text.tokens import jaccard, tokenize

MAX_OPEN = 8  # More open questions than this are a list, not a plan.
MAX_TOTAL = 24  # An extractor that asks for more and more must not keep a run alive.
MAX_QUESTION_CHARS = 300  # Characters of a question.
_SAME_QUESTION_THRESHOLD = (
    0.7  # A model quotes a question not quite literally; this share of stems in common is the same question.
)


class OpenQuestions:
    def __init__(self) -> None:
        self._open: dict[tuple[str, ...], str] = {}
        self._known: set[tuple[str, ...]] = set()
        self._tries: dict[str, int] = {}
        self.last_checked_round = 0  # The last round that somebody held against the open questions.

    @property
    def open(self) -> tuple[str, ...]:
        return tuple(self._open.values())

    @property
    def open_count(self) -> float | None:
        """``belief.open``: how many are open; unknown while nobody ever set one."""
        return float(len(self._open)) if self._known else None

    def add(self, question: str) -> bool:
        """Open a question; false when it is no question, was there before, or there are too many."""
        text = " ".join(question.split())[:MAX_QUESTION_CHARS]
        key = tuple(tokenize(text))
        if not key or key in self._known or len(self._open) >= MAX_OPEN or len(self._known) >= MAX_TOTAL:
            return False
        self._known.add(key)
        self._open[key] = text
        return True

    def resolve(self, question: str) -> bool:
        """Close a question; false when no open one is meant."""
        meant = self.find_match(question)
        if meant is None:
            return False
        del self._open[tuple(tokenize(meant))]
        return True

    def find_match(self, question: str) -> str | None:
        """The open question that these words mean."""
        exact = self._open.get(tuple(tokenize(question)))
        if exact is not None or not self._open:
            return exact
        own = content_stems(question)
        likeness, best = max((jaccard(own, content_stems(text)), text) for text in self._open.values())
        return best if own and likeness >= _SAME_QUESTION_THRESHOLD else None

    def rank_by_tries(self) -> list[str]:
        """The open questions, those tried least often first, else in the order they were set."""
        return sorted(self._open.values(), key=lambda text: self._tries.get(text, 0))

    def get_next(self) -> str | None:
        return next(iter(self.rank_by_tries()), None)

    def mark_tried(self, question: str) -> None:
        self._tries[question] = self._tries.get(question, 0) + 1
