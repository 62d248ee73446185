"""Compare short answers: token F1 as in SQuAD (Rajpurkar et al. 2016), and answers that say that there is none."""

import re
from collections import Counter
from collections.abc import Iterable

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = re.compile(r"[^\w\s]")
_NO_ANSWER = re.compile(
    r"""^\W*(?:no\W+answer|none|unknown|unclear|nothing|n/?a|unanswerable|not\s+(?:known|sure|available|given|stated|
          mentioned|specified|provided|found)|i\s+do(?:n['’]t|\s+not)\s+know)\b
      | \b(?:no|not\s+(?:any|enough)|insufficient|without)\s+(?:\w+\s+){0,3}(?:evidence|information|mention|answer|
          details?|data|records?|indication)\b
      | \b(?:do(?:es)?|did|is|are|was|were|can)(?:\s+not|n['’]t|not)\s+(?:\w+\s+){0,2}(?:mention|state|specif|provid|
          contain|answer|say|give|indicat|determin|know|found|find|hold|include)""",
    re.VERBOSE | re.IGNORECASE,
)


def token_f1(answer: str, truths: Iterable[str]) -> float:
    """Return the best token F1 of the answer against any of the true answers."""
    given = normalize_answer(answer).split()
    return max((_pair_f1(given, normalize_answer(truth).split()) for truth in truths), default=0.0)


def normalize_answer(text: str) -> str:
    """Return the lower-case words without punctuation and articles, with single spaces."""
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub(" ", text.lower())).split())


def is_abstention(answer: str) -> bool:
    """Return whether an answer says that there is none."""
    return not answer.strip() or bool(_NO_ANSWER.search(answer))


def _pair_f1(given: list[str], true: list[str]) -> float:
    if not given or not true:
        return float(given == true)
    same = sum((Counter(given) & Counter(true)).values())
    return 2 * same / (len(given) + len(true))
