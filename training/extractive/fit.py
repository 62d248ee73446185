"""Fit the weights of the extractive model: ``python -m training.extractive.fit --found FILE [--write]``.

    pip download --no-deps --no-binary :all: starlette werkzeug urllib3 requests rich tox uvicorn setuptools fabric
    python -m training.extractive.questions *.tar.gz --out DOCS
    python -m training.extractive.fit search --found FILE --docs DOCS/questions.jsonl --data DATA
    python -m training.extractive.fit --found FILE --write

``search`` asks each question with the defaults of ``suffice ask``, up to the end of the search, and keeps the passages.
``DATA`` holds ``hotpotqa`` and ``musique`` (``questions.jsonl``, ``corpus.jsonl``); only questions with an odd number are
taken. A passage is right if it is of the section that answers, or a gold passage that has the answer.

``passage`` and ``chain`` maximise the probability of the right passages, by a softmax over those of a question.
``sufficiency`` tells questions about documentation with an answer from those without one, and from questions over the
documentation of something else; its thresholds are chosen by hand from what is printed. A tenth of the questions is kept aside,
and figures on it are printed. None of the questions is in a set that is measured on.
"""

import argparse
import asyncio
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
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
from suffice.models.embeddings import embed_static
from suffice.models.extractive.chains import CHAIN_FEATURES, compute_chain_features, needs_steps
from suffice.models.extractive.ranking import PASSAGE_FEATURES, RankedPassage, rank_passages
from suffice.models.extractive.steps import read_steps
from suffice.models.extractive.sufficiency import SUFFICIENCY_FEATURES, compute_features
from suffice.models.reader import get_reader
from suffice.models.reading import RememberingReader
from suffice.options import RunOptions
from suffice.text.question import read_question
from suffice.types import Passage, Query

READER_FEATURES = {"reader", "second", "direct", "step", "read"}
HITS = 20
KEPT_ASIDE = 10  # One question in so many.


@dataclass(frozen=True, slots=True)
class Found:
    """A question, the passages of its search, which of them are right, and the set that it comes from."""

    question: str
    passages: tuple[Passage, ...]
    right: tuple[bool, ...]
    origin: str
    answers: tuple[str, ...] = ()


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
        found.append(Found(row["question"], tuple(passages), right, "docs"))
        foreign = await searches[(own + 1) % len(folders)](Query(row["question"]), HITS)
        if foreign:
            found.append(Found(row["question"], tuple(foreign), (False,) * len(foreign), "foreign"))
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
        found.append(Found(row["question"], passages, right, folder.name, answers))
    return found


# -- Fitting -----------------------------------------------------------------------------------------------------------


def fit_softmax(groups: Sequence[tuple[np.ndarray, np.ndarray]], penalty: float = 1.0) -> np.ndarray:
    """Return the weights that make the right rows of each group most probable, by gradient ascent with an L2 penalty."""
    scale = np.vstack([rows for rows, _ in groups]).std(axis=0) + 1e-9
    weights = np.zeros(len(scale))
    for step in range(600):
        gradient = -penalty * weights
        for rows, right in groups:
            scores = rows / scale @ weights
            p = np.exp(scores - scores.max())
            kept = p * right
            gradient = gradient + (rows / scale).T @ (kept / kept.sum() - p / p.sum())
        weights = weights + 2.0 / (1 + step / 100) * gradient / len(groups)
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


def split(items: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return what is fitted on, and what is kept aside."""
    fitted = [item for number, item in enumerate(items) if number % KEPT_ASIDE]
    return fitted, [item for number, item in enumerate(items) if not number % KEPT_ASIDE]


def report_ranking(groups: Sequence[tuple[np.ndarray, np.ndarray]], weights: np.ndarray) -> str:
    """Return how often a right row is first, and among the first three."""
    orders = [np.argsort(-(rows @ weights), kind="stable") for rows, _ in groups]
    shares = [
        np.mean([right[order[:n]].any() for order, (_, right) in zip(orders, groups, strict=True)]) for n in (1, 3)
    ]
    return f"first {shares[0]:.2f}, first three {shares[1]:.2f} of {len(groups)}"


def fit_ranking(
    name: str, features: Sequence[str], groups: Sequence[tuple[np.ndarray, np.ndarray]]
) -> dict[str, float]:
    """Fit one ranking, print how it does on the questions kept aside, and return its weights."""
    train, held = split(groups)
    weights = fit_softmax(train)
    print(f"{name}: fitted {report_ranking(train, weights)}; kept aside {report_ranking(held, weights)}")
    if "rank" in features:
        by_search = np.eye(len(features))[features.index("rank")]
        print(f"{name}, by the search alone: {report_ranking(groups, by_search)}")
    return {key: round(float(value), 3) for key, value in zip(features, weights, strict=True)}


def make_groups(
    ranked: Sequence[tuple[Found, list[RankedPassage]]], compute: Callable[[Found, list[RankedPassage]], Any]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return features and labels of each question that has a right passage among others."""
    groups = []
    for found, candidates in ranked:
        right = np.array([found.right[candidate.place] for candidate in candidates])
        if right.any() and not right.all():
            groups.append((np.array(compute(found, candidates)), right))
    return groups


def describe(found: Found, reader: RememberingReader | None) -> tuple[float, ...]:
    """Return the features of sufficiency."""
    question = read_question(found.question)
    return compute_features(question, rank_passages(question, found.passages, embed_static, reader))


def fit_sufficiency(name: str, founds: Sequence[Found], reader: RememberingReader | None) -> dict[str, float]:
    """Fit how probable it is that the passages answer; print what thresholds would do, and return the weights."""
    rows = []
    for found in founds:
        rows.append((describe(found, reader), float(any(found.right))))
    columns = [
        number for number, key in enumerate(SUFFICIENCY_FEATURES) if reader is not None or key not in READER_FEATURES
    ]
    table, labels = np.array([row for row, _ in rows])[:, columns], np.array([label for _, label in rows])
    weights = fit_logistic(table, labels)
    p = 1 / (1 + np.exp(-(weights[0] + table @ weights[1:])))
    for threshold in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7):
        low = p < threshold
        print(
            f"{name} {threshold}: below it {low[labels == 1].mean():.2f} with and {low[labels == 0].mean():.2f} without an "
            f"answer; above it {labels[~low].mean():.2f} have one"
        )
    keys = ("bias", *(SUFFICIENCY_FEATURES[number] for number in columns))
    return {key: round(float(value), 3) for key, value in zip(keys, weights, strict=True)}


def fit(founds: Sequence[Found]) -> dict[str, dict[str, float]]:
    """Return the weights of all models but the thresholds."""
    reader = RememberingReader(get_reader())
    docs = [found for found in founds if found.origin in ("docs", "foreign")]
    ranked = {
        is_read: [(one, rank_passages(read_question(one.question), one.passages, embed_static, reader if is_read else None))
                  for one in founds if one.origin != "foreign"]
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
    stored["chain"] = fit_ranking("chain", CHAIN_FEATURES, groups)
    stored["sufficiency"] = fit_sufficiency("sufficiency", docs, reader)
    stored["sufficiency_unread"] = fit_sufficiency("sufficiency, unread", docs, None)
    return stored


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
        for name, weights in fitted.items():  # Thresholds are chosen by what is printed.
            stored[name] = {key: stored[name][key] for key in ("no", "yes") if key in stored[name]} | weights
        path.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
