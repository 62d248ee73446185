"""Gates that limit what a run may spend, whatever it finds: ``budget`` and ``fixed``."""

from collections.abc import Sequence

from suffice.gates.base import Dial
from suffice.gates.leaf import LeafGate
from suffice.types import Readings, Verdict

# What each limit of a run is called as a stop reason.
LIMIT_REASONS = {
    "rounds": "budget_rounds",
    "queries": "budget_queries",
    "tokens": "budget_tokens",
    "seconds": "budget_time",
    "usd": "budget_cost",
}


class budget(LeafGate):
    """Stop when a limit is reached. If several are reached in one round, the first in this order gives the reason."""

    dials = (Dial("rounds", 1, 20, 1, 5),)

    def __init__(
        self,
        rounds: int | None = None,
        queries: int | None = None,
        tokens: int | None = None,
        seconds: float | None = None,
        usd: float | None = None,
    ) -> None:
        given = {"rounds": rounds, "queries": queries, "tokens": tokens, "seconds": seconds, "usd": usd}
        self.bounds = {name: bound for name, bound in given.items() if bound is not None}
        for name, bound in self.bounds.items():
            if bound <= 0:
                raise ValueError(f"budget({name}={bound:g}) must be greater than 0")
        super().__init__(**self.bounds)
        self.needs = frozenset(f"spend.{name}" for name in self.bounds)

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        now = readings[-1] if readings else {}
        signals = {f"spend.{name}": (now.get(f"spend.{name}"), float(bound)) for name, bound in self.bounds.items()}
        for name in self.bounds:
            spent, bound = signals[f"spend.{name}"]
            if spent is not None and spent >= bound:
                return self.make_verdict(True, LIMIT_REASONS[name], f"{spent:g} of {bound:g} {name} spent", signals)
        # An unknown cost (a model without a known price) cannot trigger the budget; the verdict is still "go on".
        return self.make_verdict(False, because="within the budget", signals=signals)


class fixed(LeafGate):
    """Stop after round ``k``, whatever was found. This is the baseline that every other gate has to beat."""

    needs = frozenset({"spend.rounds"})
    dials = (Dial("k", 1, 20, 1, 3),)

    def __init__(self, k: int) -> None:
        if k < 1 or k != int(k):
            raise ValueError(f"fixed({k:g}) takes a whole number of rounds, 1 or more")
        super().__init__(k)
        self.k = int(k)
        self.bounds = {"rounds": self.k}

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_at_least("spend.rounds", readings, self.k, "budget_rounds", f"{self.k} rounds are the limit")
