"""Stop gates: they decide after each round whether a run has enough."""

from suffice.gates.base import Gate
from suffice.gates.coverage import coverage
from suffice.gates.diminishing_returns import exhaustion, gain, recall, saturation, unseen
from suffice.gates.judgement import judged, predicates, stable, sufficiency
from suffice.gates.limits import budget, fixed
from suffice.gates.worth import worth

__all__ = [
    "Gate",
    "budget",
    "coverage",
    "exhaustion",
    "fixed",
    "gain",
    "judged",
    "predicates",
    "recall",
    "saturation",
    "stable",
    "sufficiency",
    "unseen",
    "worth",
]
