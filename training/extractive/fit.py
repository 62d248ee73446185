"""Fit the weights of the extractive model: ``python -m training.extractive.fit --found FILE [--write]``.

    pip download --no-deps --no-binary :all: starlette urllib3 werkzeug requests uvicorn supervisor beets \
        apscheduler falcon jupyterhub roundup luigi paramiko
    python -m training.extractive.questions *.tar.gz --out DOCS
    python -m training.extractive.fit search --found FILE --docs DOCS/questions.jsonl --data DATA
    python -m training.extractive.fit --found FILE --write

``search`` asks each question with the defaults of ``suffice ask``, up to the end of the search, and keeps the passages.
``DATA`` holds ``hotpotqa`` and ``musique`` (``questions.jsonl``, ``corpus.jsonl``); only questions with an odd number are
taken. A passage is right if it is of the section that answers, or a gold passage that has the answer.

``passage`` and ``chain`` maximise the probability of the right passages, by a softmax over those of a question.
``sufficiency`` tells whether one of the first passages of the ranking is right: for questions about documentation with and
without an answer, and over the documentation of something else. It sees the whole evidence and, as a small folder, one passage
alone. Figures are of packages kept aside, one after the other; thresholds are chosen by hand from what is printed. None of the
questions is in a set that is measured on.
"""

import argparse
import asyncio
import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from bench.answers import present
from bench.qa import holds
from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.events import SearchStopped
from suffice.memory.evidence import Evidence
from suffice.models.embeddings.minilm import get_minilm
from suffice.models.extractive.chains import CHAIN_FEATURES, compute_chain_features, needs_steps
from suffice.models.extractive.ranking import PASSAGE_FEATURES, RankedPassage, rank_passages
from suffice.models.extractive.steps import read_steps
from suffice.models.extractive.sufficiency import SUFFICIENCY_FEATURES, compute_features
from suffice.models.reader.model import ReaderModel, get_reader
from suffice.options import RunOptions
from suffice.text.question import read_question
from suffice.types import Passage, Query

READER_FEATURES = {"reader", "direct", "step", "read"}
HITS = 20
EVIDENCE_SIZES = (8, 20)  # Passages that a search gathers, about.
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A question, the passages of its search, which of them are right, and the set that it comes from.

    ``origin`` is "docs", "absent" for a question that its documentation does not answer, "foreign" for the documentation of
    something else, or the name of a set of questions in steps. ``part`` is the package: parts are kept aside as a whole.
    """

    question: str
    passages: tuple[Passage, ...]
    right: tuple[bool, ...]
    origin: str
    part: str
    answers: tuple[str, ...] = ()


@cache
def embed_text(text: str) -> np.ndarray:
    """Return the vector of a text: the same passages come again and again."""
    return np.asarray(get_minilm().embed([text])[0])


def embed(texts: Sequence[str]) -> np.ndarray:
    return np.array([embed_text(text) for text in texts])


@dataclass(frozen=True, slots=True)
class Group:
    """The rows of features of one question's passages, and which of them are right."""

    part: str
    rows: np.ndarray
    right: np.ndarray


# -- Searching ---------------------------------------------------------------------------------------------------------


async def search(task: str, docs: str) -> tuple[Passage, ...]:
    """Return the passages that a run finds, in the order of the search."""
    evidence = Evidence()
    config = replace(await prepare_run(task, RunOptions(docs=docs, model="extractive")), evidence=evidence)
    async with aclosing(run_pipeline(config)) as events:
        async for event in events:
            if isinstance(event, SearchStopped):
                break
    return tuple(evidence)


async def search_docs(path: Path) -> list[Found]:
    """Search for the questions about documentation, one query each, also in documentation of something else."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    folders = list(dict.fromkeys(row["folder"] for row in rows))
    options = [RunOptions(docs=folder, model="extractive") for folder in folders]
    searches = [(await prepare_run(rows[0]["question"], option)).search for option in options]
    found = []
    for row in rows:
        own = folders.index(row["folder"])
        passages = await searches[own](Query(row["question"]), HITS)
        right = tuple(is_right(row, passage) for passage in passages)
        part, origin = Path(row["folder"]).name, "docs" if row.get("answer", ["a section"]) else "absent"
        found.append(Found(row["question"], tuple(passages), right, origin, part))
        foreign = await searches[(own + 1) % len(folders)](Query(row["question"]), HITS)
        if foreign:
            found.append(Found(row["question"], tuple(foreign), (False,) * len(foreign), "foreign", part))
    return found


def is_right(row: Mapping[str, Any], passage: Passage) -> bool:
    """Whether a passage is of the section that answers, or has all strings of an answer."""
    if "answer" in row:
        return present(f"{passage.title}\n{passage.text}", row["answer"])
    (first, last), lines = row["lines"], passage.place.lines
    is_same = Path(passage.place.path).resolve() == Path(row["path"]).resolve()
    return is_same and lines is not None and min(last, lines[1]) - max(first, lines[0]) >= 1


async def search_chains(folder: Path, limit: int | None) -> list[Found]:
    """Search for the odd questions of a set that do not ask for yes or no."""
    found = []
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()[1::2]
    for row in map(json.loads, lines[:limit]):
        answers = (row["answer"], *row.get("aliases", ()))
        if row["answer"].lower() in ("yes", "no"):
            continue
        passages = await search(row["question"], str(folder / "corpus.jsonl"))
        right = tuple(
            passage.id.split("#")[0] in row["gold"] and holds(f"{passage.title} {passage.text}", answers)
            for passage in passages
        )
        found.append(Found(row["question"], passages, right, folder.name, str(len(found) % 10), answers))
    return found


# -- Fitting -----------------------------------------------------------------------------------------------------------


def fit_softmax(groups: Sequence[Group], penalty: float = 1.0) -> np.ndarray:
    """Return the weights that make the right rows of each group most probable, by gradient ascent with an L2 penalty."""
    shape = len(groups), max(len(group.right) for group in groups), groups[0].rows.shape[1]
    scale = np.vstack([group.rows for group in groups]).std(axis=0) + 1e-9
    rows, right, padding = np.zeros(shape), np.zeros(shape[:2]), np.full(shape[:2], -1e9)
    for number, group in enumerate(groups):
        size = len(group.right)
        rows[number, :size], right[number, :size], padding[number, :size] = group.rows / scale, group.right, 0.0
    weights = np.zeros(shape[2])
    for step in range(250):
        scores = rows @ weights + padding
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p, kept = p / p.sum(axis=1, keepdims=True), p * right / (p * right).sum(axis=1, keepdims=True)
        gradient = np.einsum("gn,gnk->k", kept - p, rows) - penalty * weights
        weights = weights + 3.0 / (1 + step / 60) * gradient / len(groups)
    return np.asarray(weights / scale)


def fit_logistic(rows: np.ndarray, labels: np.ndarray, penalty: float = 1.0) -> np.ndarray:
    """Return bias and weights of a logistic regression, by Newton's method with an L2 penalty on the weights."""
    rows = np.hstack([np.ones((len(rows), 1)), rows])
    ridge = penalty * np.eye(rows.shape[1])
    ridge[0, 0] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-rows @ weights))
        hessian = (rows * (p * (1 - p))[:, None]).T @ rows + ridge
        weights += np.linalg.solve(hessian, rows.T @ (labels - p) - ridge @ weights)
    return weights


def report_ranking(groups: Sequence[Group], scores: Sequence[np.ndarray]) -> str:
    """Return how often a right row is first, and among the first three."""
    orders = [np.argsort(-own, kind="stable") for own in scores]
    shares = [
        np.mean([group.right[order[:n]].any() for order, group in zip(orders, groups, strict=True)]) for n in (1, SHOWN)
    ]
    return f"first {shares[0]:.2f}, first three {shares[1]:.2f} of {len(groups)}"


def fit_ranking(name: str, features: Sequence[str], groups: Sequence[Group]) -> dict[str, float]:
    """Fit one ranking, print how it does on the parts kept aside, and return its weights."""
    apart = {part: fit_softmax([group for group in groups if group.part != part]) for part in {g.part for g in groups}}
    print(f"{name}: kept aside {report_ranking(groups, [group.rows @ apart[group.part] for group in groups])}")
    if "rank" in features:
        by_search = [group.rows[:, features.index("rank")] for group in groups]
        print(f"{name}, by the search alone: {report_ranking(groups, by_search)}")
    return name_weights(features, fit_softmax(groups))


def name_weights(names: Sequence[str], weights: np.ndarray) -> dict[str, float]:
    return {key: round(float(value), 3) for key, value in zip(names, weights, strict=True)}


def make_groups(
    ranked: Sequence[tuple[Found, list[RankedPassage]]], compute: Callable[[Found, list[RankedPassage]], Any]
) -> list[Group]:
    """Return features and labels of each question that has a right passage among others."""
    groups = []
    for found, candidates in ranked:
        right = np.array([found.right[candidate.place] for candidate in candidates])
        if right.any() and not right.all():
            groups.append(Group(found.part, np.array(compute(found, candidates)), right))
    return groups


def list_evidence(found: Found) -> Iterator[Found]:
    """Return what a search may have gathered: the first passages, more of them, a right one alone, and a wrong one alone."""
    for size in EVIDENCE_SIZES:
        yield replace(found, passages=found.passages[:size], right=found.right[:size])
    for wanted in (True, False):
        if wanted in found.right[: EVIDENCE_SIZES[0]]:
            place = found.right.index(wanted)
            origin = found.origin if wanted else "absent"
            yield replace(found, passages=(found.passages[place],), right=(wanted,), origin=origin)


def fit_sufficiency(founds: Sequence[Found], reader: ReaderModel | None) -> dict[str, dict[str, float]]:
    """Fit whether one of the first passages is right: by the reader alone, or by words. Print what thresholds would do."""
    columns = [n for n, key in enumerate(SUFFICIENCY_FEATURES) if (key in READER_FEATURES) == (reader is not None)]
    rows, labels = [], []
    cases = [case for found in founds if found.passages for case in list_evidence(found)]
    for case in cases:
        question = read_question(case.question)
        ranked = rank_passages(question, case.passages, embed, reader)
        rows.append([compute_features(question, ranked)[column] for column in columns])
        labels.append(any(case.right[one.place] for one in ranked[:SHOWN]))
    table, label, parts = np.array(rows), np.array(labels, float), np.array([case.part for case in cases])
    p = np.zeros(len(label))
    for part in set(parts):
        weights = fit_logistic(table[parts != part], label[parts != part])
        p[parts == part] = 1 / (1 + np.exp(-(weights[0] + table[parts == part] @ weights[1:])))
    title = "sufficiency" if reader is not None else "sufficiency_unread"
    is_alone = np.array([len(case.passages) == 1 for case in cases])
    is_foreign = np.array([case.origin == "foreign" for case in cases])
    for what, chosen in (("whole", ~is_alone & ~is_foreign), ("one passage", is_alone), ("foreign", is_foreign)):
        for threshold in (0.04, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85):
            low = p[chosen] < threshold
            right, wrong = low[label[chosen] == 1].mean(), low[label[chosen] == 0].mean()
            above = label[chosen][~low].mean()
            counts = f"below it {right:.2f} of the right, {wrong:.2f} of the wrong; above it {above:.2f} right"
            print(f"{title}, {what}, {threshold}: {counts}")
    keys = ("bias", *(SUFFICIENCY_FEATURES[column] for column in columns))
    return {title: name_weights(keys, fit_logistic(table, label))}


def fit(founds: Sequence[Found]) -> dict[str, dict[str, float]]:
    """Return the weights of all models but the thresholds."""
    reader = get_reader()
    docs = [found for found in founds if found.origin in ("docs", "absent", "foreign")]
    ranked = {
        is_read: [(one, rank_passages(read_question(one.question), one.passages, embed, reader if is_read else None))
                  for one in founds if one.origin not in ("absent", "foreign")]
        for is_read in (True, False)
    }  # fmt: skip
    stored: dict[str, dict[str, float]] = {}
    for name, is_read in (("passage", True), ("unread", False)):
        of_docs = [pair for pair in ranked[is_read] if pair[0].origin == "docs"]
        groups = make_groups(of_docs, lambda _, candidates: [one.features for one in candidates])
        fitted = fit_ranking(name, PASSAGE_FEATURES, groups)
        stored[name] = {key: value for key, value in fitted.items() if is_read or key not in READER_FEATURES}
    chains = [
        pair
        for pair in ranked[True]
        if pair[0].origin != "docs" and needs_steps(read_question(pair[0].question), pair[1])
    ]
    groups = make_groups(
        chains,
        lambda found, candidates: compute_chain_features(
            read_question(found.question),
            candidates,
            read_steps(read_question(found.question), [one.passage for one in candidates], reader),
        ),
    )
    if groups:
        stored["chain"] = fit_ranking("chain", CHAIN_FEATURES, groups)
    return stored | fit_sufficiency(docs, reader) | fit_sufficiency(docs, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=["search", "fit"], default="fit")
    parser.add_argument("--found", type=Path, required=True, help="file of what was found; search adds to it")
    parser.add_argument("--docs", type=Path, help="questions.jsonl of training.extractive.questions")
    parser.add_argument("--data", type=Path, help="folder of hotpotqa and musique")
    parser.add_argument("--limit", type=int, help="only the first N odd questions of each of these")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    founds = pickle.loads(options.found.read_bytes()) if options.found.exists() else []
    if options.command == "search":
        if options.docs:
            founds += asyncio.run(search_docs(options.docs))
        for name in ("hotpotqa", "musique") if options.data else ():
            founds += asyncio.run(search_chains(options.data / name, options.limit))
            options.found.write_bytes(pickle.dumps(founds))
        options.found.write_bytes(pickle.dumps(founds))
        return
    fitted = fit(founds)
    print(json.dumps(fitted, indent=2))
    if options.write:
        path = Path(str(files("suffice.models.extractive").joinpath("weights.json")))
        stored = json.loads(path.read_text(encoding="utf-8"))
        merged = stored | {name: stored.get(name, {}) | own for name, own in fitted.items()}  # The thresholds stay.
        path.write_text(json.dumps(merged, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
