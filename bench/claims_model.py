"""Measure a language model as claim checker: ``python -m bench.claims_model [--pairs 60] [--store]``.

Opt-in, because it needs a model (``OPENAI_BASE_URL`` or ``SUFFICE_MODEL``) and time: two questions for each of ``--pairs``
pairs of each half of SciFact (``bench/claims.py``), chosen by hash. The thresholds from which the model's answer counts are
fitted on one half; the table is about the other. ``--store`` writes the thresholds to ``thresholds.json`` and the table to
``claims_model.md``. Answers are cached, so an interrupted run continues where it stopped.
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

from bench.claims import (
    LABELS,
    PRECISION,
    THRESHOLDS_FILE,
    Pair,
    check_pair,
    load_embedder,
    load_pairs,
    precision_recall,
)
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

# A yes that is less likely than a no does not count, even if a lower threshold were better for one model.
GRID = [value / 100 for value in range(50, 100, 5)] + [0.97, 0.99]
GRADES = [value / 10 for value in range(5, 11)]
PAGE = Path(__file__).with_suffix(".md")
Answers = Sequence[SupportResponse | None]


def choose_pairs(held_out: bool, count: int) -> list[Pair]:
    """Return the first pairs of one half in the order of their hash."""

    def order(pair: Pair) -> bytes:
        return hashlib.sha256(f"{pair.claim} {pair.passage.id}".encode()).digest()

    return sorted(load_pairs(held_out), key=order)[:count]


def make_ask(model: Model) -> AskSupport:
    """Return how to ask the model as a run does: a failure counts as no answer."""

    async def ask(prompt: CheckSupport) -> SupportResponse | None:
        try:
            reply = await model(prompt)
        except SufficeError as error:
            print(f"no answer: {error}", flush=True)
            return None
        return reply.answer

    return ask


def fit(rows: Sequence[Pair], answers: Answers, grid: Sequence[float]) -> float | None:
    """Return the threshold with the highest recall at the wanted precision; ``None`` where none reaches it."""
    labels = [row.label for row in rows]
    found = [
        (threshold, precision_recall(labels, classify_all(rows, answers, threshold), "supported")) for threshold in grid
    ]
    good = [
        (recall, threshold)
        for threshold, (precision, recall) in found
        if precision >= PRECISION["supported"] and recall > 0
    ]
    return max(good)[1] if good else None


def classify_all(rows: Sequence[Pair], answers: Answers, threshold: float) -> list[str]:
    """Return the verdicts of the model alone."""
    empty = EvidenceSpan(0, 0, None, 0.0, 0.0)
    return [
        "supported"
        if answer and apply_answer(answer, empty, row.claim, row.passage, threshold).stance
        else "unsupported"
        for row, answer in zip(rows, answers, strict=True)
    ]


async def ask_all(rows: Sequence[Pair], ask: AskSupport, kind: type[CheckSupport]) -> list[SupportResponse | None]:
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
    ask = make_ask(CachedModel(model, config.cache_dir / "bench", notify=print))
    fitting, held_out = choose_pairs(False, count), choose_pairs(True, count)
    prompts = {"model_yes": (CheckSupport, GRID), "model_mark": (GradeSupport, GRADES)}
    fitted = {name: fit(fitting, await ask_all(fitting, ask, kind), grid) for name, (kind, grid) in prompts.items()}
    thresholds = {
        name: getattr(load_thresholds(), name) if threshold is None else threshold for name, threshold in fitted.items()
    }
    answers = {name: await ask_all(held_out, ask, kind) for name, (kind, _) in prompts.items()}
    if store:
        stored = {
            **json.loads(THRESHOLDS_FILE.read_text(encoding="utf-8")),
            "model": Path(model.name).name,
            "model_fitted_on": f"{len(fitting)} pairs of the same half",
            "model_fitted_by": "python -m bench.claims_model --store",
            "model_fitted_at": f"{datetime.now(UTC):%Y-%m-%d}",
            "model_not_fitted": [name for name, threshold in fitted.items() if threshold is None],
            **thresholds,
        }
        THRESHOLDS_FILE.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    page = [*_render_head(Path(model.name).name, held_out, len(fitting), thresholds, fitted)]
    embed = load_embedder()
    plain: list[Checker] = [
        LexicalChecker(),
        EmbeddingChecker(embed),
        CascadeChecker(LexicalChecker(), EmbeddingChecker(embed)),
    ]
    labels = [row.label for row in held_out]
    rows = {checker.name: [await check_pair(row, checker) for row in held_out] for checker in plain}
    weighed = sum(answer is not None and answer.sure is not None for answer in answers["model_yes"])
    rows[f"model alone, likelihood of yes (given for {weighed})"] = classify_all(
        held_out, answers["model_yes"], thresholds["model_yes"]
    )
    rows["model alone, its own grade"] = classify_all(held_out, answers["model_mark"], thresholds["model_mark"])
    rows["model alone, its bare word"] = [
        "supported" if answer is not None and answer.yes else "unsupported" for answer in answers["model_yes"]
    ]
    everything = CascadeChecker(
        LexicalChecker(), EmbeddingChecker(embed), ModelChecker(ask, replace(load_thresholds(), **thresholds))
    )
    rows[everything.name] = [await check_pair(row, everything) for row in held_out]
    for name, verdicts in rows.items():
        figures = [
            value for wanted in ("supported", "contradicted") for value in precision_recall(labels, verdicts, wanted)
        ]
        page.append(f"| {name} | {' | '.join(f'{value:.2f}' for value in figures)} |")
    print("\n".join(page))
    if store:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")


def _render_head(
    model: str, rows: Sequence[Pair], others: int, thresholds: Mapping[str, float], fitted: Mapping[str, float | None]
) -> Iterator[str]:
    counts = Counter(row.label for row in rows)
    labels = ", ".join(f"{counts[name]} {name}" for name in LABELS.values())
    notes = (
        (name, threshold, "" if fitted[name] else ", which nothing could be fitted to")
        for name, threshold in thresholds.items()
    )
    limits = "; ".join(f"{name.removeprefix('model_')} from {threshold:g} on{note}" for name, threshold, note in notes)
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
