"""The open questions of a run: what must be known before the task can be answered.

They belong to the run, not to a memory, so that they work with every memory. Strategies and gates call them predicates.
"""

from suffice.text.entities import content_stems
from suffice.text.tokens import jaccard, tokenize

MAX_OPEN = 8
MAX_TOTAL = 24  # Bounds a run whose extractor keeps asking new questions.
MAX_QUESTION_CHARS = 300
_SAME_QUESTION_THRESHOLD = 0.7  # Models quote questions loosely; this share of common stems means the same question.


class OpenQuestions:
    """A bounded list of distinct questions.

    Questions that were tried more often come later, so that one without an answer does not block the others.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[str, ...], str] = {}
        self._known: set[tuple[str, ...]] = set()
        self._tries: dict[str, int] = {}
        self.last_checked_round = 0  # The last round whose passages were checked against the open questions.

    @property
    def open(self) -> tuple[str, ...]:
        return tuple(self._open.values())

    @property
    def open_count(self) -> float | None:
        """The reading ``belief.open``: how many questions are open; unknown if none was ever added."""
        return float(len(self._open)) if self._known else None

    def add(self, question: str, *, again: bool = False) -> bool:
        """Add a question. Returns false for an empty or known one, and when there are too many.

        ``again`` also opens a question that was closed before.
        """
        text = " ".join(question.split())[:MAX_QUESTION_CHARS]
        key = tuple(tokenize(text))
        is_refused = not again if key in self._known else len(self._known) >= MAX_TOTAL
        if not key or key in self._open or is_refused or len(self._open) >= MAX_OPEN:
            return False
        self._known.add(key)
        self._open[key] = text
        return True

    def resolve(self, question: str) -> bool:
        """Close a question. Returns false when it matches no open one."""
        match = self.find_match(question)
        if match is None:
            return False
        del self._open[tuple(tokenize(match))]
        return True

    def find_match(self, question: str) -> str | None:
        """Return the open question that has the same or nearly the same words."""
        exact = self._open.get(tuple(tokenize(question)))
        if exact is not None or not self._open:
            return exact
        stems = content_stems(question)
        similarity, best = max((jaccard(stems, content_stems(text)), text) for text in self._open.values())
        return best if stems and similarity >= _SAME_QUESTION_THRESHOLD else None

    def rank_by_tries(self) -> list[str]:
        """Return the open questions, least tried first, otherwise in the order they were added."""
        return sorted(self._open.values(), key=lambda text: self._tries.get(text, 0))

    def get_next(self) -> str | None:
        """Return the open question that was tried least often."""
        return next(iter(self.rank_by_tries()), None)

    def mark_tried(self, question: str) -> None:
        self._tries[question] = self._tries.get(question, 0) + 1
