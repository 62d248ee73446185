"""How likely each of a few words was as the beginning of an answer, where the provider says (log-probabilities).

A sureness that a model writes down is a figure of speech; what it would have written instead is a measurement.
"""

from collections.abc import Mapping, Sequence
from math import exp
from typing import Any

TOP_LOGPROBS = 20  # As many as OpenAI gives; other servers give as many as they are asked for.


def choice_probabilities(text: str, tokens: Sequence[Mapping[str, Any]], choices: Sequence[str]) -> dict[str, float]:
    """The share of each choice in what could have come first; empty when the provider gave nothing that tells.

    A token is often only the beginning of a word: it counts for the one choice that it begins.

    >>> top = [{"token": " NO", "logprob": -0.1}, {"token": "Y", "logprob": -2.4}, {"token": "The", "logprob": -9.0}]
    >>> {word: round(share, 2) for word, share in shares("NO", [{"token": " NO", "top_logprobs": top}], ("YES", "NO")).items()}
    {'YES': 0.09, 'NO': 0.91}
    """
    first = next((token for token in tokens if _token_text(token)), None)
    if first is None or not text.strip().upper().startswith(tuple(choices)) or not _matching_choices(first, choices):
        return {}  # It said something else before, such as what it thought.
    found = dict.fromkeys(choices, 0.0)
    for other in first.get("top_logprobs") or ():
        if len(begun := _matching_choices(other, choices)) == 1:
            found[begun[0]] += exp(other["logprob"])
    total = sum(found.values())
    return {choice: share / total for choice, share in found.items()} if total else {}


def _matching_choices(token: Mapping[str, Any], choices: Sequence[str]) -> list[str]:
    """The choices that the token is a beginning of."""
    word = _token_text(token)
    return [choice for choice in choices if word and choice.startswith(word)]


def _token_text(token: Mapping[str, Any]) -> str:
    return str(token.get("token") or "").strip().upper()
