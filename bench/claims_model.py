"""Ask a language model whether passages support claims: ``python -m bench.claims_model PAIRS OUT [--seconds 120]``.

Opt-in, because it needs a model (``OPENAI_BASE_URL`` or ``SUFFICE_MODEL``) that returns probabilities. ``PAIRS`` is the file
that ``training/reader/evaluate.py --pairs`` writes (id, claim, passage). ``OUT`` gets one row a pair with its id and the
probability of yes; it is started again to continue.
``python -m bench.claims model --judged OUT`` makes the table of ``claims.md``.
"""

import argparse
import asyncio
import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path

from suffice.claims.checkers.model import to_note

from suffice import settings
from suffice.errors import SufficeError
from suffice.models.base import Model
from suffice.models.choose import choose_model
from suffice.prompts import CheckSupport
from suffice.types import Passage, Place

_CONCURRENCY = 64
_PACKING_SECONDS = 3  # Left for writing the file.


def read_rows(path: Path) -> Iterator[dict]:
    """Yield the rows of a ``.jsonl.gz`` file; none if it is not there."""
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)


def write_rows(path: Path, rows: list[dict]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


async def ask(model: Model, pair: dict) -> float | None:
    """Return the probability that the model says yes; ``None`` if it fails or returns no probabilities."""
    passage = Passage("p", pair["passage"], "", Place("text"))
    try:
        return (await model(CheckSupport(pair["claim"], (to_note(passage),)))).answer.sure
    except SufficeError as error:
        print(f"{pair['id']}: {error}", flush=True)
        return None


async def ask_all(model: Model, pairs: list[dict], seconds: float) -> list[dict]:
    """Return the answers that came in time."""
    end, limit, rows = time.monotonic() + seconds, asyncio.Semaphore(_CONCURRENCY), list[dict]()

    async def ask_one(pair: dict) -> None:
        async with limit:
            if time.monotonic() < end and (yes := await ask(model, pair)) is not None:
                rows.append({"id": pair["id"], "yes": round(yes, 4)})

    tasks = [asyncio.create_task(ask_one(pair)) for pair in pairs]
    _, late = await asyncio.wait(tasks, timeout=max(1.0, seconds))
    for task in late:
        task.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args()
    began = time.monotonic()
    model = choose_model(None, settings.load(), print)(None)
    if model.name == "extractive":
        raise SystemExit("no language model is configured: set OPENAI_BASE_URL or SUFFICE_MODEL")
    rows = list(read_rows(given.out))
    known = {row["id"] for row in rows}
    pairs = [pair for pair in read_rows(given.pairs) if pair["id"] not in known]
    rows += asyncio.run(ask_all(model, pairs, given.seconds - (time.monotonic() - began) - _PACKING_SECONDS))
    write_rows(given.out, rows)
    print(f"{model.name}: {len(rows)} of {len(known) + len(pairs)} pairs in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
