"""Measure reading, skipping and stopping in live runs.

    python -m bench.reading run ROWS.jsonl [--model openai] [--limit 60] [--processes 2] [--seconds 600] [--gate EXPR]…
    python -m bench.reading table ROWS.jsonl

Later queries depend on what was read, so recorded runs cannot decide what skipping is worth. Every gate searches for every
question of both sets with the real loop and the real corpus search; with a model the answer is written too. A gate may end
in ``+leads``, which also asks the best follow-up each round. ``run`` adds to the rows it finds and leaves out what is there.

``over fixed k`` compares recall with that of fixed k at the same number of passages read, between the two nearest k;
``skips at 10 %`` the same if each skipped round costs as much as reading a tenth of a round's passages; ``over worth`` is how
far ``over fixed k`` is above that of the gate that only stops.
"""

import argparse
import asyncio
import gzip
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy

from suffice.api import prepare_run
from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.events import Finished, RoundDone, SearchStopped
from suffice.gates.parse import parse_gate
from suffice.measure.answers import token_f1
from suffice.options import RunOptions

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("musique", "hotpotqa")
FIXED = tuple(f"fixed({k})" for k in range(1, 6))
OLD = "worth | exhaustion"
GATES = (OLD, *(f"worth(price={price}, preview=0.1) | exhaustion | barren" for price in (0.1, 0.2, 0.35, 0.5)))
MODEL_GATES = (
    "fixed(1)",
    "fixed(2)",
    "fixed(3)",
    *GATES,
    f"{OLD} +leads",
    "worth(price=0.2, preview=0.1) | exhaustion | barren +leads",
)
PREVIEW = 0.1  # What a skipped round costs, as a share of one that is read.
BOUNDS = "budget(rounds=10, queries=40)"  # Wide: the gate is to decide.
DRAWS = 500
KEPT_ROWS = Path(__file__).with_name("reading_rows.jsonl.gz")
K = 5  # Passages of a round; the default.


@dataclass(frozen=True)
class Shard:
    """The part of the questions that one process asks."""

    data: Path
    rows: Path
    gates: tuple[str, ...]
    model: str
    limit: int | None
    number: int
    count: int
    ends_at: float


def run_shard(shard: Shard) -> int:
    return asyncio.run(_run_shard(shard))


async def _run_shard(shard: Shard) -> int:
    """Ask the questions of a shard with every gate, one set after the other, until the time is up; return the new rows."""
    done = {(row["set"], row["id"], row["gate"]) for row in read_rows(shard.rows)}
    configs: dict[tuple[str, str], RunConfig] = {}
    added = 0
    questions = {name: _read_questions(shard.data / name, shard.limit)[shard.number :: shard.count] for name in SETS}
    for position in range(max(map(len, questions.values()))):
        for name in SETS:
            for question in questions[name][position : position + 1]:
                for gate in shard.gates:
                    if time.time() > shard.ends_at:
                        return added
                    if (name, question["id"], gate) in done:
                        continue
                    if (name, gate) not in configs:
                        configs[name, gate] = await _prepare(shard, name, gate)
                    row = await _run_once(configs[name, gate], question, writes=shard.model != "extractive")
                    with shard.rows.open("a", encoding="utf-8") as out:
                        print(json.dumps({"set": name, "gate": gate, "model": shard.model, **row}), file=out)
                    added += 1
    return added


def _read_questions(folder: Path, limit: int | None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()][:limit]


async def _prepare(shard: Shard, name: str, gate: str) -> RunConfig:
    expression, _, leads = gate.partition(" +")
    options = RunOptions(
        docs=str(shard.data / name / "corpus.jsonl"),
        stop="fixed(1)",
        max_rounds=10,
        max_queries=40,
        max_tokens=10**9,
        max_seconds=120,
        model=shard.model,
        interventions=(leads,) if leads else (),
        review=False,
    )
    config = await prepare_run("Who was it?", options)
    return replace(config, stop=parse_gate(expression) | parse_gate(BOUNDS))


async def _run_once(config: RunConfig, question: dict[str, Any], writes: bool) -> dict[str, Any]:
    """Return what a run found, what it cost, and, if it ``writes``, how good its short answer is."""
    gold, golds = set(question["gold"]), [question["answer"], *question.get("aliases", ())]
    read: set[str] = set()
    row: dict[str, Any] = {"id": question["id"], "rounds": 0, "skipped": 0, "queries": 0, "tokens": 0}
    async with aclosing(run_pipeline(replace(config, task=question["question"]))) as events:
        async for event in events:
            if isinstance(event, RoundDone):
                row["queries"] += len(event.round.queries)
                row["skipped"] += event.skipped
                row["tokens"] += event.tokens
                if event.accepted:
                    row["rounds"] += 1
                    read |= {passage.id for passage in event.round.new}
            elif isinstance(event, SearchStopped):
                row |= {"reason": event.stop.reason, "recall": len(gold & read) / len(gold), "read": len(read)}
                if not writes:
                    break  # Writing the report does not change what was read.
            elif isinstance(event, Finished):
                report = event.report
                row["all_tokens"] = report.usage.input_tokens + report.usage.output_tokens
                row["f1"] = token_f1(report.short_answer, golds) if report.short_answer else 0.0
                row["contains"] = any(each.lower() in report.final_answer.lower() for each in golds)
    return row


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a ``.jsonl`` or ``.jsonl.gz`` file; none if it is not there."""
    if not path.exists():
        return []
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [json.loads(line) for line in file]


# -- the tables --------------------------------------------------------------------------------------------------------


def format_tables(rows: Sequence[dict[str, Any]]) -> list[str]:
    by_set: dict[tuple[str, str], dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        by_set[row["model"], row["set"]][row["gate"]][row["id"]] = row
    lines = []
    for (model, name), by_gate in by_set.items():
        shared = sorted(set.intersection(*(set(runs) for runs in by_gate.values())))
        lines += ["", f"{name}, model {model}, {len(shared)} questions", ""]
        lines += format_table({gate: [runs[each] for each in shared] for gate, runs in by_gate.items()})
    return lines


def format_table(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    columns = ["recall", "read", "rounds", "skipped", "queries", "tokens", "all_tokens", "f1"]
    columns = [name for name in columns if all(name in row for runs in found.values() for row in runs)]
    titles = {"read": "passages read", "tokens": "tokens of the search", "all_tokens": "tokens", "f1": "answer F1"}
    heads = [titles.get(name, name) for name in columns]
    heads += ["over fixed k", "skips at 10 %", "over worth"]
    lines = [f"| gate | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    for gate in sorted(found, key=lambda each: (not each.startswith("fixed"), each)):
        means = [numpy.mean([row[name] for row in found[gate]]) for name in columns]
        formats = [".3f" if name in ("recall", "f1") else ",.1f" for name in columns]
        cells = [format(mean, style) for mean, style in zip(means, formats, strict=True)]
        code = f"`{gate}`".replace("|", "\\|")
        lines.append(f"| {code} | {' | '.join([*cells, *_format_lifts(found, gate)])} |")
    return lines


def format_summary(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines that ``stopping.md`` has of the runs without a model, with the prices that are better on both sets."""
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if row["model"] == "extractive":
            found[row["set"]][row["gate"]][row["id"]] = row
    runs = {
        name: {gate: [each[id] for id in sorted(each)] for gate, each in by_gate.items()}
        for name, by_gate in found.items()
    }
    count = len(next(iter(runs[SETS[0]].values())))
    lines = [
        f"**Live**, {count} questions a set without a language model, points of recall over fixed k at the same number of "
        f"passages read; in brackets, if a skipped round costs {PREVIEW:.0%} of one ([reading.md](reading.md) has intervals, "
        "runs with a model and what follows):",
        "",
        f"| gate | {' | '.join(SETS)} |",
        "|---|--:|--:|",
    ]
    better = []
    for gate in GATES:
        cells = []
        for name in SETS:
            everyone = numpy.arange(len(runs[name][gate]))
            free, paid = (100 * _compute_lift(runs[name], gate, everyone, preview) for preview in (0.0, PREVIEW))
            cells.append(f"{free:+.1f}" if gate == OLD else f"{free:+.1f} ({paid:+.1f})")
        code = f"`{gate}`".replace("|", "\\|")
        lines.append(f"| {code} | {' | '.join(cells)} |")
        if gate != OLD and all(numpy.quantile(_compare_with_old(runs[name], gate)[1:], 0.025) > 0 for name in SETS):
            better.append(f"`{gate}`")
    return [
        *lines,
        "",
        f"Better than `{OLD}` on both sets, with whole intervals and skipped rounds for free: {', '.join(better) or 'none'}.",
    ]


def _format_lifts(found: dict[str, list[dict[str, Any]]], gate: str) -> list[str]:
    """Return the three differences of recall, in points, with 95 % intervals over questions."""
    if gate.startswith("fixed"):
        return ["–"] * 3
    picks = _draw(len(found[gate]))
    texts = [
        _format_interval([_compute_lift(found, gate, pick, preview) for pick in picks]) for preview in (0.0, PREVIEW)
    ]
    return [*texts, "–" if gate == OLD or OLD not in found else _format_interval(_compare_with_old(found, gate))]


def _draw(count: int) -> list[Any]:
    """Return the numbers of all questions, then those of each draw of the bootstrap."""
    return [numpy.arange(count), *numpy.random.default_rng(0).integers(0, count, size=(DRAWS, count))]


def _compare_with_old(found: dict[str, list[dict[str, Any]]], gate: str) -> list[float]:
    """Return how much better a gate is over fixed k than the one that only stops: of all questions, then of each draw."""
    return [
        _compute_lift(found, gate, pick, 0.0) - _compute_lift(found, OLD, pick, 0.0) for pick in _draw(len(found[gate]))
    ]


def _format_interval(values: Sequence[float]) -> str:
    """Format the first value, of all questions, with the interval of the others, of the bootstrap's draws."""
    low, high = numpy.quantile(values[1:], (0.025, 0.975))
    return f"{100 * values[0]:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _compute_lift(found: dict[str, list[dict[str, Any]]], gate: str, pick: Any, preview: float) -> float:
    def mean(name: str, runs: list[dict[str, Any]]) -> float:
        return float(numpy.mean(numpy.array([row[name] for row in runs])[pick]))

    fixed = [each for each in found if each.startswith("fixed")]
    points = sorted((mean("read", found[each]), mean("recall", found[each])) for each in fixed)
    x, y = zip(*points, strict=True)
    cost = mean("read", found[gate]) + preview * K * mean("skipped", found[gate])
    return mean("recall", found[gate]) - float(numpy.interp(cost, x, y))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "table"))
    parser.add_argument("rows", type=Path)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--limit", type=int, help="only the first questions of each set")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=86_400.0, help="no question is begun after this time")
    parser.add_argument("--gate", action="append", help="a gate, instead of the usual ones; may be repeated")
    given = parser.parse_args()
    if given.action == "run":
        gates = tuple(given.gate or ((*FIXED, *GATES) if given.model == "extractive" else MODEL_GATES))
        ends_at, count = time.time() + given.seconds, given.processes
        shards = [
            Shard(given.data, given.rows, gates, given.model, given.limit, number, count, ends_at)
            for number in range(count)
        ]
        with ProcessPoolExecutor(count) as pool:
            print(f"{sum(pool.map(run_shard, shards))} new rows", flush=True)
    print("\n".join(format_tables(read_rows(given.rows))))


if __name__ == "__main__":
    main()
