"""Classify a task by its wording: a list of things, good practice, or research.

Only English wording is recognised; everything else is research. See docs/sources.md.
"""

import re
from typing import Literal

from suffice.text.tokens import tokenize

TaskType = Literal["enumerated", "best_practices", "research"]

_NUMBERS = {word: number for number, word in enumerate("two three four five six seven eight nine ten".split(), 2)}
_COUNT = rf"(\d{{1,2}}|{'|'.join(_NUMBERS)})"
_SUPERLATIVE = r"(?:most|best|key|common|main|top|largest|biggest|greatest|important)"
_COUNTED_REQUEST = re.compile(rf"\btop[\s-]{_COUNT}\b|\b{_COUNT}\s+(?:\w+\s+)?{_SUPERLATIVE}\b", re.IGNORECASE)
_LIST_VERBS = (["list"], ["enumerate"], ["name"])
_BEST_PRACTICE = re.compile(
    r"\b(?:best|good)\s+practices?\b|\bguidelines?\b|\bhow\s+(?:should|best)\b|\brecommend\w*", re.IGNORECASE
)

_LOOKUP = re.compile(
    r"^\W*(?:(?:in|at|on|by|for|from|of|to|with)\s+)?(?:who|whom|whose|when|where|which|what|how\s+(?:many|much|long|old|far|tall|big|often))\b",
    re.IGNORECASE,
)
_SURVEY = re.compile(
    r"\b(?:why|explain\w*|compar\w+|difference[s]?|describe|overview|summar\w+|discuss|advantages|disadvantages|pros|cons|trade-?offs?"
    r"|history|impact|effects?|causes?|reasons?|ways?|approaches|options|steps|analy\w+|assess\w*|evaluat\w+|review|report|survey)\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|must)(?:n['’]t)?\s", re.IGNORECASE
)
_MAX_LOOKUP_WORDS = 40


def is_yes_no_question(task: str) -> bool:
    """Return whether a question wants yes or no.

    >>> is_yes_no_question("Is the mill old?"), is_yes_no_question("Is the mill or the bridge older?")
    (True, False)
    """
    return bool(_YES_NO.search(task)) and not re.search(r"\bor\b(?! not\b)", task, re.IGNORECASE)


def is_lookup(task: str) -> bool:
    """Return whether a task asks for one fact, which deserves a few sentences and not a report.

    >>> is_lookup("Who built the mill?"), is_lookup("How does the mill work?")
    (True, False)
    """
    asks_fact = bool(_LOOKUP.search(task)) or bool(_YES_NO.search(task))
    return asks_fact and not _SURVEY.search(task) and len(task.split()) <= _MAX_LOOKUP_WORDS


def classify_task(task: str) -> TaskType:
    if parse_item_count(task) is not None or tokenize(task)[:1] in _LIST_VERBS:
        return "enumerated"
    return "best_practices" if _BEST_PRACTICE.search(task) else "research"


def parse_item_count(task: str) -> int | None:
    """Return how many things a task asks for ("top N", "N best …"); ``None`` when it does not say.

    >>> parse_item_count("What are the five most common causes?"), parse_item_count("Who was it in 1952?")
    (5, None)
    """
    found = _COUNTED_REQUEST.search(task)
    if found is None:
        return None
    number = found[1] or found[2]
    return _NUMBERS.get(number.lower()) or int(number) or None


def strip_count(task: str) -> str:
    """Return the task without the words that only say how many; sources do not have them.

    >>> strip_count("The top 3 copper mines")
    'The copper mines'
    """
    return " ".join(_COUNTED_REQUEST.sub(" ", task).split())


def mentions_number(task: str, number: int) -> bool:
    """Whether the task has a number, as digits or as a word."""
    return any(word == str(number) or _NUMBERS.get(word) == number for word in tokenize(task))
