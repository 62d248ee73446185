"""How right a short answer is: token F1 and exact match, as in SQuAD (Rajpurkar et al. 2016)."""

import re
from collections import Counter
from collections.abc import Iterable

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_MARKS = re.compile(r"[^\w\s]")


def normal(text: str) -> str:
    """Lower-cased, without punctuation, articles and superfluous white space."""
    return " ".join(_ARTICLES.sub(" ", _MARKS.sub(" ", text.lower())).split())


def f1(answer: str, truths: Iterable[str]) -> float:
    """The best token F1 against any of the true answers."""
    return max((_f1(normal(answer).split(), normal(truth).split()) for truth in truths), default=0.0)


def exact(answer: str, truths: Iterable[str]) -> bool:
    return any(normal(answer) == normal(truth) for truth in truths)


def _f1(given: list[str], true: list[str]) -> float:
    if not given or not true:
        return float(given == true)
    same = sum((Counter(given) & Counter(true)).values())
    return 2 * same / (len(given) + len(true))
