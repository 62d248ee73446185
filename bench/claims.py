"""Measure the claim checkers: SciFact's held-out half, corrupted sentences, the extractive report, speed and memory.

    python -m bench.claims              all tables
    python -m bench.claims calibrate    fit the thresholds on SciFact's other half and store them

The hash of a claim's id decides which half it belongs to; nothing is fitted to the held-out half. A claim is checked against
the abstract it cites. ``caught`` is a verdict of contradicted or unsupported.
"""

import asyncio
import hashlib
import itertools
import json
import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bench.corruptions import KINDS, generate_corruptions, load_passages
from suffice import research, settings
from suffice.claims import checkers
from suffice.claims.checkers import (
    CascadeChecker,
    Checker,
    EmbeddingChecker,
    LexicalChecker,
    ReaderChecker,
    default_checker,
)
from suffice.claims.checkers.base import CheckerThresholds, load_thresholds
from suffice.claims.checkers.features import extract_features
from suffice.claims.checkers.lexical import Comparison, compare_sentences, find_verbatim
from suffice.claims.split import ClaimText, extract_claims
from suffice.claims.verdict import judge_claim
from suffice.models.embeddings import MiniLM
from suffice.search.corpus.vectors import EmbeddingCache
from suffice.types import Embed, Passage, Place

DATA = Path(__file__).parents[2] / "shared" / "data"
THRESHOLDS_FILE = Path(checkers.__file__).with_name("thresholds.json")
PRECISION = {"supported": 0.75, "contradicted": 0.6}  # Wanted on the calibration half.
LABELS = {"SUPPORT": "supported", "CONTRADICT": "contradicted", "NOT_ENOUGH_INFO": "unsupported"}
GRID = [value / 20 for value in range(8, 20)]
_SENTENCES = 300
_QUESTIONS = 20


@dataclass(frozen=True)
class Pair:
    """A SciFact claim and an abstract."""

    claim: str
    passage: Passage
    label: str


def load_pairs(held_out: bool) -> Iterator[Pair]:
    """Yield the pairs of one half of SciFact."""
    texts = (json.loads(line) for line in (DATA / "scifact" / "documents.jsonl").read_text().splitlines())
    documents = {text["id"]: text for text in texts}
    for line in (DATA / "scifact" / "claims.jsonl").read_text().splitlines():
        row = json.loads(line)
        if bool(hashlib.sha256(row["id"].encode()).digest()[0] % 2) != held_out:
            continue
        for name in [row["document"]] if row["document"] else row["cited"]:
            if name in documents:
                text = "\n\n".join(documents[name]["sentences"])
                place = Place("scifact", record=name)
                yield Pair(row["claim"], Passage(name, text, documents[name]["title"], place), LABELS[row["label"]])


def load_embedder() -> Embed:
    """Return the default embedding model with its cache."""
    return EmbeddingCache(MiniLM(), settings.load().cache_dir, lambda message: None).embed


async def check_pair(pair: Pair, checker: Checker) -> str:
    """Return the verdict of a checker on a pair."""
    [found] = await checker(pair.claim, [pair.passage])
    return {"supports": "supported", "contradicts": "contradicted", None: "unsupported"}[
        found.stance if found else None
    ]


def precision_recall(labels: Sequence[str], verdicts: Sequence[str], name: str) -> tuple[float, float]:
    """Return precision and recall of one verdict."""
    right = sum(a == b == name for a, b in zip(labels, verdicts, strict=True))
    return right / max(1, verdicts.count(name)), right / max(1, labels.count(name))


# -- fitting -----------------------------------------------------------------------------------------------------------


def calibrate() -> None:
    """Choose the thresholds with the highest recall at the wanted precision, first without cosines, then with them."""
    rows = list(load_pairs(held_out=False))
    labels = [row.label for row in rows]
    comparisons = [[comparison for _, _, comparison in compare_sentences(row.claim, row.passage)] for row in rows]
    exact = [find_verbatim(row.claim, row.passage) is not None for row in rows]
    cosines = _compute_cosines(rows, load_embedder())

    def classify_all(thresholds: CheckerThresholds, with_cosines: bool) -> list[str]:
        return [
            "supported" if same else _classify(own, near, thresholds, with_cosines)
            for own, near, same in zip(comparisons, cosines, exact, strict=True)
        ]

    def best(name: str, choices: Sequence[CheckerThresholds], with_cosines: bool) -> CheckerThresholds:
        measured = [
            (*precision_recall(labels, classify_all(thresholds, with_cosines), name), thresholds)
            for thresholds in choices
        ]
        good = [row for row in measured if row[0] >= PRECISION[name]] or [max(measured, key=lambda row: row[0])]
        return max(good, key=lambda row: (row[1], row[0]))[2]

    out_of_reach = dict.fromkeys(("supports", "contradicts", "cosine", "cosine_near", "cosine_contradicts"), 1.01)
    off = replace(load_thresholds(), **out_of_reach)
    thresholds = best("supported", [replace(off, supports=value) for value in GRID], False)
    thresholds = best("contradicted", [replace(thresholds, contradicts=value) for value in GRID], False)
    both = itertools.product(GRID, [0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
    thresholds = best("supported", [replace(thresholds, cosine=one, cosine_near=other) for one, other in both], True)
    thresholds = best("contradicted", [replace(thresholds, cosine_contradicts=value) for value in GRID], True)
    stored = {
        **json.loads(
            THRESHOLDS_FILE.read_text(encoding="utf-8")
        ),  # With the thresholds of a model, which bench/claims_model.py fits.
        "version": 1,
        "fitted_on": f"SciFact, claims whose id hashes to the even half ({len(rows)} claim–abstract pairs)",
        "fitted_by": "python -m bench.claims calibrate",
        "fitted_at": f"{datetime.now(UTC):%Y-%m-%d}",
        "embeddings": MiniLM.name,
        "wanted_precision": PRECISION,
        **asdict(thresholds),
    }
    THRESHOLDS_FILE.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps(stored, indent=2, ensure_ascii=False))
    for name in PRECISION:
        for with_cosines in (False, True):
            precision, recall = precision_recall(labels, classify_all(thresholds, with_cosines), name)
            print(f"{name}, cosines {with_cosines}: precision {precision:.2f}, recall {recall:.2f}")


def _compute_cosines(rows: Sequence[Pair], embed: Embed) -> list[list[float]]:
    found = []
    for row in rows:
        texts = [
            " ".join(row.passage.text[start:end].split()) for start, end, _ in compare_sentences(row.claim, row.passage)
        ]
        vectors = embed([row.claim, *texts])
        found.append([float(value) for value in vectors[1:] @ vectors[0]])
    return found


def _classify(
    own: Sequence[Comparison], cosines: Sequence[float], thresholds: CheckerThresholds, with_cosines: bool
) -> str:
    """Return the verdict of ``LexicalChecker`` or of the cascade, from comparisons made once."""
    from suffice.claims.checkers.embedding import classify_by_cosine
    from suffice.claims.checkers.lexical import classify_by_overlap, pick_strongest

    first = pick_strongest([classify_by_overlap(0, 0, comparison, thresholds) for comparison in own])
    stance = first.stance if first else None
    if with_cosines and stance != "supports":
        found = [classify_by_cosine(0, 0, one, cosine, thresholds) for one, cosine in zip(own, cosines, strict=True)]
        stances = {one.stance for one in found}
        stance = (
            "supports" if "supports" in stances else stance or ("contradicts" if "contradicts" in stances else None)
        )
    return {"supports": "supported", "contradicts": "contradicted", None: "unsupported"}[stance]


# -- tables ------------------------------------------------------------------------------------------------------------


def print_scifact(embed: Embed) -> None:
    rows = list(load_pairs(held_out=True))
    labels = [row.label for row in rows]
    counts = Counter(labels)
    print(f"\nSciFact, held-out half: {len(rows)} claim–abstract pairs", end=" ")
    print(f"({', '.join(f'{counts[name]} {name}' for name in LABELS.values())}).\n")
    print("| checker | supported: precision | recall | contradicted: precision | recall |\n|---|--:|--:|--:|--:|")
    for checker in (
        LexicalChecker(),
        EmbeddingChecker(embed),
        CascadeChecker(LexicalChecker(), EmbeddingChecker(embed)),
        ReaderChecker(),
    ):
        verdicts = [asyncio.run(check_pair(row, checker)) for row in rows]
        figures = [
            value for name in ("supported", "contradicted") for value in precision_recall(labels, verdicts, name)
        ]
        print(f"| {checker.name} | {' | '.join(f'{value:.2f}' for value in figures)} |", flush=True)


def print_corruptions(embed: Embed) -> None:
    passages = load_passages(DATA, 2000)
    tried = list(generate_corruptions(passages, _SENTENCES))
    print(
        f"\nCorrupted sentences of MuSiQue, HotpotQA and SciFact passages, {_SENTENCES} sentences, default checker.\n"
    )
    print("| what was done | sentences | caught, words only | caught, default |\n|---|--:|--:|--:|")
    done: dict[str, list[list[bool]]] = {}
    for kind, sentence, passage in tried:
        [claim, *_] = extract_claims(sentence)
        row = []
        for checker in (LexicalChecker(), default_checker(embed)):
            checked = asyncio.run(judge_claim(claim, [passage], [], checker))
            row.append(checked.support in ("contradicted", "unsupported"))
        done.setdefault(kind, []).append(row)
    for kind in KINDS:
        _print_row(kind, done[kind])
    _print_row("**all corruptions**", [row for kind in KINDS[2:] for row in done[kind]])
    _print_row("**all untouched (false alarms)**", [row for kind in KINDS[:2] for row in done[kind]])


def _print_row(name: str, rows: Sequence[Sequence[bool]]) -> None:
    shares = (sum(row[i] for row in rows) / len(rows) for i in range(2))
    print(f"| {name} | {len(rows)} | {' | '.join(f'{share:.1%}' for share in shares)} |")


async def print_extractive() -> None:
    questions = [
        json.loads(line)["question"] for line in (DATA / "musique" / "questions.jsonl").read_text().splitlines()
    ]
    counts, disagreements, answered = Counter[str](), 0, 0
    for question in questions[:_QUESTIONS]:
        report = await research(question, docs=DATA / "musique" / "corpus.jsonl", model="extractive")
        counts.update(claim.support for claim in report.claims)
        answered += bool(report.final_answer)
        disagreements += sum(span.stance == "contradicts" for claim in report.claims for span in claim.spans)
    total = sum(counts.values())
    print(f"\nThe extractive report, {_QUESTIONS} MuSiQue questions: {answered} answered, {total} claims,", end=" ")
    print(f"{counts['supported'] / max(1, total):.1%} supported; disagreements between sources: {disagreements}.")


def print_speed(embed: Embed) -> None:
    """Check each claim against its own source and four others from a pool, with cold caches."""
    passages = load_passages(DATA, 4000)
    tried = [(next(extract_claims(sentence)), passage) for _, sentence, passage in generate_corruptions(passages, 60)]
    print("\n| checker | sources in the pool | claims a second | peak memory of checking |\n|---|--:|--:|--:|")
    for checker, pools in ((LexicalChecker(), (100, 1000, 4000)), (default_checker(embed), (100,))):
        for pool in pools:
            extract_features.cache_clear()
            start = time.perf_counter()
            asyncio.run(_check_all(checker, tried, passages[:pool]))
            seconds = time.perf_counter() - start
            extract_features.cache_clear()
            tracemalloc.start()
            asyncio.run(_check_all(checker, tried[:150], passages[:pool]))
            peak = tracemalloc.get_traced_memory()[1] / 1e6
            tracemalloc.stop()
            print(f"| {checker.name} | {pool:,} | {len(tried) / seconds:,.0f} | {peak:.1f} MB |", flush=True)


async def _check_all(checker: Checker, tried: Sequence[tuple[ClaimText, Passage]], pool: Sequence[Passage]) -> None:
    for number, (claim, passage) in enumerate(tried):
        others = [pool[(number * 31 + i * 7) % len(pool)] for i in range(4)]
        await judge_claim(claim, [passage], others, checker)


def main() -> None:
    if sys.argv[1:] == ["calibrate"]:
        calibrate()
        return
    embed = load_embedder()
    print("Thresholds: " + ", ".join(f"{name} {value:g}" for name, value in asdict(load_thresholds()).items()))
    print_scifact(embed)
    print_corruptions(embed)
    asyncio.run(print_extractive())
    print_speed(embed)


if __name__ == "__main__":
    main()
