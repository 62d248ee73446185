"""Estimate the best result of a gate that reads the evidence perfectly: ``python -m bench.ceiling``.

This gate knows how many gold passages there are and how many were found. From the same runs it knows how often the next
round brought a new one in that state, and it stops below the price that gives the requested mean rounds. The rest of the gap
to the oracle depends on the agent's next query, which no reading of the evidence can predict.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from suffice.measure.frontier import interpolate, oracle_envelope
from suffice.replay.compare import FixedReference, compute_recall_curve
from suffice.replay.episodes import read_episodes

DATA = Path(__file__).parents[2] / "shared" / "data" / "episodes"
AGENTS = ("ircot", "subq", "react")
COSTS = (1.5, 2.0, 2.5, 3.0)

State = tuple[int, int, int]


def list_states(curve: Sequence[float], gold: int) -> list[State]:
    """Return the state after each round: gold passages in total, found so far, rounds done."""
    return [(gold, round(recall * gold), done) for done, recall in enumerate(curve, 1)]


def estimate_chances(runs: Sequence[tuple[list[float], int]]) -> dict[State, float]:
    """Return how often the next round brought new gold, by state."""
    gains_by_state: dict[State, list[bool]] = defaultdict(list)
    for curve, gold in runs:
        for done, state in enumerate(list_states(curve, gold)[:-1], 1):
            gains_by_state[state].append(curve[done] > curve[done - 1])
    return {state: sum(gains) / len(gains) for state, gains in gains_by_state.items()}


def find_stops(runs: Sequence[tuple[list[float], int]], chances: dict[State, float], price: float) -> list[int]:
    """Return the round at which each run stops: the first whose chance of a gain is below the price."""
    stops = []
    for curve, gold in runs:
        by_round = [chances.get(state, 0.0) for state in list_states(curve, gold)]
        stops.append(next((done for done, p in enumerate(by_round, 1) if p < price), len(curve)))
    return stops


def compute_gap_closed(runs: Sequence[tuple[list[float], int]], cost: float) -> float:
    """Return the share of the gap closed at a cost, from a mixture of the nearest prices below and above it."""
    curves = [curve for curve, _ in runs]
    points = [[(float(k), recall) for k, recall in enumerate(curve, 1)] for curve in curves]
    fixed = FixedReference([str(number) for number in range(len(curves))], points, draws=1).envelope
    best, chances = oracle_envelope(curves), estimate_chances(runs)
    reached = []
    for price in sorted({*chances.values(), 1.1}):
        stops = find_stops(runs, chances, price)
        recall = sum(curve[done - 1] for curve, done in zip(curves, stops, strict=True)) / len(curves)
        reached.append((sum(stops) / len(stops), recall))
    reached.sort()
    below = max((point for point in reached if point[0] <= cost), default=reached[0])
    above = min((point for point in reached if point[0] >= cost), default=reached[-1])
    share = 0.0 if above[0] == below[0] else (cost - below[0]) / (above[0] - below[0])
    recall = below[1] + share * (above[1] - below[1])
    return (recall - interpolate(fixed, cost)) / (interpolate(best, cost) - interpolate(fixed, cost))


def main() -> None:
    print("| sampled runs of | " + " | ".join(f"{cost:g} rounds" for cost in COSTS) + " | mean |")
    print("|---|" + "--:|" * (len(COSTS) + 1))
    for name in ("musique", "hotpotqa"):
        episodes = [run for agent in AGENTS for run in read_episodes(DATA / f"{name}.{agent}.sampled.jsonl.gz")]
        runs = [(curve, len(run.gold)) for run in episodes if (curve := compute_recall_curve(run)) is not None]
        closed = [compute_gap_closed(runs, cost) for cost in COSTS]
        cells = [f"{share:.0%}" for share in (*closed, sum(closed) / len(closed))]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
