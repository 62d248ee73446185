"""Read how broad a question is: one fact (narrow), everything of a kind (list), or research (broad).

The question decides: a logistic regression over its wording and its embedding, fitted on questions written for it (``python -m
training.breadth.fit``). Where that leaves it open, the files do: a narrow question has one peak of relevance, a broad one a
plateau over many files. In doubt a question is narrow: a short answer to a broad question costs one more question, a long
report on a narrow one hides its answer. It knows English only; other questions are narrow unless the user says otherwise.
"""

import json
import math
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from suffice.models.embeddings import get_minilm
from suffice.text.languages import ENGLISH, detect_language
from suffice.types import BREADTHS, Breadth

_WEIGHTS = Path(__file__).with_name("breadth.json")
_MIN_BROAD, _OPEN = 0.5, 0.25  # From the first on a question is broad; from the second on the files may make it so.
_PLATEAU_FILES = 5  # So many files …
_PLATEAU_SHARE = 0.8  # … are at least so near the question as the nearest.
_TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d+|[`\"“_/=]")
_FIRST_WORDS = 4


def list_features(question: str) -> list[str]:
    """Return what the wording of a question shows: its first words in order, all words, pairs, plurals and its length."""
    tokens = _TOKEN.findall(question.lower())
    words = [token for token in tokens if token[0].isalpha()]
    found = {f"^{' '.join(words[:count])}" for count in range(1, _FIRST_WORDS)}
    found |= set(words) | {f"{one} {other}" for one, other in pairwise(words)}
    plurals = [n for n, word in enumerate(words[:5]) if len(word) > 3 and re.search(r"[^sui]s$", word)]
    found |= {f"plural {n}" for n in plurals} | {f"^{words[0]} plural" for _ in plurals[:1]}
    found |= {"code"} if len(tokens) > len(words) else set()
    return sorted(found | {f"long {min(len(words) // 5, 3)}"})


@cache
def _load_weights() -> dict[str, Any]:
    weights: dict[str, Any] = json.loads(_WEIGHTS.read_text(encoding="utf-8"))
    return weights


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


def read_breadth(question: str, file_scores: Sequence[float] = ()) -> Breadth:
    """Return how broad a question is. ``file_scores`` say how near each file is to it, the nearest first.

    >>> [read_breadth(text) for text in ("Who built the mill?", "Which mills use solar power?", "What is known about mills?")]
    ['narrow', 'list', 'broad']
    """
    if detect_language(question) not in (None, ENGLISH):
        return "narrow"
    likely = estimate_breadth(question)
    if likely["broad"] >= _MIN_BROAD or (likely["broad"] >= _OPEN and has_plateau(file_scores)):
        return "broad"
    return "list" if likely["list"] >= likely["narrow"] else "narrow"


def is_open(question: str) -> bool:
    """Whether the wording leaves it to the files if a question is broad."""
    return _OPEN <= estimate_breadth(question)["broad"] < _MIN_BROAD


def has_plateau(file_scores: Sequence[float]) -> bool:
    """Whether several files are about as near as the nearest.

    >>> has_plateau([0.6, 0.58, 0.55, 0.55, 0.5]), has_plateau([0.6, 0.3, 0.3, 0.2, 0.2])
    (True, False)
    """
    near = [score for score in file_scores if score >= _PLATEAU_SHARE * max(file_scores)]
    return len(near) >= _PLATEAU_FILES
