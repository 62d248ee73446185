"""Verdicts: when is it enough?"""

from suffice.gates.base import Gate
from suffice.gates.basic import budget, fixed, sufficiency
from suffice.gates.published import exhaustion, saturation

__all__ = ["Gate", "budget", "exhaustion", "fixed", "saturation", "sufficiency"]
