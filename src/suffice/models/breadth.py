"""Read how broad a question is: one fact (narrow), everything of a kind (list), or research (broad).

The question decides: a logistic regression over its wording and its embedding, fitted on questions written for it (``python -m
training.breadth.fit``). How relevance falls off over the files was tried and withdrawn: narrow questions have a plateau too
(bench/breadth.md). In doubt a question is narrow: a short answer to a broad question costs one more question, a long
report on a narrow one hides its answer. It knows English only; other questions are narrow unless the user says otherwise.
"""

import json
import math
import re
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from suffice.models.embeddings.minilm import get_minilm
from suffice.text.languages import ENGLISH, detect_language
from suffice.types import BREADTHS, Breadth

_WEIGHTS = Path(__file__).with_name("breadth.json")
_MIN_BROAD = 0.5
_TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d+|[`\"“_/=]")
_FIRST_WORDS = 4


def list_features(question: str) -> list[str]:
    """Return what the wording of a question shows: its words, pairs, first words (also as forms) and length."""
    tokens = _TOKEN.findall(question.lower())
    words = [token for token in tokens if token[0].isalpha()]
    found = {f"^{' '.join(words[:count])}" for count in range(1, _FIRST_WORDS)}
    found |= set(words) | {f"{one} {other}" for one, other in pairwise(words)}
    forms = ["+s" if len(word) > 3 and word[-1] == "s" and word[-2] not in "sui" else "+" for word in words[:5]]
    found |= {f"{form} {n}" for n, form in enumerate(forms)} | {f"code {len(tokens) > len(words)}"}
    found |= {"^" + " ".join((*words[:1], *forms[1:k], *words[k:end])) for k in (2, 3) for end in (k, k + 1)}
    return sorted(found | {f"long {min(len(words) // 5, 3)}"})


@cache
def _load_weights() -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(_WEIGHTS.read_text(encoding="utf-8")))


@lru_cache(maxsize=64)
def estimate_breadth(question: str) -> dict[Breadth, float]:
    """Return the probability of each breadth, by the question alone."""
    weights = _load_weights()
    rows = [weights["words"][name] for name in ("", *list_features(question)) if name in weights["words"]]
    vector = get_minilm().embed([question])[0]
    sums = [
        sum(row[k] for row in rows) + sum(float(x) * row[k] for x, row in zip(vector, weights["vector"], strict=True))
        for k in range(len(BREADTHS))
    ]
    powers = [math.exp(value - max(sums)) for value in sums]
    return {breadth: power / sum(powers) for breadth, power in zip(BREADTHS, powers, strict=True)}


def read_breadth(question: str) -> Breadth:
    """Return how broad a question is.

    >>> [read_breadth(text) for text in ("Who built the mill?", "Which mills use solar power?", "What is known about mills?")]
    ['narrow', 'list', 'broad']
    """
    if detect_language(question) not in (None, ENGLISH):
        return "narrow"
    likely = estimate_breadth(question)
    if likely["broad"] >= _MIN_BROAD:
        return "broad"
    return "list" if likely["list"] >= likely["narrow"] else "narrow"
