"""Gates that stop on a judgement of the evidence: a model's verdict, its short answer, or the list of open questions."""

from collections.abc import Sequence

from suffice.gates.base import Dial
from suffice.gates.leaf import LeafGate
from suffice.types import Readings, Verdict

STABLE_ROUNDS = 2  # Rounds in a row that must give the same short answer.


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


class stable(LeafGate):
    """Stop when a short answer is the same in two rounds in a row and the model is sure of it.

    ``margin`` is how far its tokens must be ahead of the second best on average, as a probability. The answer is drafted after
    each round, which costs a call. Without log-probabilities the gate abstains; ``stable(margin=0)`` needs none.
    """

    dials = (Dial("margin", 0, 0.95, 0.05, 0.25),)

    def __init__(self, margin: float = 0.25) -> None:
        if not 0 <= margin < 1:
            raise ValueError(f"stable(margin={margin:g}) takes a difference of probabilities, from 0 to below 1")
        super().__init__(margin=margin)
        self.margin = margin
        self.needs = frozenset({"answer.stable", "answer.margin"} if margin else {"answer.stable"})

    def judge(self, readings: Sequence[Readings], seed: int = 0) -> Verdict:
        now: Readings = readings[-1] if readings else {}
        rounds, lead = now.get("answer.stable"), now.get("answer.margin")
        signals: dict[str, tuple[float | None, float]] = {"answer.stable": (rounds, STABLE_ROUNDS)}
        if self.margin:
            signals["answer.margin"] = (lead, self.margin)
        if rounds is not None and rounds < STABLE_ROUNDS:
            because = "the short answer changed" if rounds else "there is no short answer yet"
            return self.make_verdict(False, because=because, signals=signals)
        if rounds is None or (self.margin and lead is None):
            because = "no short answer with log-probabilities" if self.margin else "no short answer"
            return self.make_verdict(None, because=f"{because} was drafted in this round", signals=signals)
        same = f"the short answer is the same in {rounds:g} rounds in a row"
        if not self.margin or lead is None:
            return self.make_verdict(True, "sufficient", same, signals)
        stop = lead >= self.margin
        because = f"{same}; its tokens lead by {lead:.2f} {'≥' if stop else '<'} {self.margin:g}"
        return self.make_verdict(stop, "sufficient", because, signals)
