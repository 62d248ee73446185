"""Fit how the extractive model scores the steps of a chain: ``python -m training.extractive.chains --data DATA``.

``DATA`` holds ``hotpotqa`` and ``musique`` with ``questions.jsonl`` and ``corpus.jsonl``. Each question with an odd number is
searched patiently (``STOP``), so that there is something to choose from. The weights maximise the probability, by a softmax
over the units of a question, of those that hold the gold answer and stand in a gold passage. The questions with an even
number take no part: ``bench.qa --half even`` reports on them. ``--notes FILE`` keeps what was found, so that a second run
needs no search. ``--write`` puts the weights into the package.
"""

import argparse
import asyncio
import json
import pickle
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from bench.qa import holds
from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.events import SearchStopped
from suffice.memory.evidence import Evidence
from suffice.models.extractive.chains import CHAIN_TERMS, compute_chain_features, multiply_features
from suffice.models.extractive.steps import read_steps
from suffice.models.extractive.units import rank_units, read_notes, weigh_question
from suffice.models.reader.model import get_reader
from suffice.options import RunOptions
from suffice.text.question import analyze_question
from suffice.types import Note

SETS = ("hotpotqa", "musique")
STOP = "worth(price=0.03) | exhaustion"
PENALTY = 60.0  # L2, on weights of terms scaled to a standard deviation of one.
STEPS, RATE = 400, 0.05

Example = tuple[np.ndarray, np.ndarray]
"""The terms of the units of a question, and which units hold the answer."""


async def collect(folder: Path) -> list[tuple[dict[str, Any], tuple[Note, ...]]]:
    """Return the odd questions of a set with the notes that were found for each."""
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()][
        1::2
    ]
    first = await prepare_run(
        questions[0]["question"], RunOptions(docs=str(folder / "corpus.jsonl"), model="extractive", stop=STOP)
    )
    found = []
    for question in questions:
        evidence = Evidence()
        async with aclosing(run_pipeline(replace(first, task=question["question"], evidence=evidence))) as events:
            async for event in events:
                if isinstance(event, SearchStopped):
                    break
        notes = (
            Note(item.text, (evidence.get_handle(item),), item.title, item.kind, place=item.place) for item in evidence
        )
        found.append((question, tuple(notes)))
    return found


def make_example(question: dict[str, Any], notes: Sequence[Note]) -> Example | None:
    """Return the features and labels of a question; ``None`` if no unit holds the answer, or it is yes or no."""
    answers = [question["answer"], *question.get("aliases", [])]
    if question["answer"].lower() in ("yes", "no"):
        return None
    asked, words = analyze_question(question["question"]), weigh_question(question["question"], notes)
    reader = get_reader()
    found = read_notes(asked, notes, reader)
    units = rank_units(asked, notes, frozenset(), words, None, found)
    gold = {
        i for i, note in enumerate(notes) if note.place and (note.place.record or "").split("#")[0] in question["gold"]
    }
    labels = np.array([u.note in gold and holds(f"{notes[u.note].title} {u.text}", answers) for u in units])
    features = compute_chain_features(asked, notes, units, words, found, read_steps(asked, notes, reader))
    return (multiply_features(features), labels) if labels.any() else None


def fit(examples: Sequence[Example]) -> "np.ndarray":
    """Return the weights that make units with the answer most probable, by Adam."""
    scale = np.vstack([features for features, _ in examples]).std(axis=0) + 1e-9
    weights, mean, square = np.zeros((3, len(CHAIN_TERMS)))
    for step in range(1, STEPS + 1):
        gradient = -PENALTY * weights
        for features, labels in examples:
            scores = (features / scale) @ weights
            p = np.exp(scores - scores.max())
            right = p * labels
            gradient = gradient + (features / scale).T @ (right / right.sum() - p / p.sum())
        gradient = gradient / len(examples)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
        weights = weights + RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    return np.asarray(weights / scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--notes", type=Path, help="file for what was found; read if it exists")
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    options = parser.parse_args()
    if options.notes and options.notes.exists():
        found = pickle.loads(options.notes.read_bytes())
    else:
        found = [pair for name in SETS for pair in asyncio.run(collect(options.data / name))]
        if options.notes:
            options.notes.write_bytes(pickle.dumps(found))
    examples = [example for pair in found if (example := make_example(*pair)) is not None]
    fitted = {" ".join(term): round(float(value), 3) for term, value in zip(CHAIN_TERMS, fit(examples), strict=True)}
    print(len(examples), "questions", json.dumps(fitted))
    if options.write:
        path = Path(str(files("suffice.models.extractive").joinpath("weights.json")))
        stored = json.loads(path.read_text(encoding="utf-8"))
        stored["chain"] = fitted
        path.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
