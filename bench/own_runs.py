"""Measure the default gate on runs of suffice itself: ``python -m bench.own_runs [--limit 100]``.

The recorded runs behind ``stopping.md`` come from other agents. Here the extractive engine searches ten rounds for every
question of both sets. ``worth`` is measured on these runs with weights fitted on the other set: on its recorded agents, and
on our own runs of it. Prices are calibrated without labels, as in ``stopping.md``.
"""

import argparse
import asyncio
import json
from contextlib import aclosing
from dataclasses import replace

from bench.recall import DATA, ROUNDS
from bench.stopping import CHEAP, MAIN, SETS, Transfer, average_shares, load_all, measure_transfer, record_readings
from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.events import RoundDone, SearchStopped
from suffice.gates.parse import parse_gate
from suffice.options import RunOptions
from suffice.replay.episodes import Episode, RecordedHit, RecordedRound
from suffice.types import Passage


async def record_runs(name: str, limit: int | None) -> list[Episode]:
    """Run ten rounds for each question of a set and measure their readings."""
    options = RunOptions(
        docs=str(DATA / name / "corpus.jsonl"),
        stop=f"fixed({ROUNDS})",
        max_rounds=ROUNDS,
        max_queries=10 * ROUNDS,
        max_tokens=10**9,
        per_round=5,
        model="extractive",
    )
    questions = [json.loads(line) for line in (DATA / name / "questions.jsonl").read_text().splitlines()][:limit]
    first = await prepare_run(questions[0]["question"], options)
    needs = parse_gate("worth").needs
    episodes = []
    for question in questions:
        rounds: list[RecordedRound] = []
        async with aclosing(run_pipeline(replace(first, task=question["question"]))) as events:
            async for event in events:
                if isinstance(event, RoundDone):
                    raw = tuple(_record_hit(passage) for passage in event.round.raw)
                    new = tuple(_record_hit(passage) for passage in event.round.new)
                    queries = event.round.queries
                    rounds.append(RecordedRound(len(rounds) + 1, queries, raw, new, {}))
                elif isinstance(event, SearchStopped):
                    break
        while len(rounds) < ROUNDS:  # The run had no further query; more rounds would bring nothing.
            rounds.append(RecordedRound(len(rounds) + 1, (), (), (), {}))
        gold = frozenset(question["gold"])
        episode = Episode(question["id"], question["question"], gold, (question["answer"],), "own", tuple(rounds))
        episodes.append(record_readings(episode, needs))
    return episodes


def _record_hit(passage: Passage) -> RecordedHit:
    return RecordedHit(passage.id, passage.title, passage.text, passage.score)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="only the first questions of each set")
    limit = parser.parse_args().limit
    recorded = load_all(("sampled",), embeddings=False)
    own = {(name, "sampled"): asyncio.run(record_runs(name, limit)) for name in SETS}
    print("| weights from | runs | rounds | lift | gap closed |\n|---|---|--:|--:|--:|")
    for source, weights in (("recorded agents", recorded), ("our own runs", own)):
        found = []
        for train, test in (SETS[::-1], SETS):
            found.append(
                measure_transfer(
                    train,
                    test,
                    {(train, "sampled"): weights[train, "sampled"], (test, "sampled"): own[test, "sampled"]},
                )
            )
            _print_rows(f"{source} of {train}", found[-1])
        for title, shares in (("all", [each.main for each in found]), ("cheap", [each.cheap for each in found])):
            share = average_shares([average_shares(list(by_cost.values())) for by_cost in shares])
            print(
                f"| **{source}** | **mean of the sets** | **{title}** | **{share}** | **{share.closed}** |", flush=True
            )


def _print_rows(source: str, found: Transfer) -> None:
    for costs, shares, note in ((MAIN, found.main, ""), (CHEAP, found.cheap, ", two at most")):
        for cost in costs:
            print(f"| {source} | {found.test} | {cost:g}{note} | {shares[cost]} | {shares[cost].closed} |", flush=True)


if __name__ == "__main__":
    main()
