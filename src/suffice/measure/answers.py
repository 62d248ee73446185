"""Score short answers by token F1, as in SQuAD (Rajpurkar et al. 2016)."""

import re
from collections import Counter
from collections.abc import Iterable

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = re.compile(r"[^\w\s]")


def token_f1(answer: str, truths: Iterable[str]) -> float:
    """Return the best token F1 of the answer against any of the true answers."""
    given = _tokenize_answer(answer)
    return max((_pair_f1(given, _tokenize_answer(truth)) for truth in truths), default=0.0)


def normalize_answer(text: str) -> str:
    """Return the lower-case words without punctuation and articles, with single spaces."""
    return " ".join(_tokenize_answer(text))


def _tokenize_answer(text: str) -> list[str]:
    """Return the lower-case words without punctuation and articles."""
    return _ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split()


def _pair_f1(given: list[str], true: list[str]) -> float:
    if not given or not true:
        return float(given == true)
    same = sum((Counter(given) & Counter(true)).values())
    return 2 * same / (len(given) + len(true))
