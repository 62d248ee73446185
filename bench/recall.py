"""Measure gold-passage recall by round of the extractive engine, 5 passages per round: ``python -m bench.recall [SET …]``.

``--postgres model`` or ``--postgres static`` puts the sets into a Postgres with pgvector first and searches there; the word
says which vectors are stored. ``--compare`` instead searches once for each question, locally and in Postgres with both kinds of
vectors, and prints the recall of the first 5 and 10 passages.

The sets (MuSiQue, HotpotQA) are in ``../shared/data``. Every round uses the real loop and the real corpus search.
``--processes N`` shares the questions out among N processes, each on a core of its own.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.corpora import name_collection, run_postgres
from bench.qa import make_pool
from suffice import settings
from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.events import RoundDone, SearchStopped
from suffice.options import RunOptions
from suffice.search.open import SearchScope, open_search
from suffice.types import Query

DATA = Path(__file__).parents[2] / "shared" / "data"
ROUNDS = 10
HEAD = "| {} | r1 | r2 | r3 | r4 | r5 | r10 | all gold r2 | r3 | r10 |\n|---|" + "--:|" * 9


async def measure(
    folder: Path,
    limit: int | None,
    strategy: str,
    alpha: float,
    memory: str | None = None,
    interventions: Sequence[str] = (),
    docs: str | None = None,
    share: tuple[int, int] = (0, 1),
) -> list[list[float]]:
    """Return one recall curve per question; of ``share`` (2, 8) those of every eighth question from the third on.

    ``docs`` replaces the file of the corpus.
    """
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()[:limit]
    questions = [json.loads(line) for line in lines[share[0] :: share[1]]]
    if not questions:
        return []
    options = RunOptions(
        docs=docs or str(folder / "corpus.jsonl"),
        strategy=strategy,
        memory=memory,
        stop=f"fixed({ROUNDS})",
        max_rounds=ROUNDS,
        max_queries=10 * ROUNDS,
        max_tokens=10**9,
        per_round=5,
        alpha=alpha,
        model="extractive",
        interventions=interventions,
    )
    first = await prepare_run(questions[0]["question"], options)
    curves = []
    for question in questions:
        config = replace(first, task=question["question"])
        gold, seen, curve = set(question["gold"]), set(), []
        async with aclosing(run_pipeline(config)) as events:
            async for event in events:
                if isinstance(event, RoundDone):
                    seen |= {passage.id for passage in event.round.new}
                    curve.append(len(gold & seen) / len(gold))
                elif isinstance(event, SearchStopped):
                    break  # Writing the report does not change recall.
        curves.append(curve + [curve[-1]] * (ROUNDS - len(curve)))
    return curves


def measure_share(*arguments: Any) -> list[list[float]]:
    return asyncio.run(measure(*arguments))


def measure_all(processes: int, *arguments: Any) -> list[list[float]]:
    """Return the recall curves of all questions, measured in one process or in several."""
    if processes == 1:
        return measure_share(*arguments)
    with make_pool(processes) as pool:
        shares = [pool.submit(measure_share, *arguments, (number, processes)) for number in range(processes)]
        return [curve for future in shares for curve in future.result()]


def format_row(name: str, curves: list[list[float]]) -> str:
    means = [sum(curve[k] for curve in curves) / len(curves) for k in range(ROUNDS)]
    complete = [sum(curve[k] == 1 for curve in curves) / len(curves) for k in range(ROUNDS)]
    shown = (0, 1, 2, 3, 4, 9)
    cells = [f"{means[k]:.3f}" for k in shown] + [f"{complete[k]:.3f}" for k in (1, 2, 9)]
    return f"| {name} | " + " | ".join(cells) + " |"


@contextmanager
def open_postgres() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder, run_postgres(Path(folder)) as uri:
        yield uri


def ingest_set(folder: Path, uri: str, vectors: str) -> str:
    """Put the corpus of a set into Postgres; return the address of the collection."""
    address = name_collection(uri, f"{folder.name}-{vectors}")
    command = ["-m", "suffice", "index", str(folder / "corpus.jsonl"), "--to", address, "--vectors", vectors]
    subprocess.run([sys.executable, "-W", "ignore", *command], check=True, stdout=subprocess.DEVNULL)
    return address


def compare_searches(folder: Path, uri: str, limit: int | None, alpha: float) -> Iterator[str]:
    """Yield a row of recall for each place where the corpus can be: one search for each question."""
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()][:limit]
    places = {"local index": str(folder / "corpus.jsonl")}
    for vectors in ("static", "model"):
        places[f"Postgres, {vectors} vectors"] = ingest_set(folder, uri, vectors)

    async def search_all(docs: str) -> list[list[str]]:
        search = await open_search(SearchScope(docs=(docs,), alpha=alpha), settings.load(), lambda message: None)
        return [[passage.id for passage in await search(Query(question["question"]), 10)] for question in questions]

    for name, docs in places.items():
        found = asyncio.run(search_all(docs))
        shares = [
            statistics.fmean(
                len(set(question["gold"]) & set(ids[:k])) / len(question["gold"])
                for question, ids in zip(questions, found, strict=True)
            )
            for k in (5, 10)
        ]
        yield f"| {folder.name} | {name} | {shares[0]:.3f} | {shares[1]:.3f} |"


def print_comparison(folders: Sequence[Path], limit: int | None, alpha: float) -> None:
    print("| set | where | recall of 5 | recall of 10 |\n|---|---|--:|--:|")
    with open_postgres() as uri:
        for folder in folders:
            for row in compare_searches(folder, uri, limit, alpha):
                print(row, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=["musique", "hotpotqa"])
    parser.add_argument("--limit", type=int, help="only the first questions")
    parser.add_argument("--strategy", default="reflect")
    parser.add_argument("--memory", help="memory, instead of the preset's")
    parser.add_argument(
        "--with", dest="interventions", action="append", default=[], help="an intervention; may be repeated"
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets")
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--postgres", choices=["model", "static"], help="search in Postgres, with these vectors")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--compare", action="store_true", help="one search a question, locally and in Postgres")
    given = parser.parse_args()
    if given.compare:
        print_comparison([given.data / name for name in given.sets], given.limit, given.alpha)
        return
    print(
        "Found without a language model, by `--strategy",
        given.strategy + "`; `all gold`: share of questions with every gold passage.\n",
    )
    print(HEAD.format("set" if given.postgres is None else f"set, in Postgres ({given.postgres} vectors)"))
    with ExitStack() as stack:
        uri = stack.enter_context(open_postgres()) if given.postgres else None
        for name in given.sets:
            docs = None if uri is None else ingest_set(given.data / name, uri, given.postgres)
            settings_of_run = (given.strategy, given.alpha, given.memory, given.interventions, docs)
            curves = measure_all(given.processes, given.data / name, given.limit, *settings_of_run)
            print(format_row(name, curves), flush=True)


if __name__ == "__main__":
    main()
