"""Measure gates and agents in live runs, in which later queries depend on what was read.

    python -m bench.reading warm [--data DATA]
    python -m bench.reading run ROWS.jsonl [--model openai] [--limit 60] [--processes 2] [--seconds 600] [--gate CONDITION]…
    python -m bench.reading left ROWS.jsonl --model openai [--limit 60] [--processes 2] [--seconds 180]
    python -m bench.reading table ROWS.jsonl
    python -m bench.reading stable [ROWS.jsonl] [--into bench/stopping.md]

Every condition searches for every question of both sets with the real loop and the real corpus search; with a model the
answer is written too. A condition is a gate. ``STRATEGY: GATE`` uses another strategy and keeps the best 5 passages of a
round. ``+leads`` at its end also asks the best follow-up each round, ``top 3`` reads only the best three of each round,
``-left`` hides from the agent how many rounds are left. ``run`` adds to the rows it finds and leaves out what is there.
``left`` is the same for two agents with five rounds, told what is left or not. ``--write`` also writes the report if there
is no language model. ``warm`` builds the indexes, so that the processes of ``run`` only open them.

``over fixed k`` compares recall with the upper concave envelope of fixed k, also ``top N``, at the same number of passages.
Where short answers were drafted after each round, a table shows how well their margins tell right ones from wrong ones, and
where ``stable`` would have stopped at other margins.

``stable`` prints what ``stopping.md`` says about runs with a model, from ``stable_rows.jsonl.gz``; ``--into`` replaces that
section of a page.
"""

import argparse
import asyncio
import gzip
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy

from bench.qa import make_pool
from suffice.api import prepare_run
from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.events import Finished, RoundDone, SearchStopped
from suffice.gates.parse import parse_gate
from suffice.measure.answers import token_f1
from suffice.measure.frontier import interpolate, upper_concave_hull
from suffice.models.base import ModelWrapper, Reply
from suffice.options import RunOptions
from suffice.prompts.base import Prompt
from suffice.prompts.lab import TrialAnswer
from suffice.replay.judge import find_stop
from suffice.types import Query

A = TypeVar("A")

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("musique", "hotpotqa")
FIXED = tuple(f"fixed({k})" for k in range(1, 6))
OLD = "worth | exhaustion"
MARGINS = (0.0, 0.25, 0.5, 0.75, 0.9)
DRAFTED = "stable.after(5) | fixed(5)"  # Never stops early, but drafts an answer after each round.
TOP = tuple(f"fixed({k}) top 3" for k in (1, 2, 3))
BASELINES = (*FIXED, *TOP, DRAFTED)
MODEL_GATES = (
    "fixed(1)",
    "fixed(2)",
    "fixed(3)",
    OLD,
    "stable(.25) | fixed(5)",
    f"stable(.25) | {OLD}",
    DRAFTED,
    "ircot: fixed(3)",
    "ircot: fixed(3) +leads",
)
LEFT_GATES = tuple(f"{agent}: fixed(5){suffix}" for agent in ("ircot", "react") for suffix in ("", " -left"))
LEFT_ROUNDS = 5
ROUNDS, QUERIES = 10, 40  # Wide bounds: the gate is to decide.
DRAWS = 500
K = 5  # Passages of a round; the default.
STABLE_ROWS = Path(__file__).with_name("stable_rows.jsonl.gz")
STABLE_TITLE = "## With a model: stop on a stable answer"


@dataclass(frozen=True)
class Shard:
    """The part of the questions that one process asks, ``concurrency`` of them at a time."""

    data: Path
    rows: Path
    gates: tuple[str, ...]
    model: str
    limit: int | None
    number: int
    count: int
    ends_at: float
    concurrency: int = 1
    rounds: int = ROUNDS
    writes: bool = False


def run_shard(shard: Shard) -> int:
    return asyncio.run(_run_shard(shard))


async def _run_shard(shard: Shard) -> int:
    """Ask the questions of a shard under every condition, of both sets in turn, until the time is up; return the new rows."""
    done = {(row["set"], row["id"], row["gate"]) for row in read_rows(shard.rows)}
    configs: dict[tuple[str, str], RunConfig] = {}
    added = 0
    questions = {name: _read_questions(shard.data / name, shard.limit)[shard.number :: shard.count] for name in SETS}
    waiting = [
        (name, question)
        for position in range(max(map(len, questions.values())))
        for name in SETS
        for question in questions[name][position : position + 1]
    ]
    waiting.reverse()
    gates = [(gate, _parse_condition(gate)) for gate in shard.gates]
    for name in SETS:  # One search for each set and strategy, shared by the gates.
        for strategy in {condition.strategy for _, condition in gates}:
            configs[name, strategy] = await _prepare(shard, name, strategy)

    async def work() -> None:
        nonlocal added
        while waiting:
            name, question = waiting.pop()
            written: dict[frozenset[str], dict[str, Any]] = {}
            for gate, condition in gates:
                if time.time() > shard.ends_at:
                    return
                if (name, question["id"], gate) in done:
                    continue
                stop = parse_gate(f"({condition.gate}) | budget(rounds={shard.rounds}, queries={QUERIES})")
                config = configs[name, condition.strategy]
                model = _ListeningModel(config.model, tells_budget=condition.tells_budget)
                per_round = condition.per_round or config.per_round
                config = replace(config, stop=stop, interventions=condition.interventions, per_round=per_round)
                writes = shard.writes and condition.strategy == "auto"
                row = await _run_once(config, model, question, written if writes else None)
                with shard.rows.open("a", encoding="utf-8") as out:
                    print(json.dumps({"set": name, "gate": gate, "model": shard.model, **row}), file=out)
                added += 1

    await asyncio.gather(*(work() for _ in range(shard.concurrency)))
    return added


@dataclass(frozen=True)
class Condition:
    strategy: str
    gate: str
    interventions: tuple[str, ...]
    tells_budget: bool
    per_round: int | None


def _parse_condition(text: str) -> Condition:
    strategy, separator, rest = text.rpartition(": ")
    tells_budget = not rest.endswith(" -left")
    rest, _, top = rest.removesuffix(" -left").partition(" top ")
    gate, _, added = rest.partition(" +")
    per_round = int(top) if top else None
    return Condition(strategy if separator else "auto", gate, (added,) if added else (), tells_budget, per_round)


async def warm(data: Path, strategies: Sequence[str]) -> None:
    """Build the index of each set and embed its passages, once for all processes."""
    for name in SETS:
        for strategy in strategies:
            started = time.monotonic()
            options = RunOptions(docs=str(data / name / "corpus.jsonl"), model="extractive", strategy=strategy)
            config = await prepare_run("Who was it?", options)
            await config.search(Query("Who was it?"), K)
            print(f"{name}, {strategy}: ready after {time.monotonic() - started:.1f} s", flush=True)


def _read_questions(folder: Path, limit: int | None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()][:limit]


async def _prepare(shard: Shard, name: str, strategy: str) -> RunConfig:
    options = RunOptions(
        docs=str(shard.data / name / "corpus.jsonl"),
        strategy=strategy,
        stop="fixed(1)",
        max_rounds=shard.rounds,
        max_queries=QUERIES,
        max_tokens=10**9,
        max_seconds=120,
        model=shard.model,
        per_round=None if strategy == "auto" else K,
        review=False,
    )
    return await prepare_run("Who was it?", options)


class _ListeningModel(ModelWrapper):
    """Keeps the short answers that were drafted after each round. If it does not tell the budget, agents do not see it."""

    def __init__(self, model: Any, *, tells_budget: bool) -> None:
        super().__init__(model)
        self.drafted: list[str] = []
        self._tells_budget = tells_budget

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        if not self._tells_budget and hasattr(prompt, "left"):
            prompt = replace(prompt, left="")  # type: ignore[type-var]
        reply = await self.wrapped(prompt)
        if isinstance(prompt, TrialAnswer):
            self.drafted.append(reply.answer.text)  # type: ignore[attr-defined]
        return reply


async def _run_once(
    config: RunConfig,
    model: _ListeningModel,
    question: dict[str, Any],
    written: dict[frozenset[str], dict[str, Any]] | None,
) -> dict[str, Any]:
    """Return what a run found, what it cost, and how good its short answer is unless ``written`` is ``None``.

    ``written`` holds the answers to this question by the passages read: from the same passages the same answer is written, so
    it is written once.
    """
    gold, golds = set(question["gold"]), [question["answer"], *question.get("aliases", ())]
    read: set[str] = set()
    row: dict[str, Any] = {"id": question["id"], "rounds": 0, "queries": 0, "tokens": 0}
    by_round: list[dict[str, float | None]] = []
    async with aclosing(run_pipeline(replace(config, task=question["question"], model=model))) as events:
        async for event in events:
            if isinstance(event, RoundDone):
                row["queries"] += len(event.round.queries)
                row["tokens"] += event.tokens
                if event.accepted:
                    row["rounds"] += 1
                    read |= {passage.id for passage in event.round.new}
                    if "answer.stable" in event.readings:
                        kept = ("answer.margin", "answer.weakest", "answer.stable", "worth.p", "spend.tokens")
                        found: dict[str, float | None] = {name: event.readings.get(name) for name in kept}
                        by_round.append({**found, "recall": len(gold & read) / len(gold), "read": float(len(read))})
            elif isinstance(event, SearchStopped):
                row |= {"reason": event.stop.reason, "recall": len(gold & read) / len(gold), "read": len(read)}
                if by_round:
                    drafted = [token_f1(text, golds) for text in model.drafted]
                    row["by_round"] = [one | {"f1": f1} for one, f1 in zip(by_round, drafted, strict=False)]
                if written is None:
                    break  # Writing the report does not change what was read.
                if known := written.get(frozenset(read)):
                    row |= {**known, "all_tokens": row["tokens"] + known["all_tokens"]}
                    break
            elif isinstance(event, Finished):
                report = event.report
                all_tokens = report.usage.input_tokens + report.usage.output_tokens
                scores = {
                    "f1": token_f1(report.short_answer, golds) if report.short_answer else 0.0,
                    "contains": any(each.lower() in report.final_answer.lower() for each in golds),
                }
                row |= {**scores, "all_tokens": all_tokens}
                if written is not None:
                    written[frozenset(read)] = {**scores, "all_tokens": all_tokens - row["tokens"]}
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
        found = {gate: [runs[each] for each in shared] for gate, runs in by_gate.items()}
        lines += ["", f"{name}, model {model}, {len(shared)} questions", ""]
        if plain := {gate: runs for gate, runs in found.items() if ": " not in gate}:
            lines += format_table(plain)
        if strategies := {gate: runs for gate, runs in found.items() if ": " in gate}:
            lines += ["", f"{name}, model {model}: strategies with a model, {K} passages a round", ""]
            lines += _format_strategies(strategies)
        if DRAFTED in found:
            lines += ["", f"{name}, model {model}: short answers drafted after each of five rounds", ""]
            lines += _format_drafted([row["by_round"] for row in found[DRAFTED] if row.get("by_round")])
    return lines


def _format_strategies(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return recall with and without a change of the condition, and the difference with its interval over questions."""
    suffix = next((each for each in (" -left", " +leads") if any(gate.endswith(each) for gate in found)), "")
    change = "without the line" if suffix == " -left" else "with leads"
    lines = [f"| condition | recall | passages read | rounds | queries | tokens | ended itself | {change} |"]
    lines.append("|---|" + "--:|" * 7)
    for gate, runs in sorted(found.items()):
        means = [float(numpy.mean([row[name] for row in runs])) for name in ("read", "rounds", "queries", "tokens")]
        recall = numpy.array([row["recall"] for row in runs])
        lead = "–"
        if suffix and f"{gate}{suffix}" in found:
            gain = numpy.array([row["recall"] for row in found[f"{gate}{suffix}"]]) - recall
            lead = _format_interval([float(gain[pick].mean()) for pick in _draw(len(gain))])
        ended = numpy.mean([row["reason"] == "planner_done" for row in runs])
        figures = " | ".join(f"{mean:,.1f}" for mean in means)
        lines.append(f"| {_format_code(gate)} | {recall.mean():.3f} | {figures} | {ended:.0%} | {lead} |")
    return lines


def _format_drafted(runs: Sequence[Sequence[dict[str, float | None]]]) -> list[str]:
    """Return how well each reading tells right drafts (F1 of at least .5) from wrong ones, and where ``stable`` stops."""
    drafts = [one for run in runs for one in run]
    lines = ["| reading | drafts | right | AUC for a right draft |", "|---|--:|--:|--:|"]
    for name in ("answer.margin", "answer.weakest", "answer.stable"):
        known = [(float(one[name] or 0.0), (one["f1"] or 0.0) >= 0.5) for one in drafts if one[name] is not None]
        right = sum(is_right for _, is_right in known)
        lines.append(f"| `{name}` | {len(known)} | {right} | {_compute_auc(known)} |")
    lines += ["", "| gate, replayed | rounds | passages read | recall | F1 of the draft | tokens of the search |"]
    lines.append("|---|" + "--:|" * 5)
    for text in (*(f"stable(margin={margin})" for margin in MARGINS), *FIXED):
        kept = []
        for run in runs:
            readings = [{**one, "spend.rounds": float(number)} for number, one in enumerate(run, 1)]
            rounds = find_stop(parse_gate(text), readings).rounds
            kept.append((rounds, run[rounds - 1]))
        means = [numpy.mean([float(one[name] or 0.0) for _, one in kept]) for name in ("read", "recall", "f1")]
        tokens = numpy.mean([float(one["spend.tokens"] or 0.0) for _, one in kept])
        lines.append(
            f"| `{text}` | {numpy.mean([rounds for rounds, _ in kept]):.2f} | {means[0]:.1f} | {means[1]:.3f} | "
            f"{means[2]:.3f} | {tokens:,.0f} |"
        )
    return lines


def _compute_auc(scored: Sequence[tuple[float, bool]]) -> str:
    """Return the chance that a right one has a higher value than a wrong one; ties count half."""
    right = numpy.array([value for value, is_right in scored if is_right])
    wrong = numpy.array([value for value, is_right in scored if not is_right])
    if not len(right) or not len(wrong):
        return "–"
    higher = (right[:, None] > wrong[None, :]).mean() + (right[:, None] == wrong[None, :]).mean() / 2
    return f"{higher:.2f}"


def format_table(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    columns = ["recall", "read", "rounds", "queries", "tokens", "all_tokens", "f1", "contains"]
    columns = [name for name in columns if all(name in row for runs in found.values() for row in runs)]
    titles = {"read": "passages read", "tokens": "tokens of the search", "all_tokens": "tokens", "f1": "answer F1"}
    titles["contains"] = "gold in report"
    heads = [*(titles.get(name, name) for name in columns), "over fixed k"]
    lines = [f"| gate | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    for gate in sorted(found, key=lambda each: (not each.startswith("fixed"), each)):
        means = [numpy.mean([row[name] for row in found[gate]]) for name in columns]
        formats = [".3f" if name in ("recall", "f1", "contains") else ",.1f" for name in columns]
        cells = [format(mean, style) for mean, style in zip(means, formats, strict=True)]
        lines.append(f"| {_format_code(gate)} | {' | '.join([*cells, _format_lift(found, gate)])} |")
    return lines


def format_stable_section(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the section of ``stopping.md`` about runs with a model: every gate on both sets side by side, then the drafts."""
    lines = [
        STABLE_TITLE,
        "",
        "`stable(.25)` drafts a short answer after each round and stops when two in a row agree and their tokens are .25 ahead "
        "of the second best on average. The drafts count in the tokens. Made by `python -m bench.reading run ROWS.jsonl "
        "--model openai` and `python -m bench.reading stable`.",
        "",
    ]
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        found[row["set"]][row["gate"]][row["id"]] = row
    if not found:
        return [*lines, "It was not measured yet."]
    runs: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name, by_gate in found.items():
        shared = sorted(set.intersection(*map(set, by_gate.values())))
        runs[name] = {gate: [each[id] for id in shared] for gate, each in by_gate.items()}
    names = [name for name in SETS if name in runs]
    counts = ", ".join(f"{len(next(iter(runs[name].values())))} questions of {name}" for name in names)
    heads = [
        f"{name}: {column}" for name in names for column in ("recall", "over fixed k", "read", "tokens", "answer F1")
    ]
    lines += [f"{counts}. `over fixed k`: points of recall at the same number of passages read.", ""]
    lines += [f"| gate | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    for gate in [gate for gate in runs[names[0]] if ": " not in gate]:
        cells = []
        for name in names:
            mean = {
                column: numpy.mean([row[column] for row in runs[name][gate]])
                for column in ("recall", "read", "all_tokens", "f1")
            }
            plain = {each: own for each, own in runs[name].items() if ": " not in each}
            lift = _format_lift(plain, gate)
            cells += [
                f"{mean['recall']:.3f}",
                lift,
                f"{mean['read']:.1f}",
                f"{mean['all_tokens']:,.0f}",
                f"{mean['f1']:.3f}",
            ]
        lines.append(f"| {_format_code(gate)} | {' | '.join(cells)} |")
    for name in names:
        if DRAFTED in runs[name]:
            lines += ["", f"Short answers drafted after each of five rounds, {name}:", ""]
            lines += _format_drafted([row["by_round"] for row in runs[name][DRAFTED] if row.get("by_round")])
    for name in names:
        if strategies := {gate: own for gate, own in runs[name].items() if ": " in gate}:
            lines += ["", f"A strategy with a model, with and without the best follow-up in each round, {name}:", ""]
            lines += _format_strategies(strategies)
    return lines


def insert_section(page: Path, section: Sequence[str]) -> None:
    """Replace the section of the same title in a page; without one, add it before the page's second section."""
    before, separator, rest = page.read_text(encoding="utf-8").partition(f"{section[0]}\n")
    if separator:
        after = rest.partition("\n## ")
        rest = f"## {after[2]}" if after[1] else ""
    else:
        second = before.index("\n## ", before.index("\n## ") + 1) + 1
        before, rest = before[:second], before[second:]
    page.write_text(before + "\n".join([*section, "", rest]), encoding="utf-8")


def _format_code(gate: str) -> str:
    return f"`{gate}`".replace("|", "\\|")


def _format_lift(found: dict[str, list[dict[str, Any]]], gate: str) -> str:
    """Return how far the recall is over fixed k, in points, with a 95 % interval over questions."""
    if gate in BASELINES or not any(each in BASELINES for each in found):
        return "–"
    return _format_interval([_compute_lift(found, gate, pick) for pick in _draw(len(found[gate]))])


def _draw(count: int) -> list[Any]:
    """Return the numbers of all questions, then those of each draw of the bootstrap."""
    return [numpy.arange(count), *numpy.random.default_rng(0).integers(0, count, size=(DRAWS, count))]


def _format_interval(values: Sequence[float]) -> str:
    """Format the first value, of all questions, with the interval of the others, of the bootstrap's draws."""
    low, high = numpy.quantile(values[1:], (0.025, 0.975))
    return f"{100 * values[0]:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _compute_lift(found: dict[str, list[dict[str, Any]]], gate: str, pick: Any) -> float:
    def mean(name: str, runs: list[dict[str, Any]]) -> float:
        return float(numpy.mean(numpy.array([row[name] for row in runs])[pick]))

    points = sorted((mean("read", found[each]), mean("recall", found[each])) for each in found if each in BASELINES)
    return mean("recall", found[gate]) - interpolate(upper_concave_hull(points), mean("read", found[gate]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("warm", "run", "left", "table", "stable"))
    parser.add_argument("rows", type=Path, nargs="?")
    parser.add_argument("--into", type=Path, metavar="PAGE", help="with stable: replace this section of a page")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--limit", type=int, help="only the first questions of each set")
    parser.add_argument("--processes", type=int, default=1, help="each on a core of its own")
    parser.add_argument("--concurrency", type=int, default=1, help="questions that a process asks at the same time")
    parser.add_argument("--seconds", type=float, default=86_400.0, help="no question is begun after this time")
    parser.add_argument("--write", action="store_true", help="also write the report if there is no language model")
    parser.add_argument("--gate", action="append", help="a condition, instead of the usual ones; may be repeated")
    given = parser.parse_args()
    if given.action == "warm":
        strategies = dict.fromkeys(
            _parse_condition(gate).strategy for gate in given.gate or (*MODEL_GATES, *LEFT_GATES)
        )
        asyncio.run(warm(given.data, tuple(strategies)))
        return
    if given.action == "stable":
        section = format_stable_section(read_rows(given.rows or STABLE_ROWS))
        if given.into is not None:
            insert_section(given.into, section)
        print("\n".join(section))
        return
    rows = given.rows
    if rows is None:
        parser.error(f"{given.action} needs a file of rows")
    if given.action in ("run", "left"):
        if rows.suffix == ".gz":
            parser.error(f"{given.action} adds to a file ROWS.jsonl; name one")
        usual = (*FIXED, *TOP, OLD) if given.model == "extractive" else MODEL_GATES
        gates = tuple(given.gate or (LEFT_GATES if given.action == "left" else usual))
        writes = given.model != "extractive" or given.write
        rounds = LEFT_ROUNDS if given.action == "left" else ROUNDS
        ends_at, count = time.time() + given.seconds, given.processes
        first = Shard(
            *(given.data, rows, gates, given.model, given.limit, 0, count, ends_at, given.concurrency),
            rounds=rounds,
            writes=writes,
        )
        shards = [replace(first, number=number) for number in range(count)]
        with make_pool(count) as pool:
            print(f"{sum(pool.map(run_shard, shards))} new rows", flush=True)
    print("\n".join(format_tables(read_rows(rows))))


if __name__ == "__main__":
    main()
