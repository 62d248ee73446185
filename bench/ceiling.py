"""How far could any gate get that reads the evidence perfectly? ``python -m bench.ceiling``.

This gate is told what no gate can know: how many gold passages there are and how many of them were found. It looks up, in
the very runs it is judged on, how often the next round then brought a new one, and stops below a price that gives the wanted
mean rounds. What it leaves of the gap to the oracle is the agent's next query, which no reading of the evidence foresees.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from suffice.measure.frontier import fixed_envelope, interpolate, oracle_envelope
from suffice.replay.compare import compute_recall_curve
from suffice.replay.episodes import read_episodes

DATA = Path(__file__).parents[2] / "shared" / "data" / "episodes"
AGENTS = ("ircot", "subq", "react")
COSTS = (1.5, 2.0, 2.5, 3.0)

State = tuple[int, int, int]


def states(curve: Sequence[float], gold: int) -> list[State]:
    """What is known after each round: gold passages in all, found so far, rounds done."""
    return [(gold, round(recall * gold), done) for done, recall in enumerate(curve, 1)]


def chances(runs: Sequence[tuple[list[float], int]]) -> dict[State, float]:
    """How often the next round brings new gold, by state, in these runs."""
    seen: dict[State, list[bool]] = defaultdict(list)
    for curve, gold in runs:
        for done, state in enumerate(states(curve, gold)[:-1], 1):
            seen[state].append(curve[done] > curve[done - 1])
    return {state: sum(gains) / len(gains) for state, gains in seen.items()}


def stops(runs: Sequence[tuple[list[float], int]], chance: dict[State, float], price: float) -> list[int]:
    found = []
    for curve, gold in runs:
        course = [chance.get(state, 0.0) for state in states(curve, gold)]
        found.append(next((done for done, p in enumerate(course, 1) if p < price), len(curve)))
    return found


def gap_closed(runs: Sequence[tuple[list[float], int]], cost: float) -> float:
    """At the price whose mean rounds come nearest to the cost from below and above, mixed to meet it."""
    curves = [curve for curve, _ in runs]
    fixed, best, chance = fixed_envelope(curves), oracle_envelope(curves), chances(runs)
    points = []
    for price in sorted({*chance.values(), 1.1}):
        halted = stops(runs, chance, price)
        recall = sum(curve[done - 1] for curve, done in zip(curves, halted, strict=True)) / len(curves)
        points.append((sum(halted) / len(halted), recall))
    points.sort()
    below = max((point for point in points if point[0] <= cost), default=points[0])
    above = min((point for point in points if point[0] >= cost), default=points[-1])
    share = 0.0 if above[0] == below[0] else (cost - below[0]) / (above[0] - below[0])
    recall = below[1] + share * (above[1] - below[1])
    return (recall - interpolate(fixed, cost)) / (interpolate(best, cost) - interpolate(fixed, cost))


def main() -> None:
    print("| sampled runs of | " + " | ".join(f"{cost:g} rounds" for cost in COSTS) + " | mean |")
    print("|---|" + "--:|" * (len(COSTS) + 1))
    for name in ("musique", "hotpotqa"):
        episodes = [run for agent in AGENTS for run in read_episodes(DATA / f"{name}.{agent}.sampled.jsonl.gz")]
        runs = [(curve, len(run.gold)) for run in episodes if (curve := compute_recall_curve(run)) is not None]
        closed = [gap_closed(runs, cost) for cost in COSTS]
        cells = [f"{share:.0%}" for share in (*closed, sum(closed) / len(closed))]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
