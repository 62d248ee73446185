"""A language model as checker of claims: ``python -m bench.claims_model [--pairs 60] [--store]``.

Opt-in, because it wants a model (``OPENAI_BASE_URL`` or ``SUFFICE_MODEL``) and time: two questions a pair, ``--pairs`` pairs of
each half of SciFact (``bench/claims.py``), chosen by hash. The marks from which on the model's word counts are fitted on the
one half, and written to ``thresholds.json`` with ``--store``; the table is about the other. Answers are kept in the cache
folder, so an interrupted run goes on where it was.
"""

import argparse
import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench.claims import LABELS, PRECISION, STORED, Pair, embedder, pairs, scores, verdict
from suffice import settings
from suffice.asks import GradedSupport, Support, SupportResponse
from suffice.errors import SufficeError
from suffice.models.base import Model
from suffice.models.cached import Cached
from suffice.models.choose import choose
from suffice.write.checkers import Checker, Combined, Embedding, Finding, Lexical, ModelChecker, Question
from suffice.write.checkers.model import read_as, shown
from suffice.write.checkers.thresholds import thresholds

OFF = 1.01
GRID = [value / 100 for value in range(20, 100, 5)] + [0.97, 0.99]
MARKS = [value / 10 for value in range(1, 11)]
Answers = Sequence[SupportResponse | None]


def chosen(held_out: bool, count: int) -> list[Pair]:
    def order(pair: Pair) -> bytes:
        return hashlib.sha256(f"{pair.claim} {pair.passage.id}".encode()).digest()

    return sorted(pairs(held_out), key=order)[:count]


def asking(model: Model) -> Question:
    """As a run asks: an answer that failed is no answer."""

    async def ask(question: Support | GradedSupport) -> SupportResponse | None:
        try:
            reply = await model(question)  # type: ignore[arg-type]
        except SufficeError as error:
            print(f"no answer: {error}", flush=True)
            return None
        return reply.answer

    return ask


def fit(rows: Sequence[Pair], answers: Answers, marks: Sequence[float]) -> float:
    """Recall as high as it goes at the wanted precision; out of reach where no height reaches it."""
    labels = [row.label for row in rows]
    found = [(mark, scores(labels, said(rows, answers, mark), "supported")) for mark in marks]
    good = [(recall, mark) for mark, (precision, recall) in found if precision >= PRECISION["supported"] and recall > 0]
    return max(good)[1] if good else OFF


def said(rows: Sequence[Pair], answers: Answers, mark: float) -> list[str]:
    """The verdict of the model alone."""
    nothing = Finding(0, 0, None, 0.0, 0.0)
    return [
        "supported" if answer and read_as(answer, nothing, row.claim, row.passage, mark).stance else "unsupported"
        for row, answer in zip(rows, answers, strict=True)
    ]


async def asked(
    rows: Sequence[Pair], ask: Question, kind: type[Support] | type[GradedSupport]
) -> list[SupportResponse | None]:
    answers = []
    for number, row in enumerate(rows, 1):
        answers.append(await ask(kind(row.claim, (shown(row.passage),))))
        print(f"\r{kind.role} {number}/{len(rows)}", end="" if number < len(rows) else "\n", flush=True)
    return answers


async def measure(count: int, store: bool) -> None:
    config = settings.load()
    model = choose(None, config, print)(None)
    if model.name == "extractive":
        raise SystemExit("no language model is configured: set OPENAI_BASE_URL or SUFFICE_MODEL")
    ask = asking(Cached(model, config.cache_dir / "bench", say=print))
    fitting, held_out = chosen(False, count), chosen(True, count)
    ways = {"model_yes": (Support, GRID), "model_mark": (GradedSupport, MARKS)}
    marks = {name: fit(fitting, await asked(fitting, ask, kind), grid) for name, (kind, grid) in ways.items()}
    answers = {name: await asked(held_out, ask, kind) for name, (kind, _) in ways.items()}
    if store:
        stored = {
            **json.loads(STORED.read_text(encoding="utf-8")),
            "model": Path(model.name).name,
            "model_fitted_on": f"{len(fitting)} pairs of the same half",
            "model_fitted_by": "python -m bench.claims_model --store",
            "model_fitted_at": f"{datetime.now(UTC):%Y-%m-%d}",
            **marks,
        }
        STORED.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    labels = [row.label for row in held_out]
    counts = Counter(labels)
    print(f"\n{Path(model.name).name}; SciFact, {len(held_out)} pairs of the held-out half", end=" ")
    print(f"({', '.join(f'{counts[name]} {name}' for name in LABELS.values())}); fitted on {len(fitting)} others:")
    print(f"yes {marks['model_yes']:g}, mark {marks['model_mark']:g}.\n")
    print("| checker | supported: precision | recall | contradicted: precision | recall |\n|---|--:|--:|--:|--:|")
    embed = embedder()
    plain: list[Checker] = [Lexical(), Embedding(embed), Combined(Lexical(), Embedding(embed))]
    for checker in plain:
        _row(checker.name, labels, [await verdict(row, checker) for row in held_out])
    weighed = sum(answer is not None and answer.sure is not None for answer in answers["model_yes"])
    _row(
        f"model alone, likelihood of yes (given for {weighed})",
        labels,
        said(held_out, answers["model_yes"], marks["model_yes"]),
    )
    _row("model alone, its own mark", labels, said(held_out, answers["model_mark"], marks["model_mark"]))
    word = ["supported" if answer is not None and answer.yes else "unsupported" for answer in answers["model_yes"]]
    _row("model alone, its bare word", labels, word)
    everything = Combined(Lexical(), Embedding(embed), ModelChecker(ask, replace(thresholds(), **marks)))
    _row(everything.name, labels, [await verdict(row, everything) for row in held_out])


def _row(name: str, labels: Sequence[str], said: Sequence[str]) -> None:
    figures = [value for verdict in ("supported", "contradicted") for value in scores(labels, said, verdict)]
    print(f"| {name} | {' | '.join(f'{value:.2f}' for value in figures)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--store", action="store_true")
    given = parser.parse_args()
    asyncio.run(measure(given.pairs, given.store))


if __name__ == "__main__":
    main()
