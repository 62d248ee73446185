"""Classify a task by its wording: a list of things, good practice, or research.

Only English wording is recognised; everything else is research. See docs/sources.md.
"""

import re
from typing import Literal

TaskType = Literal["enumerated", "best_practices", "research"]

_NUMBERS = {word: number for number, word in enumerate("two three four five six seven eight nine ten".split(), 2)}
_COUNT = rf"(\d{{1,2}}|{'|'.join(_NUMBERS)})"
_SUPERLATIVE = r"(?:most|best|key|common|main|top|largest|biggest|greatest|important)"
_COUNTED_REQUEST = re.compile(rf"\btop[\s-]{_COUNT}\b|\b{_COUNT}\s+(?:\w+\s+)?{_SUPERLATIVE}\b", re.IGNORECASE)
_NUMBER = re.compile(rf"\b{_COUNT}\b", re.IGNORECASE)
_LIST_REQUEST = re.compile(r"^\s*(?:list|enumerate|name)\b", re.IGNORECASE)
_BEST_PRACTICE = re.compile(
    r"\b(?:best|good)\s+practices?\b|\bguidelines?\b|\bhow\s+(?:should|best)\b|\brecommend\w*", re.IGNORECASE
)


def classify_task(task: str) -> TaskType:
    """Return the type of a task."""
    if parse_item_count(task) is not None or _LIST_REQUEST.search(task):
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
    return _parse_number(found[1] or found[2])


def strip_count(task: str) -> str:
    """Return the task without the words that only say how many; sources do not have them.

    >>> strip_count("The top 3 copper mines")
    'The copper mines'
    """
    return " ".join(_COUNTED_REQUEST.sub(" ", task).split())


def mentions_number(task: str, number: int) -> bool:
    """Whether the task has a number, as digits or as a word."""
    return any(_parse_number(found[0]) == number for found in _NUMBER.finditer(task))


def _parse_number(text: str) -> int | None:
    number = _NUMBERS.get(text.lower()) or int(text)
    return number if number > 0 else None
