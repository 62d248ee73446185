"""Many gates over many recorded runs, each held against a constant number of rounds at the same cost.

Lift, gap closed and their reference curves are defined in ``measure/frontier.py``. Intervals are bootstrapped over
questions: all runs of one question move together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suffice.gates.base import Gate
from suffice.gates.basic import fixed
from suffice.leads import Embed
from suffice.measure.answers import f1
from suffice.measure.frontier import at, fixed_envelope, hull, oracle_envelope
from suffice.replay.judge import Halt, halt, readings_of
from suffice.replay.recorded import Episode
from suffice.types import Verdict

if TYPE_CHECKING:
    from numpy.typing import NDArray

DRAWS = 500


@dataclass(frozen=True, slots=True)
class Row:
    """How one gate did. What needs gold, answers or tokens that the recordings lack is ``None``."""

    gate: str
    mean_rounds: float
    mean_tokens: float | None
    recall: float | None
    all_gold: float | None
    answer_f1: float | None
    fire_rate: float | None
    abstained: int
    lift: float | None
    lift_ci: tuple[float, float] | None
    gap_closed: float | None
    stops: tuple[int, ...]


def compare(
    episodes: Sequence[Episode], gates: Sequence[Gate], *, embed: Embed | None = None, draws: int = DRAWS, seed: int = 0
) -> list[Row]:
    """A row for every gate, for ``fixed(k)`` with every k, and for the oracle."""
    needs = frozenset[str]().union(*(gate.needs for gate in gates)) if gates else frozenset()
    halts: list[list[Halt]] = [[] for _ in gates]
    for episode in episodes:
        readings = readings_of(episode, needs, embed)
        for number, gate in enumerate(gates):
            halts[number].append(halt(gate, readings, episode.seed))
    yard = _Yardstick(episodes, draws, seed)
    rows = [yard.row(str(gate), found) for gate, found in zip(gates, halts, strict=True)]
    longest = max(len(episode.rounds) for episode in episodes)
    rows += [yard.row(str(fixed(k)), yard.constant(k), given=False) for k in range(1, longest + 1)]
    rows.append(yard.row("oracle", yard.oracle(), given=False))
    return rows


class _Yardstick:
    """What the recordings allow to be measured: recall curves, answer scores, tokens, and the two reference frontiers."""

    def __init__(self, episodes: Sequence[Episode], draws: int, seed: int) -> None:
        self.episodes = episodes
        self.curves = [recall_curve(episode) for episode in episodes]
        self.answers = [_answers(episode) for episode in episodes]
        self.tokens = [_tokens(episode) for episode in episodes]
        self.judged = [i for i, curve in enumerate(self.curves) if curve is not None]
        curves = [curve for curve in self.curves if curve is not None]
        self.fixed = fixed_envelope(curves) if curves else None
        self.best = oracle_envelope(curves) if curves else None
        self._draws = _Draws([episodes[i].id for i in self.judged], curves, draws, seed) if curves else None

    def constant(self, k: int) -> list[Halt]:
        return [_halt(min(k, len(episode.rounds))) for episode in self.episodes]

    def oracle(self) -> list[Halt]:
        """Each run stops at the round of its last new gold; at round 1 if none ever comes."""
        return [_halt(1 if curve is None else curve.index(max(curve)) + 1) for curve in self.curves]

    def row(self, name: str, halts: Sequence[Halt], *, given: bool = True) -> Row:
        rounds = [found.rounds for found in halts]
        recalls = [self._recall_at(i, halts[i].kept) for i in self.judged]
        cost = [float(rounds[i]) for i in self.judged]
        recall = _mean(recalls)
        base = at(self.fixed, _mean(cost) or 1.0) if self.fixed else None
        lift = None if recall is None or base is None else recall - base
        gap = None if self.best is None or base is None else at(self.best, _mean(cost) or 1.0) - base
        return Row(
            gate=name,
            mean_rounds=sum(rounds) / len(rounds),
            mean_tokens=_mean([self.tokens[i][found.rounds - 1] for i, found in enumerate(halts)]),
            recall=recall,
            all_gold=_mean([float(value == 1) for value in recalls]),
            answer_f1=_mean([self._answer_at(i, found.kept) for i, found in enumerate(halts)]),
            fire_rate=sum(found.fired for found in halts) / len(halts) if given else None,
            abstained=sum(not found.fired and found.verdict.stop is None for found in halts) if given else 0,
            lift=lift,
            lift_ci=self._draws.interval(cost, recalls) if self._draws and lift is not None else None,
            gap_closed=lift / gap if lift is not None and gap is not None and gap > 1e-9 else None,
            stops=tuple(rounds),
        )

    def _recall_at(self, i: int, kept: int) -> float:
        curve = self.curves[i]
        assert curve is not None
        return curve[kept - 1] if kept else 0.0

    def _answer_at(self, i: int, kept: int) -> float | None:
        return self.answers[i][max(kept, 1) - 1]


class _Draws:
    """Bootstrap samples of questions, drawn once; each brings its own fixed-k envelope."""

    def __init__(self, ids: Sequence[str], curves: Sequence[Sequence[float]], draws: int, seed: int) -> None:
        import numpy

        self._numpy = numpy
        questions = {name: number for number, name in enumerate(dict.fromkeys(ids))}
        self._of = numpy.array([questions[name] for name in ids])
        self._count = len(questions)
        random = numpy.random.default_rng(seed)
        picks = random.multinomial(self._count, numpy.full(self._count, 1 / self._count), size=draws)
        self._weights = picks.astype(float)
        longest = max(map(len, curves))
        padded = [list(curve) + [curve[-1]] * (longest - len(curve)) for curve in curves]
        recall = numpy.maximum.accumulate(numpy.array(padded), axis=1)
        rounds = numpy.array([[min(k, len(curve)) for k in range(1, longest + 1)] for curve in curves], float)
        x, y = self._means(rounds), self._means(recall)
        self._envelopes = [hull(list(zip(x[i].tolist(), y[i].tolist(), strict=True))) for i in range(draws)]

    def interval(self, cost: Sequence[float], recalls: Sequence[float]) -> tuple[float, float]:
        pairs = self._means(self._numpy.array([cost, recalls], float).T)
        drawn = zip(pairs.tolist(), self._envelopes, strict=True)
        lifts = [recall - at(envelope, mean) for (mean, recall), envelope in drawn]
        low, high = self._numpy.quantile(lifts, (0.025, 0.975))
        return float(low), float(high)

    def _means(self, values: "NDArray[Any]") -> "NDArray[Any]":
        """Weighted means of the columns, one row a draw."""
        numpy = self._numpy
        sums = numpy.zeros((self._count, values.shape[1]))
        numpy.add.at(sums, self._of, values)
        sizes = numpy.bincount(self._of, minlength=self._count)
        means: NDArray[Any] = (self._weights @ sums) / (self._weights @ sizes)[:, None]
        return means


def recall_curve(episode: Episode) -> list[float] | None:
    """Share of the gold passages seen after each round; unknown without gold."""
    if not episode.gold:
        return None
    seen: set[str] = set()
    curve = []
    for round in episode.rounds:
        seen |= {hit.id for hit in round.raw} & episode.gold
        curve.append(len(seen) / len(episode.gold))
    return curve


def _answers(episode: Episode) -> list[float | None]:
    known = [round.answer for round in episode.rounds]
    return [None if answer is None or not episode.answers else f1(answer, episode.answers) for answer in known]


def _tokens(episode: Episode) -> list[float | None]:
    total: float | None = 0.0
    spent: list[float | None] = []
    for round in episode.rounds:
        total = None if total is None or round.tokens is None else total + round.tokens
        spent.append(total)
    return spent


def _halt(rounds: int) -> Halt:
    return Halt(rounds, rounds, True, Verdict("", True))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
