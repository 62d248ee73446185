"""Measure the claim check: balanced accuracy on data that nobody trained on, and how drafts and corrupted sentences fare.

    python -m bench.claims                  all tables, as Markdown on standard output
    python -m bench.claims drafts scifact   some of them: held-out, scifact, drafts, corruptions, speed
    python -m bench.claims fit              fit the reader's two thresholds on the development part and store them
    python -m bench.claims whole --model M  the drafts again, checked as wholes by a language model

Everything is judged by ``judge_claim`` with the checker that the product uses, and nothing here needs a network. A text counts
as passed when every claim of it is supported. Balanced accuracy is the mean of the share of true claims passed and of the share
of false ones not passed. The data are in the folder ``shared/data`` beside the repository (``--data`` names another):

- held-out: rows of ``claims-train`` whose passage hashes to the test part, by source and by kind of falsehood;
- scifact: claim–abstract pairs whose claim is in no training file;
- drafts: a strong writer's labelled sentences, each against its cited passages with the run's other evidence; never trained on;
- whole: the same sentences in drafts of true and false ones, never one beside its own twin, judged in one call each;
- corruptions: sentences of passages, untouched and made false by rules (``bench.corruptions``).
"""

import argparse
import asyncio
import gzip
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import nlargest
from pathlib import Path

from bench.corruptions import KINDS, generate_corruptions, load_passages
from suffice import claims, settings
from suffice.claims.checker import default_checker, select_text
from suffice.claims.figures import find_missing_figure
from suffice.claims.split import extract_claims
from suffice.claims.verdict import judge_claim
from suffice.claims.whole import check_draft
from suffice.models.choose import choose_model
from suffice.models.reader.model import get_reader
from suffice.prompts.judging import CheckDraft, CheckDraftResponse
from suffice.text.entities import content_stems
from suffice.types import Passage, Place

DATA = Path(__file__).parents[2] / "shared" / "data"
THRESHOLDS_FILE = Path(claims.__path__[0]) / "thresholds.json"
FACT_CHECKING = frozenset("fever feverous fm2 check_covid scifact_train wice".split())
FACTS_EACH = 110  # Claims of each fact-checking source; of the others ``--each``.
OTHERS = 6  # Passages of the run besides the cited ones, those that share most words with the sentence.
_KINDS = {
    "number": r"(?:^|-)number\b|number changed",
    "negation": r"negat|contradiction",
    "name": r"entity|name swapped|-wrong|-pool|-ev$",
    "relation": r"relation|relword|antonym|roleswap|-swap",
    "over-generalisation": r"overgeneral",
    "missing information": r"dropped|removed|neighbour|citation moved|-tail|-head|-chunk|-half",
}


@dataclass(frozen=True)
class Case:
    """A text, the passages that it cites, others of the same run, and whether it is true according to the cited ones."""

    text: str
    cited: tuple[Passage, ...]
    is_true: bool
    source: str
    kind: str = ""
    others: tuple[Passage, ...] = ()
    label: str = ""

    @property
    def handles(self) -> tuple[str, ...]:
        return tuple(passage.id for passage in self.cited)


def load_rows(data: Path, part: str, each: int) -> Iterator[Case]:
    """Yield claims whose passage is in the part (``dev`` or ``test``): the first rows of each source by a fixed hash."""
    for path in sorted((data / "claims-train").glob("*.jsonl.gz")):
        source = path.name.split(".")[0]
        with gzip.open(path, "rt", encoding="utf-8") as file:
            rows = [row for row in map(json.loads, file) if _part_of(row["evidence"]) == part]
        rows.sort(key=lambda row: hashlib.md5(f"{row['claim']}\n{row['evidence']}".encode()).digest())
        for row in rows[: max(each, FACTS_EACH) if source in FACT_CHECKING else each]:
            is_true = row["label"] == "supported"
            kind = (
                "" if is_true else next((name for name, found in _KINDS.items() if re.search(found, row["split"])), "")
            )
            passage = Passage("p", row["evidence"], "", Place("text"))
            yield Case(row["claim"], (passage,), is_true, source, kind, label=row["label"])


def _part_of(evidence: str) -> str:
    bucket = int(hashlib.md5(evidence.encode()).hexdigest(), 16) % 25
    return {0: "dev", 1: "test"}.get(bucket, "train")


def load_scifact(data: Path) -> Iterator[Case]:
    """Yield the pairs of SciFact whose claim is in no training file."""
    with gzip.open(data / "claims-train" / "scifact_train.jsonl.gz", "rt", encoding="utf-8") as file:
        seen = {" ".join(json.loads(line)["claim"].lower().split()) for line in file}
    documents = {row["id"]: row for row in _read_rows(data / "scifact" / "documents.jsonl")}
    for row in _read_rows(data / "scifact" / "claims.jsonl"):
        if " ".join(row["claim"].lower().split()) in seen:
            continue
        for name in [row["document"]] if row["document"] else row["cited"]:
            if name in documents:
                text, title = " ".join(documents[name]["sentences"]), documents[name]["title"]
                passage = Passage(name, text, title, Place("scifact", record=name))
                yield Case(row["claim"], (passage,), row["label"] == "SUPPORT", row["label"].lower())


def load_drafts(data: Path) -> Iterator[Case]:
    """Yield the sentences of the drafts; ``source`` is the label of a true one, ``kind`` what was changed in a false one."""
    evidence: dict[str, list[Passage]] = {}
    for row in _read_rows(data / "strong-drafts" / "evidence.jsonl"):
        evidence.setdefault(row["run"], []).append(_to_passage(row))
    for row in _read_rows(data / "strong-drafts" / "drafts.jsonl"):
        cited = tuple(map(_to_passage, row["cited"]))
        own = {passage.id for passage in cited}
        stems = content_stems(row["text"])
        others = [passage for passage in evidence[row["run"]] if passage.id not in own]
        near = nlargest(
            OTHERS, others, key=lambda passage: len(stems & content_stems(f"{passage.title} {passage.text}"))
        )
        is_true = row["label"] not in ("corrupted", "overstated")
        yield Case(row["text"], cited, is_true, row["label"], row.get("kind") or "", tuple(near))


def _to_passage(row: dict) -> Passage:
    return Passage(row["id"], row["text"], row["title"], Place(row["location"]), row["kind"])


def _read_rows(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def judge_all(cases: Iterable[Case]) -> list[tuple[Case, str]]:
    """Return each case with its verdict: the worst of its claims', ``unknown`` if it makes none."""
    checker = default_checker()

    async def judge(case: Case) -> str:
        verdicts = [
            (await judge_claim(claim, case.cited, case.others, checker)).support for claim in extract_claims(case.text)
        ]
        order = ("contradicted", "unsupported", "supported", "unknown")
        return min(verdicts, key=order.index, default="unknown")

    async def judge_each() -> list[tuple[Case, str]]:
        return [(case, await judge(case)) for case in cases]

    return asyncio.run(judge_each())


def balance(judged: Sequence[tuple[Case, str]]) -> float | None:
    """Return the balanced accuracy of supported against the rest; ``None`` without true or without false cases."""
    true = [verdict == "supported" for case, verdict in judged if case.is_true]
    false = [verdict != "supported" for case, verdict in judged if not case.is_true]
    return (sum(true) / len(true) + sum(false) / len(false)) / 2 if true and false else None


def describe_held_out(data: Path, each: int) -> str:
    judged = judge_all(load_rows(data, "test", each))
    true = [row for row in judged if row[0].is_true]
    kinds = [(kind, [row for row in judged if row[0].kind == kind]) for kind in _KINDS]
    sources = sorted({case.source for case, _ in judged})
    parts = {
        "all": judged,
        "fact-checking sources": [row for row in judged if row[0].source in FACT_CHECKING],
        **{source: [row for row in judged if row[0].source == source] for source in sources},
    }
    return (
        f"{len(judged)} claims of the test part, {count_passed(true):.2f} of the true ones passed.\n\n"
        + table(
            ["false claims by kind", "claims", "not passed"], [[k, len(r), 1 - count_passed(r)] for k, r in kinds if r]
        )
        + "\n\n"
        + table(["source", "claims", "balanced accuracy"], [[name, len(r), balance(r)] for name, r in parts.items()])
    )


def describe_scifact(data: Path) -> str:
    judged = judge_all(load_scifact(data))
    rows = [
        [label, len(own), *(sum(verdict == name for _, verdict in own) for name in ("supported", "contradicted"))]
        for label in ("support", "contradict", "not_enough_info")
        if (own := [row for row in judged if row[0].source == label])
    ]
    head = table(["label", "pairs", "judged supported", "judged contradicted"], rows)
    return f"{len(judged)} pairs, balanced accuracy {show(balance(judged))}.\n\n{head}"


def describe_drafts(judged: Sequence[tuple[Case, str]]) -> str:
    stated = [row for row in judged if row[0].source in ("stated", "joined")]
    twins = [row for row in judged if row[0].source == "corrupted"]
    refused = sum(verdict != "supported" for _, verdict in stated)
    passed = sum(verdict == "supported" for _, verdict in twins)
    labels = Counter(case.source for case, _ in judged)
    verdicts = ("supported", "contradicted", "unsupported", "unknown")
    by_label = [
        [label, labels[label], *_count([row for row in judged if row[0].source == label], verdicts)] for label in labels
    ]
    kinds = Counter(case.kind for case, _ in twins)
    by_kind = [
        [kind, kinds[kind], *_count([row for row in twins if row[0].kind == kind], verdicts[:1])] for kind in kinds
    ]
    return (
        f"**True sentences (stated, joined) not judged supported: {refused} of {len(stated)}. False twins judged supported: "
        f"{passed} of {len(twins)}.**\n\n{table(['label', 'sentences', *verdicts], by_label)}\n\n"
        f"{table(['false twins', 'sentences', 'judged supported'], by_kind)}"
    )


def judge_whole(data: Path, model_name: str) -> list[tuple[Case, str]]:
    """Let a model judge three drafts of each run: a sentence is in one of them, each of its false twins in another."""
    rows = list(_read_rows(data / "strong-drafts" / "drafts.jsonl"))
    drafts: dict[tuple[str, int], list[Case]] = {}
    counts: Counter[tuple[str, int]] = Counter()
    evidence: dict[str, dict[str, Passage]] = {}
    for row in _read_rows(data / "strong-drafts" / "evidence.jsonl"):
        evidence.setdefault(row["run"], {})[row["id"]] = _to_passage(row)
    for row, case in zip(rows, load_drafts(data), strict=True):
        # A sentence is in the draft of its number, its twins are in the next ones.
        of = row["run"], row.get("of") or row["n"]
        drafts.setdefault((row["run"], (of[1] + counts[of]) % 3), []).append(case)
        counts[of] += 1

    async def judge_each() -> list[tuple[Case, str]]:
        model = choose_model(model_name, settings.load(), print)(None)

        async def ask(prompt: CheckDraft) -> CheckDraftResponse:
            return (await model(prompt)).answer

        judged: list[tuple[Case, str]] = []
        for (run, _), cases in drafts.items():
            cases.sort(key=lambda case: hashlib.md5(case.text.encode()).digest())
            passages = {passage.id: passage for case in cases for passage in case.cited}
            verdicts = await check_draft(cases, {**evidence[run], **passages}, ask, 60_000)
            judged += [
                (case, verdict.support if verdict else "unknown") for case, verdict in zip(cases, verdicts, strict=True)
            ]
        return judged

    return asyncio.run(judge_each())


def _count(judged: Sequence[tuple[Case, str]], verdicts: Sequence[str]) -> Iterator[int]:
    return (sum(verdict == name for _, verdict in judged) for name in verdicts)


def describe_corruptions(data: Path, sentences: int) -> str:
    passages = load_passages(data, 2000)
    cases = (
        Case(text, (passage,), kind in KINDS[:2], kind)
        for kind, text, passage in generate_corruptions(passages, sentences)
    )
    judged = judge_all(cases)

    def caught(name: str, kinds: Sequence[str]) -> list[object]:
        verdicts = [verdict for case, verdict in judged if case.source in kinds]
        share = sum(verdict in ("contradicted", "unsupported") for verdict in verdicts) / len(verdicts)
        return [name, len(verdicts), f"{share:.1%}"]

    rows = [caught(kind, [kind]) for kind in KINDS]
    rows += [caught("**all corruptions**", KINDS[2:]), caught("**all untouched (false alarms)**", KINDS[:2])]
    return table(["what was done", "sentences", "caught"], rows)


def describe_speed(data: Path, claims: int = 60) -> str:
    """Check claims against their passages, and say how many of them a second of processor time is enough for."""
    cases = list(load_rows(data, "test", 2))[:claims]
    judge_all(cases[:1])
    began, clock = time.process_time(), time.perf_counter()
    judge_all(cases)
    spent, clock = time.process_time() - began, time.perf_counter() - clock
    rates = f"{len(cases) / spent:.0f} a second of processor time, {len(cases) / clock:.0f} by the clock"
    return f"{len(cases)} claims, one passage each: {rates}."


def fit(data: Path, each: int) -> str:
    """Choose the thresholds with the highest balanced accuracy on the development part, and store them.

    Supported is held against everything else, contradicted against rows of which is known that they are not.
    """
    cases = list(load_rows(data, "dev", each))
    pairs = [(case.text, select_text(case.text, case.cited[0])) for case in cases]
    found = asyncio.run(default_checker()(pairs))
    has_figures = [find_missing_figure(case.text, [case.cited[0].text]) is None for case in cases]
    rows = list(zip(cases, found, has_figures, strict=True))
    told = [row for row in rows if row[0].label != "not_supported"]
    supported = _choose([(p.supported * ok, case.is_true) for case, p, ok in rows])
    contradicted = _choose([(p.contradicted, case.label == "contradicted") for case, p, _ in told])
    stored = {
        "supported": supported[1],
        "contradicted": contradicted[1],
        "reader": get_reader().digest,
        "fitted_on": f"{len(cases)} claims of the development part, at most {max(each, FACTS_EACH)} of a source",
        "fitted_by": "python -m bench.claims fit",
    }
    THRESHOLDS_FILE.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    at_half = [(case, "supported" if p.supported * ok >= 0.5 else "") for case, p, ok in rows]
    return (
        f"supported from {supported[1]} on: balanced accuracy {supported[0]:.3f} ({show(balance(at_half))} from .5 on); "
        f"contradicted from {contradicted[1]} on: {contradicted[0]:.3f}. Stored in {THRESHOLDS_FILE.name}."
    )


def _choose(rows: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Return the highest balanced accuracy and its threshold; of equal ones the threshold nearest to .5."""
    true, false = ([value for value, is_true in rows if is_true is wanted] for wanted in (True, False))
    scored = []
    for limit in (value / 20 for value in range(4, 19)):
        passed, stopped = sum(value >= limit for value in true), sum(value < limit for value in false)
        scored.append((round((passed / len(true) + stopped / len(false)) / 2, 3), -abs(limit - 0.5), limit))
    best = max(scored)
    return best[0], best[2]


def count_passed(judged: Sequence[tuple[Case, str]]) -> float:
    return sum(verdict == "supported" for _, verdict in judged) / max(1, len(judged))


def show(value: object) -> str:
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(map(show, row)) + " |" for row in rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "tables", nargs="*", metavar="TABLE", help="held-out, scifact, drafts, corruptions, speed, or fit"
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--each", type=int, default=40, help="claims of each source of the held-out part")
    parser.add_argument("--model", help="the language model of the table whole, as for 'suffice check'")
    parser.add_argument("--sentences", type=int, default=300, help="sentences that are corrupted")
    given = parser.parse_args()
    tables: dict[str, Callable[[], str]] = {
        "drafts": lambda: describe_drafts(judge_all(load_drafts(given.data))),
        "scifact": lambda: describe_scifact(given.data),
        "corruptions": lambda: describe_corruptions(given.data, given.sentences),
        "held-out": lambda: describe_held_out(given.data, given.each),
        "speed": lambda: describe_speed(given.data),
    }
    if given.tables == ["fit"]:
        print(fit(given.data, given.each))
        return
    if given.model:
        tables["whole"] = lambda: describe_drafts(judge_whole(given.data, given.model))
    if unknown := set(given.tables) - set(tables):
        parser.error(f"no table {', '.join(sorted(unknown))}; there are: {', '.join(tables)}")
    for name in given.tables or tables:
        print(f"## {name}\n\n{tables[name]()}\n", flush=True)


if __name__ == "__main__":
    main()
