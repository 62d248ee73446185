"""Measure the claim checkers and write the sections of ``bench/claims.md``.

    python -m bench.claims --data build/reader     all sections; DATA is the folder that training/reader/prepare.py wrote
    python -m bench.claims corruptions speed       some of them
    python -m bench.claims model --judged ROWS     with the answers of a language model (bench/claims_model.py)
    python -m bench.claims openings --answers ROWS with the reports of a language model (python -m bench.qa --rows)
    python -m bench.claims calibrate               fit the thresholds of words and vectors on half of SciFact and store them

SciFact: the hash of a claim's id decides which half it belongs to; no threshold is fitted to the held-out half, and claims that
the reader may have seen in training are left out of it. A claim is checked against the abstract it cites. ``caught`` is a
verdict of contradicted or unsupported.
"""

import argparse
import asyncio
import gzip
import hashlib
import itertools
import json
import os
import resource
import subprocess
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


# -- sections ----------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).with_suffix(".md")
KEPT_ROWS = Path(__file__).with_name("claims_rows.jsonl.gz")
SECTIONS = (
    "held-out claims",
    "questions",
    "scifact",
    "corruptions",
    "report",
    "model",
    "openings",
    "speed",
    "footprint",
)
_EVALUATE = Path(__file__).parents[1] / "training" / "reader" / "evaluate.py"


def write_section(name: str, text: str) -> None:
    """Replace one section of the page."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    if begin not in page or end not in page:
        raise SystemExit(f"{PAGE} has no section {name}: {begin.strip()} … {end}")
    before, after = page.partition(begin)[0], page.partition(end)[2]
    PAGE.write_text(f"{before}{begin}{text.strip()}\n{end}{after}", encoding="utf-8")
    print(f"{name}\n\n{text}\n", flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    def show(value: object) -> str:
        return f"{value:.2f}" if isinstance(value, float) else str(value)

    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(show, row)) + " |" for row in rows)])


def load_unseen_pairs() -> list[Pair]:
    """Return the pairs of the held-out half whose claim is not among the reader's data, in which most of SciFact is."""
    with gzip.open(DATA / "claims-train" / "scifact_train.jsonl.gz", "rt", encoding="utf-8") as file:
        seen = {" ".join(json.loads(line)["claim"].lower().split()) for line in file}
    return [pair for pair in load_pairs(held_out=True) if " ".join(pair.claim.lower().split()) not in seen]


def describe_scifact(embed: Embed) -> str:
    rows = load_unseen_pairs()
    labels = [row.label for row in rows]
    counts = Counter(labels)
    found = []
    for checker in (LexicalChecker(), CascadeChecker(LexicalChecker(), EmbeddingChecker(embed)), ReaderChecker()):
        verdicts = [asyncio.run(check_pair(row, checker)) for row in rows]
        figures = (precision_recall(labels, verdicts, name) for name in ("supported", "contradicted"))
        found.append([checker.name, *(value for pair in figures for value in pair)])
    head = ["checker", "supported: precision", "recall", "contradicted: precision", "recall"]
    named = ", ".join(f"{counts[name]} {name}" for name in LABELS.values())
    return (
        f"{len(rows)} claim–abstract pairs of the held-out half ({named}): those whose claim is not in the data that the "
        f"reader was made from.\n\n{table(head, found)}"
    )


def describe_corruptions(sentences: int) -> str:
    """Check sentences that a source says and the same made false, by words alone and with the reader."""
    passages = load_passages(DATA, 2000)
    checkers: tuple[Checker, ReaderChecker] = LexicalChecker(), ReaderChecker()
    done: dict[str, list[list[bool]]] = {}
    for kind, sentence, passage in generate_corruptions(passages, sentences):
        claim = next(extract_claims(sentence))
        verdicts = (asyncio.run(judge_claim(claim, [passage], [], checker)).support for checker in checkers)
        done.setdefault(kind, []).append([verdict in ("contradicted", "unsupported") for verdict in verdicts])

    def row(name: str, kinds: Sequence[str]) -> list[object]:
        rows = [each for kind in kinds for each in done[kind]]
        return [name, len(rows), *(f"{sum(each[i] for each in rows) / len(rows):.1%}" for i in range(2))]

    rows = [row(kind, [kind]) for kind in KINDS]
    rows += [row("**all corruptions**", KINDS[2:]), row("**all untouched (false alarms)**", KINDS[:2])]
    settled = 1 - checkers[1].pairs_read / checkers[1].pairs_checked
    return (
        f"{sentences} sentences of MuSiQue, HotpotQA and SciFact passages.\n\n"
        f"{table(['what was done', 'sentences', 'caught by words', 'by words and reader'], rows)}\n\n"
        f"Rules settled {settled:.0%} of these pairs before the reader was asked."
    )


async def describe_report() -> str:
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
    return (
        f"{_QUESTIONS} MuSiQue questions: {answered} answered, {total} claims, "
        f"{counts['supported'] / max(1, total):.1%} supported; "
        f"disagreements between sources: {disagreements}."
    )


def describe_model(judged: Path | None) -> str:
    """Compare a language model's probability of yes with rules and reader, on the pairs that it was asked about."""
    import numpy

    from bench.claims_model import read_rows, write_rows

    rows = list(read_rows(KEPT_ROWS))
    if judged is not None:
        answers = {row["id"]: row["yes"] for row in read_rows(judged)}
        rows = [row | {"yes": answers[row["id"]]} if row["id"] in answers else row for row in rows]
        write_rows(KEPT_ROWS, rows)
    rows = [row for row in rows if "yes" in row]
    if not rows:
        return "Not measured yet: `bench/claims_model.py`."
    sys.path[:0] = [str(_EVALUATE.parent)]
    from evaluate import area, balanced
    from fit import FACT_CHECKING, PARAPHRASED, Limits, decide

    thresholds = load_thresholds()
    limits = Limits(*(getattr(thresholds, f"reader_{name}") for name in Limits._fields))
    true = numpy.array([row["label"] == "supported" for row in rows])
    is_dev = numpy.array([row["part"] == "dev" for row in rows])
    yes = numpy.array([row["yes"] for row in rows])
    reader = numpy.array([row["probabilities"][0] for row in rows])
    product = decide(rows, limits)
    best = max(numpy.linspace(0.05, 0.99, 95), key=lambda limit: balanced(yes[is_dev] >= limit, true[is_dev]))
    has_numbers = numpy.array([row["veto"] != "final" and not row["settled"] for row in rows])
    later = (product == 1) | ((product == 0) & has_numbers & (yes >= thresholds.model_yes))
    checkers = {
        "words": (numpy.array([row["lexical"] == "supports" for row in rows]), None),
        "reader at .5": (reader >= 0.5, reader),
        "words and reader (the product)": (product == 1, None),
        "model, yes from .5": (yes >= 0.5, yes),
        f"model, yes from {best:.2f} (fitted on the development pairs)": (yes >= best, None),
        f"the product, then the model from {thresholds.model_yes}": (later, None),
    }
    parts = {
        "all": ~is_dev,
        "facts": ~is_dev & numpy.array([row["source"] in FACT_CHECKING for row in rows]),
        "paraphrases": ~is_dev & numpy.array([row["source"] in PARAPHRASED for row in rows]),
    }
    lines = [
        [name]
        + [balanced(passed[part], true[part]) for part in parts.values()]
        + [float(passed[parts["all"] & true].mean()), float(passed[parts["all"] & ~true].mean())]
        + [area(score[parts["all"]], true[parts["all"]]) if score is not None else "–"]
        for name, (passed, score) in checkers.items()
    ]
    head = [
        "checker",
        *(f"{name} ({part.sum()})" for name, part in parts.items()),
        "true passed",
        "false passed",
        "AUC",
    ]
    return (
        f"Qwen2.5-Coder-1.5B-Instruct, one question for each pair (`CheckSupport`), its probability of yes; "
        f"balanced accuracy on {int((~is_dev).sum())} pairs of the test part.\n\n{table(head, lines)}"
    )


def describe_openings(answers: Path | None) -> str:
    """Return how many first sentences of a model were removed: of those with the gold answer and of those without it."""
    from bench.qa import format_openings, read_rows

    if answers is None:
        return "Not measured yet: `python -m bench.qa --model MODEL --rows ROWS`."
    return (
        f"First sentences of a model of 1.5 billion parameters (Qwen2.5-Coder-1.5B, the writer `sentence`).\n\n"
        f"{format_openings(read_rows(answers))}"
    )


def describe_speed(pairs: int = 60) -> str:
    """Read pairs of 128 tokens one by one, as the product does; check claims against five sources each, with cold caches."""
    from suffice.models.reader import get_reader

    load, reader = os.getloadavg()[0], get_reader()
    words = (
        "the river carried boats from the old harbour to the new bridge and back again every day of the week".split()
    )
    pair = ("The boats went to the bridge and back daily.", " ".join(words[i % len(words)] for i in range(111)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    reader.judge([pair])
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    clock, processor = time.perf_counter(), time.process_time()
    reader.judge([pair] * pairs)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    text = (
        f"{pairs} pairs of 128 tokens: {pairs / clock:.0f} a second by the clock at a load of {load:.1f} on {os.cpu_count()} "
        f"cores; {pairs / processor:.0f} for each second of processor time, so about {2 * pairs / processor:.0f} a second on "
        f"two idle cores. "
        f"Loading the reader adds {after - before:.0f} MB to a process.\n\n"
    )
    passages = load_passages(DATA, 1000)
    tried = [(next(extract_claims(sentence)), passage) for _, sentence, passage in generate_corruptions(passages, 25)]
    rows = []
    for checker in (LexicalChecker(), ReaderChecker()):
        extract_features.cache_clear()
        began = time.process_time()
        asyncio.run(_check_all(checker, tried, passages))
        seconds = time.process_time() - began
        tracemalloc.start()
        asyncio.run(_check_all(type(checker)(), tried[:40], passages))
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        rows.append([checker.name, f"{len(tried) / seconds:,.0f}", f"{peak:.1f} MB"])
    head = [
        "checker",
        "claims for each second of processor time, five sources each",
        "peak of Python's memory while checking",
    ]
    return text + table(head, rows)


async def _check_all(checker: Checker, tried: Sequence[tuple[ClaimText, Passage]], pool: Sequence[Passage]) -> None:
    for number, (claim, passage) in enumerate(tried):
        others = [pool[(number * 31 + i * 7) % len(pool)] for i in range(4)]
        await judge_claim(claim, [passage], others, checker)


def describe_footprint() -> str:
    """Compare size and start-up with the last commit that had no reader, from a checkout of it."""
    import tempfile

    root = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        subprocess.run(["git", "-C", root, "worktree", "add", "-q", "--detach", old, _BEFORE_READER], check=True)
        try:
            checkouts = {"before the reader": old / "src", "now": root / "src"}
            starts = _measure_starts(list(checkouts.values()))
            rows = [
                [name, f"{_measure_size(folder) / 1e6:.1f} MB", *(f"{1000 * seconds:.0f} ms" for seconds in best)]
                for (name, folder), best in zip(checkouts.items(), starts, strict=True)
            ]
        finally:
            subprocess.run(["git", "-C", root, "worktree", "remove", "--force", old], check=True)
    head = ["", "source tree", "bare interpreter", "`import suffice`", "`suffice --help`"]
    reader = (root / "src/suffice/models/reader/model.onnx").stat().st_size / 1e6
    return (
        f"Best of {_STARTUP_TRIES} starts in turn, processor time; before is commit {_BEFORE_READER}, which took its "
        f"embeddings from another package. The reader is {reader:.1f} MB and is loaded when the first claim is checked.\n\n"
        f"{table(head, rows)}"
    )


_BEFORE_READER = "d501940"
_STARTUP_TRIES = 7


def _measure_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _measure_starts(folders: Sequence[Path]) -> list[list[float]]:
    """Return the least processor time of each command with each source tree."""
    commands = [["-c", "pass"], ["-c", "import suffice"], ["-m", "suffice", "--help"]]
    best = [[float("inf")] * len(commands) for _ in folders]
    for _ in range(_STARTUP_TRIES):
        for folder, times in zip(folders, best, strict=True):
            for number, command in enumerate(commands):
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                environment = os.environ | {"PYTHONPATH": str(folder)}
                subprocess.run([sys.executable, *command], env=environment, check=True, stdout=subprocess.DEVNULL)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
                times[number] = min(times[number], spent)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "sections", nargs="*", help=f"some of: {', '.join(SECTIONS)}; or calibrate. All if none is named"
    )
    parser.add_argument(
        "--data", type=Path, help="folder that training/reader/prepare.py wrote, for the held-out sections"
    )
    parser.add_argument("--rows", type=Path, help="file that keeps what the reader said of the held-out data")
    parser.add_argument("--judged", type=Path, help="answers of a language model that bench/claims_model.py wrote")
    parser.add_argument("--answers", type=Path, help="rows that bench.qa wrote with --model")
    parser.add_argument("--sentences", type=int, default=_SENTENCES, help="sentences that are corrupted")
    given = parser.parse_args()
    if given.sections == ["calibrate"]:
        calibrate()
        return
    wanted = given.sections or SECTIONS
    if unknown := set(wanted) - set(SECTIONS):
        parser.error(f"no section {', '.join(sorted(unknown))}; there are: {', '.join(SECTIONS)}")
    if {"held-out claims", "questions"} & set(wanted):
        if given.data is None and given.rows is None:
            parser.error("the held-out sections need --data or --rows; name other sections to leave them out")
        options = [
            item for name in ("data", "rows") if (value := getattr(given, name)) for item in (f"--{name}", value)
        ]
        subprocess.run([sys.executable, _EVALUATE, "--texts", DATA, *options], check=True)
    describe = {
        "scifact": lambda: describe_scifact(load_embedder()),
        "corruptions": lambda: describe_corruptions(given.sentences),
        "report": lambda: asyncio.run(describe_report()),
        "model": lambda: describe_model(given.judged),
        "openings": lambda: describe_openings(given.answers),
        "speed": describe_speed,
        "footprint": describe_footprint,
    }
    for name, make in describe.items():
        if name in wanted:
            write_section(name, make())


if __name__ == "__main__":
    main()
