"""Estimate how likely the first passages answer the question, and judge the evidence by it: yes, partly or no.

It is one number: what the reader says of the first passage, on the scale of a probability, or, where nothing was read, a sum
over words. ``weights.json`` holds the weights and the two thresholds (``python -m training.extractive.fit``).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from suffice.models.extractive.chains import Chain
from suffice.models.extractive.ranking import QuestionWords, RankedPassage, load_weights, logit
from suffice.text.entities import content_stems, extract_facets
from suffice.text.question import Question
from suffice.types import Sufficiency

SUFFICIENCY_FEATURES = ("reader", "unit", "names_missing", "length", "margin")
_MAX_MARGIN = 3.0
_ALONE = 1.0  # The margin of a single passage: a usual one.
_WORD = re.compile(r"\w[\w'’.-]*\w|\w")


def compute_features(question: Question, ranked: Sequence[RankedPassage]) -> tuple[float, ...]:
    """Return the features of a question and its evidence, in the order of ``SUFFICIENCY_FEATURES``.

    reader         log-odds of the reader's probability for the first passage
    unit           weight of the question's words that one sentence, item or row has
    names_missing  share of the question's names and identifiers that no passage has
    length         logarithm of the number of the question's words: of a long question a part is always missing
    margin         how far the first passage is ahead of the second
    """
    held = [candidate.stems for candidate in ranked]
    words, all_held = QuestionWords(question, held), frozenset[str]().union(*held)
    facets = extract_facets(question.text, limit=20, language=question.language)
    opening = question.text.split()[0] if question.text.split() else ""  # It has a capital letter in any case.
    names = [facet for facet in facets if facet.is_named and facet.text != opening]
    missing = sum(not facet.stems <= all_held for facet in names)
    return (
        logit(ranked[0].probability),
        max((unit.coverage for one in ranked for unit in one.units), default=0.0),
        missing / len(names) if names else 0.0,
        math.log(1 + len(words.weights)),
        min(_MAX_MARGIN, ranked[0].score - ranked[1].score) if len(ranked) > 1 else _ALONE,
    )


def estimate_sufficiency(question: Question, ranked: Sequence[RankedPassage], chain: Chain | None) -> Sufficiency:
    """Return whether the evidence answers the question.

    The reader has a say only where it reads single passages: of a chain it cannot tell whether the last step is missing.
    """
    is_read = chain is None and any(candidate.answer is not None for candidate in ranked)
    weights = load_weights()["sufficiency" if is_read else "sufficiency_unread"]
    named = zip(SUFFICIENCY_FEATURES, compute_features(question, ranked), strict=True)
    score = weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in named)
    probability = 1 / (1 + math.exp(-score))
    if probability < weights["no"]:
        return "no"
    parts = replace(question, text=" ".join(question.parts))  # Without what asks for a difference.
    lacks_part = find_missing_words(parts, frozenset().union(*(one.stems for one in ranked)))
    return "yes" if probability >= weights["yes"] and not lacks_part else "partly"


def find_missing_words(question: Question, held: frozenset[str]) -> tuple[str, ...]:
    """Return the question's content words that are not among the stems, as the question writes them."""
    found = ((word, content_stems(word, question.language)) for word in _WORD.findall(question.text))
    return tuple(dict.fromkeys(word for word, stems in found if stems and not stems & held))
