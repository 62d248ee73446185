"""Verdicts: when is it enough?"""

from suffice.gates.base import Gate
from suffice.gates.basic import budget, fixed, sufficiency
from suffice.gates.published import exhaustion, gain, judged, predicates, recall, saturation, unseen
from suffice.gates.worth import worth

__all__ = [
    "Gate",
    "budget",
    "exhaustion",
    "fixed",
    "gain",
    "judged",
    "predicates",
    "recall",
    "saturation",
    "sufficiency",
    "unseen",
    "worth",
]
