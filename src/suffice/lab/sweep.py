"""The parameter sweep of the exhaustion gate: sixteen configurations, seven discrete and nine smooth.

The paper (docs/sources.md) names one of them, ``j=0.6, u=0.3, p=2``, and gives the range of ``u`` of the smooth ones, 0.10 to
0.15. **All other values are our choice**: one step away from the named configuration in each direction, and for the smooth ones
the grid of three ``j`` and three ``u`` with a weight of 0.5.
"""

NAMED_IN_THE_PAPER = "exhaustion(j=0.6, u=0.3, p=2)"

EXHAUSTION_SWEEP: tuple[str, ...] = (
    "exhaustion(j=0.5, u=0.3, p=2)",
    "exhaustion(j=0.6, u=0.2, p=2)",
    "exhaustion(j=0.6, u=0.3, p=1)",
    NAMED_IN_THE_PAPER,
    "exhaustion(j=0.6, u=0.3, p=3)",
    "exhaustion(j=0.7, u=0.3, p=2)",
    "exhaustion(j=0.8, u=0.5, p=2)",
    *(f"exhaustion(j={j}, u={u}, p=1, smooth=0.5)" for j in (0.5, 0.6, 0.7) for u in (0.1, 0.12, 0.15)),
)
