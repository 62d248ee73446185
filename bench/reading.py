"""Measure reading, skipping and stopping in live runs without a language model: ``python -m bench.reading [--limit 60]``.

Later queries depend on what was read, so recorded runs cannot decide what skipping is worth. Every gate searches for every
question of both sets with the real loop and the real corpus search. ``equal k``: the recall of fixed k at the same number of
passages read, between the two nearest k.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

import numpy

from bench.recall import DATA
from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.events import RoundDone, SearchStopped
from suffice.gates.parse import parse_gate
from suffice.options import RunOptions

SETS = ("musique", "hotpotqa")
FIXED = tuple(f"fixed({k})" for k in range(1, 6))
GATES = (
    "worth(preview=1) | exhaustion",
    "worth | exhaustion | barren",
    "worth(price=0.2) | exhaustion | barren",
    "worth(price=0.05) | exhaustion | barren",
)
DRAWS = 500


@dataclass(frozen=True)
class Run:
    """What one run found and what it cost."""

    recall: float
    read: int
    rounds: int
    skipped: int
    queries: int


async def measure(name: str, gates: Sequence[str], limit: int | None, per_round: int | None) -> dict[str, list[Run]]:
    """Return one run per question for every gate."""
    questions = [json.loads(line) for line in (DATA / name / "questions.jsonl").read_text().splitlines()][:limit]
    options = RunOptions(
        docs=str(DATA / name / "corpus.jsonl"),
        stop="fixed(1)",
        max_rounds=10,
        max_queries=100,
        max_tokens=10**9,
        per_round=per_round,
        model="extractive",
    )
    first = await prepare_run(questions[0]["question"], options)
    found = {}
    for gate in gates:
        config = replace(first, stop=parse_gate(gate) | parse_gate("budget(rounds=10, queries=30)"))
        found[gate] = [await _run_once(replace(config, task=each["question"]), set(each["gold"])) for each in questions]
    return found


async def _run_once(config: Any, gold: set[str]) -> Run:
    read: set[str] = set()
    rounds = skipped = queries = 0
    async with aclosing(run_pipeline(config)) as events:
        async for event in events:
            if isinstance(event, RoundDone):
                queries += len(event.round.queries)
                skipped += event.skipped
                if event.accepted:
                    rounds += 1
                    read |= {passage.id for passage in event.round.new}
            elif isinstance(event, SearchStopped):
                break  # Writing the report does not change what was read.
    return Run(len(gold & read) / len(gold), len(read), rounds, skipped, queries)


def format_table(found: dict[str, list[Run]]) -> list[str]:
    lines = [
        "| gate | recall | passages read | rounds read | skipped | queries | over fixed k, equal passages |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for gate, runs in found.items():
        cells = [f"{numpy.mean([run.recall for run in runs]):.3f}"]
        cells += [
            f"{numpy.mean([getattr(run, name) for run in runs]):.2f}"
            for name in ("read", "rounds", "skipped", "queries")
        ]
        lift = "–" if gate in FIXED else _format_lift(found, gate)
        lines.append(
            f"| `{gate}` | ".replace(" | e", " \\| e").replace(" | b", " \\| b") + " | ".join([*cells, lift]) + " |"
        )
    return lines


def _format_lift(found: dict[str, list[Run]], gate: str) -> str:
    """Return the recall over fixed k at the same passages, in points, with a 95 % interval over questions."""
    count = len(found[gate])
    picks = numpy.random.default_rng(0).integers(0, count, size=(DRAWS, count))
    lifts = [_compute_lift(found, gate, pick) for pick in picks]
    low, high = numpy.quantile(lifts, (0.025, 0.975))
    return f"{100 * _compute_lift(found, gate, numpy.arange(count)):+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _compute_lift(found: dict[str, list[Run]], gate: str, pick: "numpy.ndarray") -> float:
    def mean(name: str, runs: list[Run]) -> float:
        return float(numpy.mean(numpy.array([getattr(run, name) for run in runs])[pick]))

    points = sorted((mean("read", found[each]), mean("recall", found[each])) for each in FIXED if each in found)
    base = numpy.interp(mean("read", found[gate]), *zip(*points, strict=True))
    return mean("recall", found[gate]) - float(base)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="only the first questions of each set")
    parser.add_argument("--per-round", type=int, help="passages a round (default: no bound)")
    parser.add_argument("--gate", action="append", help="a gate, instead of the built-in list; may be repeated")
    given = parser.parse_args()
    for name in SETS:
        found = asyncio.run(measure(name, (*FIXED, *(given.gate or GATES)), given.limit, given.per_round))
        print(f"\n{name}, {len(found[FIXED[0]])} questions\n")
        print("\n".join(format_table(found)), flush=True)


if __name__ == "__main__":
    main()
