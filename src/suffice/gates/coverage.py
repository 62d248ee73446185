"""The gate of broad questions: stop when enough of what is relevant was read."""

from collections.abc import Sequence

from suffice.gates.base import Dial
from suffice.gates.leaf import LeafGate
from suffice.types import Promise, Readings, Verdict


class coverage(LeafGate):
    """Stop when an estimated share ``target`` of what is relevant has been seen.

    The estimate comes from the probability of relevance of every passage in scope, or, where the scope is not known, from how
    often the same results came back.
    """

    needs = frozenset({"relevance.seen"})
    dials = (Dial("target", 0.5, 1, 0.01, 0.9),)
    promise: Promise = "estimate"

    def __init__(self, target: float = 0.9) -> None:
        if not 0 < target <= 1:
            raise ValueError(f"coverage(target={target:g}) takes a share above 0 and up to 1")
        super().__init__(target=target)
        self.target = target

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        now = readings[-1] if readings else {}
        seen, low, high = (now.get(f"relevance.{name}") for name in ("seen", "low", "high"))
        if seen is None:
            return self.abstain("relevance.seen", self.target)
        stop = seen >= self.target
        is_range = low is not None and high is not None and f"{low:.0%}" != f"{high:.0%}"
        between = f" ({low:.0%} to {high:.0%})" if is_range else ""
        because = f"an estimated {seen:.0%}{between} of relevant passages were read; the target is {self.target:.0%}"
        return self.make_verdict(stop, "sufficient", because, {"relevance.seen": (seen, self.target)})
