"""Gates that stop on a judgement of the evidence: a model's verdict, or the list of open questions."""

from collections.abc import Sequence

from suffice.gates.base import Dial
from suffice.gates.leaf import LeafGate
from suffice.types import Readings, Verdict


class sufficiency(LeafGate):
    """Stop when the model judges the evidence sufficient with probability ``p`` or more."""

    needs = frozenset({"sufficiency.model"})
    dials = (Dial("p", 0.05, 1, 0.05, 0.5),)

    def __init__(self, p: float = 0.5) -> None:
        if not 0 < p <= 1:
            raise ValueError(f"sufficiency(p={p:g}) takes a probability above 0 and up to 1")
        super().__init__(p=p)
        self.p = p

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_at_least(
            "sufficiency.model", readings, self.p, "sufficient", "the evidence was judged sufficient"
        )


class predicates(LeafGate):
    """Stop when no needed question (predicate) of the belief is open."""

    needs = frozenset({"belief.open"})

    def __init__(self) -> None:
        super().__init__()

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_below("belief.open", readings, 1, "sufficient", "every needed predicate is resolved")


class judged(LeafGate):
    """Stop when a model calls the search exhausted.

    The ``conservative`` prompt tells the model to go on when in doubt; the ``neutral`` prompt does not. Both see what is known
    and the last ``window`` rounds.
    """

    def __init__(self, style: str = "conservative", window: int = 3) -> None:
        if style not in ("conservative", "neutral"):
            raise ValueError(f"judged(style={style}) is not known; choose conservative or neutral")
        if window < 1 or window != int(window):
            raise ValueError("judged(window) takes a whole number of rounds, 1 or more")
        super().__init__(style=style, window=window)
        self.reading = f"judged.{style}" if window == 3 else f"judged.{style}@{int(window)}"
        self.needs = frozenset({self.reading})

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        return self.judge_at_least(self.reading, readings, 1, "exhausted", "the model calls the search exhausted")
