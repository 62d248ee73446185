"""The gates that need no theory: a budget, a fixed number of rounds, and a model's own word."""

from collections.abc import Sequence

from suffice.gates.base import Dial, LeafGate
from suffice.types import Readings, Verdict

_STOP_REASONS = {
    "rounds": "budget_rounds",
    "queries": "budget_queries",
    "tokens": "budget_tokens",
    "seconds": "budget_time",
    "usd": "budget_cost",
}


class budget(LeafGate):
    """Stop when a bound is reached. The bound that is reached first, in this order, names the stop."""

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
                return self.make_verdict(True, _STOP_REASONS[name], f"{spent:g} of {bound:g} {name} spent", signals)
        # A spend that nobody measured (a price that is not known) bounds nothing, but it is no reason to say "unknown".
        return self.make_verdict(False, because="within the budget", signals=signals)


class fixed(LeafGate):
    """Stop after round ``k``, whatever was found: the baseline every other gate has to beat."""

    needs = frozenset({"spend.rounds"})
    dials = (Dial("k", 1, 20, 1, 3),)

    def __init__(self, k: int) -> None:
        if k < 1 or k != int(k):
            raise ValueError(f"fixed({k:g}) takes a whole number of rounds, 1 or more")
        super().__init__(k)
        self.k = int(k)

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_at_least("spend.rounds", readings, self.k, "budget_rounds", f"{self.k} rounds were wanted")


class sufficiency(LeafGate):
    """Stop when the model judges the evidence sufficient with probability ``p`` or more."""

    needs = frozenset({"sufficiency.model"})
    dials = (Dial("p", 0.05, 1, 0.05, 0.5),)

    def __init__(self, p: float = 0.5) -> None:
        if not 0 < p <= 1:
            raise ValueError(f"sufficiency(p={p:g}) takes a probability above 0 and up to 1")
        super().__init__(**({} if p == 0.5 else {"p": p}))
        self.p = p

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_at_least(
            "sufficiency.model", readings, self.p, "sufficient", "the evidence was judged sufficient"
        )
