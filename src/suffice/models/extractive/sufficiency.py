"""Estimate how likely the evidence answers the question, and judge it: yes, partly or no.

Logistic over a few features. ``weights.json`` holds the weights and the thresholds: they come from questions with their answer
in the corpus, and the same questions with it taken out (``python -m training.extractive.fit``).
"""

import math
import re
from collections.abc import Sequence

from suffice.models.extractive.chains import Chain
from suffice.models.extractive.ranking import QuestionWords, RankedPassage, load_weights, logit
from suffice.text.entities import content_stems, extract_facets
from suffice.text.question import Question
from suffice.types import Sufficiency

SUFFICIENCY_FEATURES = ("reader", "words", "found", "cosine", "names_missing")
_WORD = re.compile(r"\w[\w'’.-]*\w|\w")


def compute_features(question: Question, ranked: Sequence[RankedPassage]) -> tuple[float, ...]:
    """Return the features of a question and its evidence, in the order of ``SUFFICIENCY_FEATURES``.

    reader         log-odds of the reader's best probability
    words          weight of the question's words that one passage has
    found          … that all passages have together
    cosine         similarity of the nearest passage
    names_missing  share of the question's names and identifiers that no passage has
    """
    held = [candidate.stems for candidate in ranked]
    words, all_held = QuestionWords(question, held), frozenset[str]().union(*held)
    facets = extract_facets(question.text, limit=20, language=question.language)
    opening = question.text.split()[0] if question.text.split() else ""  # It has a capital letter in any case.
    names = [facet for facet in facets if facet.is_named and facet.text != opening]
    missing = sum(not facet.stems <= all_held for facet in names)
    return (
        logit(max(one.probability for one in ranked)),
        max(words.coverage(stems) for stems in held),
        words.coverage(all_held),
        max(candidate.cosine for candidate in ranked),
        missing / len(names) if names else 0.0,
    )


def estimate_sufficiency(
    question: Question, ranked: Sequence[RankedPassage], chain: Chain | None
) -> tuple[float, Sufficiency]:
    """Return the probability that the evidence answers the question, and the judgement for it.

    The reader has a say only where it reads single passages: of a chain it cannot tell whether the last step is missing.
    """
    is_read = chain is None and any(candidate.answer is not None for candidate in ranked)
    weights = load_weights()["sufficiency" if is_read else "sufficiency_unread"]
    features = zip(SUFFICIENCY_FEATURES, compute_features(question, ranked), strict=True)
    value = weights["bias"] + sum(weights.get(name, 0.0) * value for name, value in features)
    probability = 1 / (1 + math.exp(-value))
    if probability < weights["no"]:
        return probability, "no"
    return probability, "yes" if probability >= weights["yes"] else "partly"


def find_missing_words(question: Question, held: frozenset[str]) -> tuple[str, ...]:
    """Return the question's content words that are not among the stems, as the question writes them."""
    found = ((word, content_stems(word, question.language)) for word in _WORD.findall(question.text))
    return tuple(dict.fromkeys(word for word, stems in found if stems and not stems & held))
