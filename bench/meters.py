"""Measure the cost of judging: the readings and verdicts of a round, and a replay of many runs.

    python -m bench.meters [--rounds 1000] [--episodes 10000] [--profile]

Passages are synthetic: 80 words each, drawn by Zipf's law, every eighth word a name; five new ones a round. If the evaluation
data is installed, passages of MuSiQue (81 words on average, a quarter not ASCII) are measured too. No embeddings. A round goes
through ``StopMonitor.observe``: all meters, and the gate judged twice, as in the loop. Targets: a round under 1 ms at 1,000
passages seen, no slower at round 1,000 than at round 10, and a replay of 10,000 runs with 20 gates under 60 s. Process time
is measured, so that other load on the machine matters less. The output is a Markdown table.
"""

import argparse
import cProfile
import json
import pstats
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy

from suffice.gates.parse import parse_gate
from suffice.lab.experiment import EXHAUSTION_SWEEP
from suffice.monitor import StopMonitor
from suffice.replay.compare import compare_gates
from suffice.replay.episodes import Episode, RecordedHit, RecordedRound

GATE = (
    "worth(price=0.000001) | exhaustion(j=1, u=0) | saturation(threshold=0) | unseen(mass=0) | budget(rounds=1000000)"
)
QUESTION = "Which company founded by Name12 in Name77 built the long bridge over the river that W40 crossed in 1887?"
CORPUS = Path(__file__).parents[2] / "shared" / "data" / "musique" / "corpus.jsonl"
PER_ROUND, WORDS, VOCABULARY, BLOCK = 5, 80, 20_000, 10
REPLAYED = (*EXHAUSTION_SWEEP, "worth", "unseen", "sufficiency(p=0.8)", "worth | exhaustion | budget(rounds=6)")


def make_passages(count: int, seed: int) -> list[dict[str, Any]]:
    random = numpy.random.default_rng(seed)
    weights = 1 / numpy.arange(1, VOCABULARY + 1)
    drawn = random.choice(VOCABULARY, (count, WORDS), p=weights / weights.sum())
    made = []
    for number, row in enumerate(drawn.tolist()):
        text = " ".join(f"Name{word}" if place % 8 == 5 else f"w{word}" for place, word in enumerate(row))
        made.append(
            {"id": f"p{number}", "title": f"Name{row[0]} {number}", "text": text, "score": 1 / (1 + number % 5)}
        )
    return made


def load_musique_passages(count: int) -> list[dict[str, Any]]:
    """Return shuffled passages of MuSiQue; none if the data is not installed."""
    if not CORPUS.is_file():
        return []
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    Random(3).shuffle(rows)
    selected = [{name: row[name] for name in ("id", "title", "text")} for row in rows[:count]]
    return [{**row, "score": 1 / (1 + number % 5)} for number, row in enumerate(selected)]


def make_rounds(count: int, seed: int = 1) -> list[tuple[list[str], list[dict[str, Any]]]]:
    return group_in_rounds(make_passages(count * PER_ROUND, seed))


def group_in_rounds(found: Sequence[dict[str, Any]]) -> list[tuple[list[str], list[dict[str, Any]]]]:
    firsts = range(0, len(found), PER_ROUND)
    return [
        ([f"Name{i % 300} and the bridge w{i}"], list(found[first : first + PER_ROUND]))
        for i, first in enumerate(firsts)
    ]


def observe(given: Sequence[tuple[list[str], list[dict[str, Any]]]]) -> list[float]:
    """Return the milliseconds per round for each block of ten rounds; single rounds vary too much."""
    monitor = StopMonitor(GATE, question=QUESTION)
    times = []
    for first in range(0, len(given), BLOCK):
        start = time.process_time()
        for queries, hits in given[first : first + BLOCK]:
            verdict = monitor.observe(queries, hits, tokens=100)
            assert not verdict.stop, "the gate must never stop"
        times.append(1000 * (time.process_time() - start) / len(given[first : first + BLOCK]))
    return times


def make_episodes(count: int, length: int = 10) -> list[Episode]:
    """Return runs without texts: ids, scores, a probability of sufficiency, tokens and gold passages."""
    random = numpy.random.default_rng(2)
    made = []
    for number in range(count):
        ids = random.integers(0, 40, (length, PER_ROUND)).tolist()
        sure = random.random(length).tolist()
        seen: set[int] = set()
        own = []
        for index, row in enumerate(ids):
            hits = tuple(RecordedHit(f"p{id}", score=1 / (1 + place)) for place, id in enumerate(row))
            new = tuple(hit for hit, id in zip(hits, row, strict=True) if id not in seen)
            seen.update(row)
            query = (f"bridge over the river {row[0] % 4}",)
            own.append(RecordedRound(index + 1, query, hits, new, {"sufficiency.model": sure[index]}, 100, "Ida"))
        made.append(Episode(f"q{number}", QUESTION, frozenset({"p1", "p2"}), ("Ida",), None, tuple(own), number))
    return made


def median_near(times: Sequence[float], number: int) -> float:
    """Return the median of the three blocks around a round."""
    block = (number - 1) // BLOCK
    return statistics.median(times[max(0, block - 1) : block + 2])


def print_profile(title: str, work: Callable[[], object]) -> None:
    profile = cProfile.Profile()
    profile.runcall(work)
    print(f"\n{title}", flush=True)
    pstats.Stats(profile).sort_stats("tottime").print_stats(12)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--profile", action="store_true", help="also print a profile")
    given = parser.parse_args()
    made = make_rounds(given.rounds)
    observe(make_rounds(20, seed=9))  # Warm up with other passages than those measured, because texts are cached.
    times = observe(made)
    at_thousand = median_near(times, min(1000 // PER_ROUND, len(made)))
    print("| readings and verdicts of a round, no embeddings | ms, median |\n|---|--:|")
    print(f"| at 1,000 passages seen (target: under 1) | {at_thousand:.2f} |")
    for number in (10, 100, 1000):
        if number <= len(made):
            print(f"| round {number:,} ({number * PER_ROUND:,} passages seen) | {median_near(times, number):.2f} |")
    if found := load_musique_passages(300 * PER_ROUND):
        own = observe(group_in_rounds(found))
        print(f"| at 1,000 passages seen, MuSiQue's passages | {median_near(own, 1000 // PER_ROUND):.2f} |")
    runs = make_episodes(given.episodes)
    gates = [parse_gate(text) for text in REPLAYED]
    start = time.process_time()
    compare_gates(runs, gates)
    seconds = time.process_time() - start
    print(f"\n| replay of {len(runs):,} runs of ten rounds, {len(gates)} gates, one process | {seconds:.0f} s |")
    if given.profile:
        print_profile("rounds", lambda: observe(made[:300]))
        print_profile("replay", lambda: compare_gates(runs[:1000], gates))


if __name__ == "__main__":
    main()
