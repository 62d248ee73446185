"""A language model as checker of claims: ``python -m bench.claims_model [--pairs 60] [--store]``.

Opt-in, because it wants a model (``OPENAI_BASE_URL`` or ``SUFFICE_MODEL``) and time: two questions a pair, ``--pairs`` pairs of
each half of SciFact (``bench/claims.py``), chosen by hash. The marks from which on the model's word counts are fitted on the
one half; the table is about the other. ``--store`` writes the marks to ``thresholds.json`` and the table to
``claims_model.md``. Answers are kept in the cache folder, so an interrupted run goes on where it was.
"""

import argparse
import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from bench.claims import LABELS, PRECISION, STORED, Pair, embedder, pairs, scores, verdict
from suffice import settings
from suffice.claims.checkers import (
    AskSupport,
    CascadeChecker,
    Checker,
    EmbeddingChecker,
    EvidenceSpan,
    LexicalChecker,
    ModelChecker,
)
from suffice.claims.checkers.base import load_thresholds
from suffice.claims.checkers.model import apply_answer, to_note
from suffice.errors import SufficeError
from suffice.models.base import Model
from suffice.models.cache import CachedModel
from suffice.models.choose import choose_model
from suffice.prompts import CheckSupport, GradeSupport, SupportResponse

# A yes that is less likely than a no is no yes, however well a lower mark would do with one model.
GRID = [value / 100 for value in range(50, 100, 5)] + [0.97, 0.99]
MARKS = [value / 10 for value in range(5, 11)]
PAGE = Path(__file__).with_suffix(".md")
Answers = Sequence[SupportResponse | None]


def chosen(held_out: bool, count: int) -> list[Pair]:
    def order(pair: Pair) -> bytes:
        return hashlib.sha256(f"{pair.claim} {pair.passage.id}".encode()).digest()

    return sorted(pairs(held_out), key=order)[:count]


def asking(model: Model) -> AskSupport:
    """As a run asks: an answer that failed is no answer."""

    async def ask(question: CheckSupport) -> SupportResponse | None:
        try:
            reply = await model(question)
        except SufficeError as error:
            print(f"no answer: {error}", flush=True)
            return None
        return reply.answer

    return ask


def fit(rows: Sequence[Pair], answers: Answers, marks: Sequence[float]) -> float | None:
    """Recall as high as it goes at the wanted precision; ``None`` where no height reaches it: such an answer tells nothing."""
    labels = [row.label for row in rows]
    found = [(mark, scores(labels, said(rows, answers, mark), "supported")) for mark in marks]
    good = [(recall, mark) for mark, (precision, recall) in found if precision >= PRECISION["supported"] and recall > 0]
    return max(good)[1] if good else None


def said(rows: Sequence[Pair], answers: Answers, mark: float) -> list[str]:
    """The verdict of the model alone."""
    nothing = EvidenceSpan(0, 0, None, 0.0, 0.0)
    return [
        "supported" if answer and apply_answer(answer, nothing, row.claim, row.passage, mark).stance else "unsupported"
        for row, answer in zip(rows, answers, strict=True)
    ]


async def asked(rows: Sequence[Pair], ask: AskSupport, kind: type[CheckSupport]) -> list[SupportResponse | None]:
    answers = []
    for number, row in enumerate(rows, 1):
        answers.append(await ask(kind(row.claim, (to_note(row.passage),))))
        print(f"\r{kind.role} {number}/{len(rows)}", end="" if number < len(rows) else "\n", flush=True)
    return answers


async def measure(count: int, store: bool) -> None:
    config = settings.load()
    model = choose_model(None, config, print)(None)
    if model.name == "extractive":
        raise SystemExit("no language model is configured: set OPENAI_BASE_URL or SUFFICE_MODEL")
    prompt = asking(CachedModel(model, config.cache_dir / "bench", notify=print))
    fitting, held_out = chosen(False, count), chosen(True, count)
    ways = {"model_yes": (CheckSupport, GRID), "model_mark": (GradeSupport, MARKS)}
    fitted = {name: fit(fitting, await asked(fitting, prompt, kind), grid) for name, (kind, grid) in ways.items()}
    marks = {name: getattr(load_thresholds(), name) if mark is None else mark for name, mark in fitted.items()}
    answers = {name: await asked(held_out, prompt, kind) for name, (kind, _) in ways.items()}
    if store:
        stored = {
            **json.loads(STORED.read_text(encoding="utf-8")),
            "model": Path(model.name).name,
            "model_fitted_on": f"{len(fitting)} pairs of the same half",
            "model_fitted_by": "python -m bench.claims_model --store",
            "model_fitted_at": f"{datetime.now(UTC):%Y-%m-%d}",
            "model_not_fitted": [name for name, mark in fitted.items() if mark is None],
            **marks,
        }
        STORED.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    page = [*_head(Path(model.name).name, held_out, len(fitting), marks, fitted)]
    embed = embedder()
    plain: list[Checker] = [
        LexicalChecker(),
        EmbeddingChecker(embed),
        CascadeChecker(LexicalChecker(), EmbeddingChecker(embed)),
    ]
    labels = [row.label for row in held_out]
    rows = {checker.name: [await verdict(row, checker) for row in held_out] for checker in plain}
    weighed = sum(answer is not None and answer.sure is not None for answer in answers["model_yes"])
    rows[f"model alone, likelihood of yes (given for {weighed})"] = said(
        held_out, answers["model_yes"], marks["model_yes"]
    )
    rows["model alone, its own mark"] = said(held_out, answers["model_mark"], marks["model_mark"])
    rows["model alone, its bare word"] = [
        "supported" if answer is not None and answer.yes else "unsupported" for answer in answers["model_yes"]
    ]
    everything = CascadeChecker(
        LexicalChecker(), EmbeddingChecker(embed), ModelChecker(prompt, replace(load_thresholds(), **marks))
    )
    rows[everything.name] = [await verdict(row, everything) for row in held_out]
    for name, verdicts in rows.items():
        figures = [value for wanted in ("supported", "contradicted") for value in scores(labels, verdicts, wanted)]
        page.append(f"| {name} | {' | '.join(f'{value:.2f}' for value in figures)} |")
    print("\n".join(page))
    if store:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")


def _head(
    model: str, rows: Sequence[Pair], others: int, marks: Mapping[str, float], fitted: Mapping[str, float | None]
) -> Iterator[str]:
    counts = Counter(row.label for row in rows)
    labels = ", ".join(f"{counts[name]} {name}" for name in LABELS.values())
    told = ((name, mark, "" if fitted[name] else ", which nothing could be fitted to") for name, mark in marks.items())
    limits = "; ".join(f"{name.removeprefix('model_')} from {mark:g} on{note}" for name, mark, note in told)
    yield "# A language model as checker of claims"
    yield ""
    yield f"Made by `python -m bench.claims_model --store` on {datetime.now(UTC):%Y-%m-%d} with {model}."
    yield f"SciFact, {len(rows)} pairs of the held-out half ({labels}); fitted on {others} of the other half:"
    yield f"{limits}. So few pairs tell no more than the order of things."
    yield ""
    yield "| checker | supported: precision | recall | contradicted: precision | recall |"
    yield "|---|--:|--:|--:|--:|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--store", action="store_true")
    given = parser.parse_args()
    asyncio.run(measure(given.pairs, given.store))


if __name__ == "__main__":
    main()
