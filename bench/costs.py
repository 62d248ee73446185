"""Record what runs cost by role, for the estimate before a run (``suffice ask --dry-run``).

    python -m bench.costs run --data FOLDER … [--model openai] [--questions 6] [--seconds 300] --out rows.jsonl
    python -m bench.costs write rows.jsonl --model NAME > src/suffice/engine/recorded_costs.json

A folder has ``corpus.jsonl`` and ``questions.jsonl``. ``run`` answers questions with every strategy, tier and writer, and
appends one line a run: rounds, searches, and calls and tokens by role, no text of the data set. Started again, it continues.
``write`` prints the runs in the form that the package reads, with the model and the date. Steps that a run would skip because
of what this model did in earlier runs are not skipped here.
"""

import argparse
import asyncio
import json
import os
import time
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

from bench.qa import append_line, load_questions, read_rows

STRATEGIES = ("auto", "reflect", "saturate", "predicates", "outline", "ircot", "react", "memgpt", "iterretgen")
TIERS = ("standard", "simple", "deep")
WRITERS = ("prose", "sentence")
MAX_RUNS = 12  # Runs of a group that the package holds.


def list_jobs(folders: list[Path], count: int) -> list[dict[str, Any]]:
    """Return all runs, so that any beginning of the list has about the same number of every kind."""
    jobs = []
    for number in range(count):
        for folder, tier, strategy, writer in product(folders, TIERS, STRATEGIES, WRITERS):
            question = load_questions(folder, count)[number]
            jobs.append({"folder": folder, "tier": tier, "strategy": strategy, "writer": writer, "question": question})
    return jobs


async def run_job(job: dict[str, Any], model: str, out: Path) -> None:
    from suffice.api import prepare_run
    from suffice.engine.pipeline import run_pipeline
    from suffice.events import Finished
    from suffice.models.capability import ModelProfile
    from suffice.options import RunOptions

    options = RunOptions(
        docs=str(job["folder"] / "corpus.jsonl"), model=model, strategy=job["strategy"], tier=job["tier"], alpha=1.0
    )
    config = await prepare_run(job["question"]["question"], options)
    config = replace(config, profile=ModelProfile(job["writer"], max_tokens=config.profile.max_tokens))
    async for event in run_pipeline(config):
        if isinstance(event, Finished):
            usage = event.report.usage
            row = {
                **{name: job[name] for name in ("tier", "strategy", "writer")},
                "data": job["folder"].name,
                "id": job["question"]["id"],
                "rounds": len(event.report.stop.rounds),
                "searches": usage.searches,
                "roles": {name: [r.calls, r.input_tokens, r.output_tokens] for name, r in usage.by_role.items()},
            }
            append_line(out, json.dumps(row))


def identify(row: dict[str, Any]) -> tuple[str, ...]:
    return row["data"], row["id"], row["tier"], row["strategy"], row["writer"]


async def run_all(options: argparse.Namespace, number: int = 0) -> None:
    """Run the share of one process until the time is up."""
    done = {identify(row) for row in read_rows(options.out)}
    jobs = list_jobs(options.data, options.questions)[number :: options.processes]
    left = iter(
        job for job in jobs if identify({**job, "data": job["folder"].name, "id": job["question"]["id"]}) not in done
    )
    end = time.monotonic() + options.seconds

    async def work() -> None:
        for job in left:
            if time.monotonic() > end:
                return
            try:
                await run_job(job, options.model, options.out)
            except Exception as error:
                print(f"{job['strategy']} {job['tier']}: {type(error).__name__}: {error}", flush=True)

    workers = [asyncio.ensure_future(work()) for _ in range(options.concurrency)]
    await asyncio.wait(workers, timeout=options.seconds + 20)
    for worker in workers:
        worker.cancel()


def run_share(options: argparse.Namespace, number: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[number % len(cores)]})
    asyncio.run(run_all(options, number))


def build_figures(rows: list[dict[str, Any]], model: str) -> dict[str, Any]:
    groups: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    for row in rows:
        runs = groups[row["strategy"], row["tier"], row["writer"]]
        if len(runs) < MAX_RUNS and any(numbers[1] for numbers in row["roles"].values()):
            runs.append([row["rounds"], row["searches"], row["roles"]])
    data = ", ".join(sorted({row["data"] for row in rows}))
    names = ("strategy", "tier", "writer")
    return {
        "made": f"{model}, {data}, {datetime.now(UTC):%Y-%m-%d}",
        "groups": [{**dict(zip(names, key, strict=True)), "runs": runs} for key, runs in sorted(groups.items())],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--data", type=Path, action="append", required=True)
    run.add_argument("--model", default="openai")
    run.add_argument("--questions", type=int, default=6)
    run.add_argument("--seconds", type=float, default=300)
    run.add_argument("--processes", type=int, default=1)
    run.add_argument("--concurrency", type=int, default=4)
    run.add_argument("--out", type=Path, required=True)
    write = commands.add_parser("write")
    write.add_argument("rows", type=Path)
    write.add_argument("--model", required=True)
    options = parser.parse_args()
    if options.command == "write":
        figures = build_figures(read_rows(options.rows), options.model)
        groups = ",\n".join(json.dumps(group, separators=(",", ":")) for group in figures["groups"])
        print(f'{{"made": {json.dumps(figures["made"])},\n"groups": [\n{groups}\n]}}')
        return
    if options.processes == 1:
        asyncio.run(run_all(options))
        return
    from multiprocessing import get_context

    spawn = get_context("spawn")
    shares = [spawn.Process(target=run_share, args=(options, number)) for number in range(options.processes)]
    for share in shares:
        share.start()
    for share in shares:
        share.join(options.seconds + 60)
        if share.is_alive():
            share.terminate()


if __name__ == "__main__":
    main()
