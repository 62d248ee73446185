"""Measure readers on what none of them was trained on: one table, a column for each exported model. Needs no network.

    python training/reader/evaluate.py --held build/gpu/held.jsonl.xz --data DATA src/suffice/models/reader build/model build/large-model

``DATA`` has ``scifact/``, ``strong-drafts/``, ``musique/`` and ``hotpotqa/``. A claim counts as supported when P(supported) is at
least one half. Sentences of strong drafts are held against each cited passage and against all of them together; the best counts.
Ranking: the passage that answers among those of its package that share most words with the question; of MuSiQue and HotpotQA
the even questions, every gold passage among the most similar ones of the corpus.
"""

import argparse
import hashlib
import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path

import numpy
from alter import HELD_BACK
from questions import similar

from suffice.models.reader import ReaderModel

FACTS = ("fever", "check_covid", "wice", "fm2", "feverous", "scifact_train")
CITATION = re.compile(r"\s*\[\d+\]")


def load_held(path: Path, part: str) -> tuple[list[dict], list[dict]]:
    """Return claims and questions of one part in an order that never changes."""
    claims, questions = [], []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            if row["part"] == part:
                row["held_back"] = row["source"] in HELD_BACK
                (claims if "claim" in row else questions).append(row)
    for rows in (claims, questions):
        rows.sort(
            key=lambda row: hashlib.md5(f"{row.get('claim') or row['question']}\n{row['passage']}".encode()).digest()
        )
    return claims, questions


def balanced(said: numpy.ndarray, true: numpy.ndarray) -> float:
    return float((said[true].mean() + (~said[~true]).mean()) / 2) if true.any() and (~true).any() else float("nan")


def area(scores: numpy.ndarray, true: numpy.ndarray) -> float:
    """Area under the ROC curve: how often a true row has the higher score."""
    apart = scores[true][:, None] - scores[~true][None, :]
    return float(((apart > 0) + 0.5 * (apart == 0)).mean()) if apart.size else float("nan")


def read_relevance(reader: ReaderModel, question: str, passages: list[str]) -> list[float]:
    """Score passages: by the ranking head, or by P(answerable) of a reader that has none."""
    if any(output.name == "relevance" for output in reader._load()[1].get_outputs()):
        return reader.rank(question, passages)
    return [answer.probability for answer in reader.read(question, passages)]


def take(rows: list[dict], each: int, key: str = "source") -> list[dict]:
    """Return the first rows of each source."""
    seen: dict[str, int] = {}
    kept = []
    for row in rows:
        seen[row[key]] = seen.get(row[key], 0) + 1
        if seen[row[key]] <= each:
            kept.append(row)
    return kept


def judge_claims(reader: ReaderModel, rows: list[dict]) -> Iterator[tuple[str, int, float]]:
    """Yield balanced accuracies over kinds of claims."""
    found = reader.judge([(row["claim"], row["passage"]) for row in rows])[:, 0]
    true = numpy.array([row["label"] == "supported" for row in rows])
    sources = numpy.array([row["source"] for row in rows])
    made = numpy.char.startswith(sources, "made_")
    held = numpy.isin(sources, HELD_BACK)
    groups = {
        "claims people and rules wrote": ~made,
        "fact verification": numpy.isin(sources, FACTS),
        "sources held back": held,
        **{f"– {name} (held back)": sources == name for name in HELD_BACK},
        "made pairs": made,
        **{f"– {name}": sources == name for name in sorted(set(sources[made]))},
    }
    for name, chosen in groups.items():
        if chosen.any():
            yield f"{name}: balanced accuracy", int(chosen.sum()), balanced(found[chosen] >= 0.5, true[chosen])
    yield "all claims: AUC", len(rows), area(found, true)


def judge_scifact(reader: ReaderModel, folder: Path, limit: int) -> Iterator[tuple[str, int, float]]:
    texts = {}
    for line in (folder / "documents.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        texts[row["id"]] = f"{row['title']}\n{' '.join(row['sentences'])}"
    rows = [json.loads(line) for line in (folder / "claims.jsonl").read_text(encoding="utf-8").splitlines()]
    pairs = [(row["claim"], row["document"] or row["cited"][0], row["label"] == "SUPPORT") for row in rows]
    pairs = sorted(pairs, key=lambda pair: hashlib.md5(pair[0].encode()).digest())[:limit]
    found = reader.judge([(claim, texts[document]) for claim, document, _ in pairs])[:, 0]
    true = numpy.array([pair[2] for pair in pairs])
    yield "SciFact: balanced accuracy", len(pairs), balanced(found >= 0.5, true)
    yield "SciFact: AUC", len(pairs), area(found, true)


def judge_drafts(reader: ReaderModel, folder: Path) -> Iterator[tuple[str, int, float]]:
    rows = [json.loads(line) for line in (folder / "drafts.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["label"] in ("stated", "joined", "corrupted") and row["cited"]]
    scores = []
    for row in rows:
        claim = CITATION.sub("", row["text"]).replace("**", "").replace("`", "").strip()
        texts = [passage["text"] for passage in row["cited"]]
        together = ["\n\n".join(texts)] if len(texts) > 1 else []
        scores.append(float(reader.judge([(claim, text) for text in texts + together])[:, 0].max()))
    score = numpy.array(scores)
    true = numpy.array([row["label"] != "corrupted" for row in rows])
    yield "strong drafts: true sentences not supported", int(true.sum()), float((score[true] < 0.5).sum())
    yield "strong drafts: false twins supported", int((~true).sum()), float((score[~true] >= 0.5).sum())
    for kind in sorted({row["kind"] for row in rows if row["label"] == "corrupted"}):
        chosen = numpy.array([row.get("kind") == kind and row["label"] == "corrupted" for row in rows])
        yield f"– false twins supported, {kind}", int(chosen.sum()), float((score[chosen] >= 0.5).sum())
    yield "strong drafts: AUC", len(rows), area(score, true)


def judge_questions(reader: ReaderModel, rows: list[dict]) -> Iterator[tuple[str, int, float]]:
    """Yield rank of the passage that answers, and how well P(answerable) tells it from the others."""
    docs = [row for row in rows if row["source"].startswith("docs_") and len(row["others"]) > 2]
    scores = [read_relevance(reader, row["question"], [row["passage"], *row["others"]]) for row in docs]
    places = numpy.array([1 + sum(other >= score[0] for other in score[1:]) for score in scores])
    kinds = numpy.array([row["source"] for row in docs])
    for kind in ["", *sorted(set(kinds))]:
        chosen = (kinds == kind) | (kind == "")
        yield (
            f"held-out packages{kind and f', {kind[5:]}'}: first of 8",
            int(chosen.sum()),
            float((places[chosen] == 1).mean()),
        )
    yield "held-out packages: mean reciprocal rank", len(docs), float((1 / places).mean())
    pairs = [
        (row["question"], text, at == 0) for row in docs for at, text in enumerate([row["passage"], *row["others"][:1]])
    ]
    found = numpy.array([reader.read(question, [text])[0].probability for question, text, _ in pairs])
    true = numpy.array([pair[2] for pair in pairs])
    yield "held-out packages: answerable, AUC", len(pairs), area(found, true)
    yield "held-out packages: answerable, balanced accuracy", len(pairs), balanced(found >= 0.5, true)


def judge_corpus(reader: ReaderModel, folder: Path, limit: int) -> Iterator[tuple[str, int, float]]:
    rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = [f"{row['title']}\n{row['text']}" for row in rows]
    places = {row["id"]: number for number, row in enumerate(rows)}
    asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()][::2][
        :limit
    ]
    recall = []
    for row, near in zip(asked, similar([row["question"] for row in asked], texts, 20), strict=True):
        gold = {places[one] for one in row["gold"]}
        chosen = list(dict.fromkeys([*near, *gold]))
        scores = read_relevance(reader, row["question"], [texts[number] for number in chosen])
        ranked = [number for _, number in sorted(zip(scores, chosen, strict=True), reverse=True)]
        recall.append([len(gold & set(ranked[:count])) / len(gold) for count in (2, 5)])
    for at, count in enumerate((2, 5)):
        yield (
            f"{folder.name}, even questions: recall@{count} of about 22",
            len(asked),
            float(numpy.mean([row[at] for row in recall])),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=Path, nargs="+", help="folders with model.onnx and provenance.json")
    parser.add_argument("--held", type=Path, required=True, help="held.jsonl.xz of prepare.py")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--each", type=int, default=40, help="claims of each source and kind at most")
    parser.add_argument("--questions", type=int, default=60, help="questions of each kind at most")
    given = parser.parse_args()
    claims, questions = load_held(given.held, "test")
    claims, questions = take(claims, given.each), take(questions, given.questions)
    columns: dict[str, dict[str, float]] = {}
    counts: dict[str, int] = {}
    for folder in given.models:
        reader = ReaderModel(folder)
        column = columns.setdefault(str(folder), {})
        for measured in (
            judge_drafts(reader, given.data / "strong-drafts"),
            judge_claims(reader, claims),
            judge_scifact(reader, given.data / "scifact", 8 * given.each),
            judge_questions(reader, questions),
            judge_corpus(reader, given.data / "hotpotqa", given.questions),
            judge_corpus(reader, given.data / "musique", given.questions),
        ):
            for name, count, value in measured:
                counts[name], column[name] = count, value
                print(f"{folder}: {name} ({count}): {value:.3f}", flush=True)
    print("| | rows | " + " | ".join(columns) + " |\n|---|--:|" + "--:|" * len(columns))
    for name, count in counts.items():
        values = [column.get(name, float("nan")) for column in columns.values()]
        shown = [
            f"{value:.0f}" if ("supported" in name and "drafts" in name) or "twins" in name else f"{value:.3f}"
            for value in values
        ]
        print(f"| {name} | {count} | " + " | ".join(shown) + " |")


if __name__ == "__main__":
    main()
