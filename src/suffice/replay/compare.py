"""Compare gates over recorded runs with a fixed number of rounds at the same cost.

Lift, gap closed and their reference curves are defined in ``measure/frontier.py``. Confidence intervals are bootstrapped over
questions, so that all runs of one question are drawn together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy
from numpy.typing import NDArray

from suffice.gates.base import Gate
from suffice.gates.limits import fixed
from suffice.measure.answers import token_f1
from suffice.measure.frontier import Point, interpolate, oracle_envelope, upper_concave_hull
from suffice.replay.episodes import Episode
from suffice.replay.judge import StopPoint, accumulate_tokens, find_stop, measure_readings
from suffice.types import Embed, Verdict

BOOTSTRAP_DRAWS = 500


@dataclass(frozen=True, slots=True)
class GateComparison:
    """The results of one gate. Figures that need gold, answers or tokens are ``None`` if the recordings lack them."""

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


def compare_gates(
    episodes: Sequence[Episode],
    gates: Sequence[Gate],
    *,
    embed: Embed | None = None,
    draws: int = BOOTSTRAP_DRAWS,
    seed: int = 0,
) -> list[GateComparison]:
    """Return a row for every gate, for ``fixed(k)`` with every k, and for the oracle."""
    needs = frozenset[str]().union(*(gate.needs for gate in gates)) if gates else frozenset()
    runs = [(measure_readings(episode, needs, embed), episode.seed) for episode in episodes]
    evaluator = _Evaluator(episodes, draws, seed)
    rows = [evaluator.evaluate(str(gate), [find_stop(gate, *run) for run in runs]) for gate in gates]
    longest = max(len(episode.rounds) for episode in episodes)
    for k in range(1, longest + 1):
        rows.append(evaluator.evaluate_reference(str(fixed(k)), [min(k, len(episode.rounds)) for episode in episodes]))
    # The oracle stops each run at the round of its last new gold passage; at round 1 if it finds none.
    ends = [1 if curve is None else curve.index(max(curve)) + 1 for curve in evaluator.curves]
    rows.append(evaluator.evaluate_reference("oracle", ends))
    return rows


class _Evaluator:
    """Recall curves, answer scores and tokens of the episodes, and the two reference frontiers."""

    def __init__(self, episodes: Sequence[Episode], draws: int, seed: int) -> None:
        self.curves = [compute_recall_curve(episode) for episode in episodes]
        self.answers = [
            [None if one.answer is None or not own.answers else token_f1(one.answer, own.answers) for one in own.rounds]
            for own in episodes
        ]
        self.tokens = [accumulate_tokens(episode) for episode in episodes]
        self.with_gold = {i: curve for i, curve in enumerate(self.curves) if curve is not None}
        curves = list(self.with_gold.values())
        self.oracle_frontier = oracle_envelope(curves) if curves else None
        points = [[(float(k), recall) for k, recall in enumerate(curve, 1)] for curve in curves]
        ids = [episodes[i].id for i in self.with_gold]
        self._fixed = FixedReference(ids, points, draws, seed) if curves else None

    def evaluate_reference(self, name: str, rounds: Sequence[int]) -> GateComparison:
        """Return the row of a reference that stops after these rounds; it has no fire rate and no abstentions."""
        stop_points = [StopPoint(count, count, True, Verdict("", True)) for count in rounds]
        return replace(self.evaluate(name, stop_points), fire_rate=None, abstained=0)

    def evaluate(self, name: str, stop_points: Sequence[StopPoint]) -> GateComparison:
        rounds = [point.rounds for point in stop_points]
        recalls = [[0.0, *curve][stop_points[i].kept_rounds] for i, curve in self.with_gold.items()]
        cost = [float(rounds[i]) for i in self.with_gold]
        recall, mean_cost = _mean(recalls), _mean(cost) or 1.0
        base = interpolate(self._fixed.envelope, mean_cost) if self._fixed else None
        lift = None if recall is None or base is None else recall - base
        best = interpolate(self.oracle_frontier, mean_cost) if self.oracle_frontier else None
        gap = None if best is None or base is None else best - base
        return GateComparison(
            gate=name,
            mean_rounds=sum(rounds) / len(rounds),
            mean_tokens=_mean([self.tokens[i][point.rounds - 1] for i, point in enumerate(stop_points)]),
            recall=recall,
            all_gold=_mean([float(value == 1) for value in recalls]),
            answer_f1=_mean([self.answers[i][max(point.kept_rounds, 1) - 1] for i, point in enumerate(stop_points)]),
            fire_rate=sum(point.fired for point in stop_points) / len(stop_points),
            abstained=sum(not point.fired and point.verdict.stop is None for point in stop_points),
            lift=lift,
            lift_ci=self._fixed.lift_interval(list(zip(cost, recalls, strict=True))) if self._fixed else None,
            gap_closed=lift / gap if lift is not None and gap is not None and gap > 1e-9 else None,
            stops=tuple(point.rounds for point in stop_points),
        )


class FixedReference:
    """What a fixed number of rounds reaches: an envelope of all runs, and one for each bootstrap sample of questions.

    ``curves`` are the cost and value of each run after each round; a shorter run keeps its last ones.
    """

    def __init__(
        self, questions: Sequence[str], curves: Sequence[Sequence[Point]], draws: int = BOOTSTRAP_DRAWS, seed: int = 0
    ) -> None:
        numbers = {name: number for number, name in enumerate(dict.fromkeys(questions))}
        self.question_count = len(numbers)
        self._question_index = numpy.array([numbers[name] for name in questions])
        chances = numpy.full(self.question_count, 1 / self.question_count)
        self._weights = numpy.random.default_rng(seed).multinomial(self.question_count, chances, size=draws)
        longest = max(map(len, curves))
        padded = numpy.array([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves], float)
        self.envelope = _find_envelope(padded.mean(axis=0))
        drawn = self._weighted_means(padded.reshape(len(curves), -1)).reshape(draws, longest, 2)
        self._envelopes = [_find_envelope(points) for points in drawn]

    def lift_interval(self, reached: Sequence[Point]) -> tuple[float, float]:
        """Return the 95 % interval of the mean value of runs less that of fixed rounds at the same mean cost."""
        drawn = zip(self._weighted_means(numpy.array(reached, float)).tolist(), self._envelopes, strict=True)
        lifts = [value - interpolate(envelope, cost) for (cost, value), envelope in drawn]
        low, high = numpy.quantile(lifts, (0.025, 0.975))
        return float(low), float(high)

    def _weighted_means(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the weighted means of the columns, one row per draw."""
        sums = numpy.zeros((self.question_count, values.shape[1]))
        numpy.add.at(sums, self._question_index, values)
        sizes = numpy.bincount(self._question_index, minlength=self.question_count)
        return numpy.asarray((self._weights @ sums) / (self._weights @ sizes)[:, None])


def _find_envelope(points: NDArray[Any]) -> list[Point]:
    return upper_concave_hull(sorted((cost, value) for cost, value in points.tolist()))


def compute_recall_curve(episode: Episode) -> list[float] | None:
    """Return the share of the gold passages seen after each round; ``None`` without gold."""
    if not episode.gold:
        return None
    seen: set[str] = set()
    curve = []
    for round in episode.rounds:
        seen |= {hit.id for hit in round.raw} & episode.gold
        curve.append(len(seen) / len(episode.gold))
    return curve


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
