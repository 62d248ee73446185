"""Has enough of what is relevant been found? An exact test on a random sample of what was not looked at.

Callaghan and Müller-Hansen (2020), Statistical stopping criteria for automated screening: draw at random from the N unseen
documents; if recall were still below the target, at least K relevant ones would have to be among them; the fewer the draws
show, the less likely that is. X ~ Hypergeometric(N, K, n); p = P(X ≤ x).
"""

from math import comb, floor


def min_hidden_below_target(found: int, target: float) -> int:
    """The smallest number of relevant documents left unseen for which recall is below the target: found/(found + K) < t."""
    return floor(found * (1 - target) / target + 1e-12) + 1


def p_recall_below(found: int, unseen: int, drawn: int, relevant_drawn: int, target: float) -> float:
    """The p-value of "recall is still below the target", given the draws; 1 when nothing speaks against it.

    ``found`` are the relevant documents known before the draws, ``unseen`` the documents the draws were taken from.
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
