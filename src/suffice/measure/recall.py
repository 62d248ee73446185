"""Test whether a search has reached a recall target, by an exact test on a random sample of the unseen documents.

Callaghan and Müller-Hansen (2020), Statistical stopping criteria for automated screening. If recall were below the target,
at least K of the N unseen documents would be relevant. The fewer relevant ones a random sample of n shows, the less likely
that is: X ~ Hypergeometric(N, K, n); p = P(X ≤ x).
"""

from math import comb, floor


def min_hidden_below_target(found: int, target: float) -> int:
    """Return the smallest number K of unseen relevant documents with recall below the target: found/(found + K) < t."""
    return floor(found * (1 - target) / target + 1e-12) + 1


def p_recall_below(found: int, unseen: int, drawn: int, relevant_drawn: int, target: float) -> float:
    """Return the p-value of "recall is below the target", given the sample.

    ``found`` is the number of relevant documents known before the sample was drawn from the ``unseen`` ones.
    """
    hidden = min_hidden_below_target(found + relevant_drawn, target) + relevant_drawn
    if hidden > unseen or drawn > unseen:
        return 0.0 if hidden > unseen else 1.0
    total = comb(unseen, drawn)
    tail = sum(
        comb(hidden, i) * comb(unseen - hidden, drawn - i)
        for i in range(relevant_drawn + 1)
        if i <= hidden and 0 <= drawn - i <= unseen - hidden
    )
    return tail / total
