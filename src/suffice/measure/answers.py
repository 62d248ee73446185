"""How right a short answer is: token F1 and exact match, as in SQuAD (Rajpurkar et al. 2016)."""

import re
from collections import Counter
from collections.abc import Iterable

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = re.compile(r"[^\w\s]")


def normalize_answer(text: str) -> str:
    """Lower-cased, without punctuation, articles and superfluous white space."""
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split())


def token_f1(answer: str, truths: Iterable[str]) -> float:
    """The best token F1 against any of the true answers."""
    return max(
        (_pair_f1(normalize_answer(answer).split(), normalize_answer(truth).split()) for truth in truths), default=0.0
    )


def is_exact_match(answer: str, truths: Iterable[str]) -> bool:
    return any(normalize_answer(answer) == normalize_answer(truth) for truth in truths)


def _pair_f1(given: list[str], true: list[str]) -> float:
    if not given or not true:
        return float(given == true)
    same = sum((Counter(given) & Counter(true)).values())
    return 2 * same / (len(given) + len(true))
