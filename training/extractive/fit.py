"""Fit when the extractive model says that its evidence answers a question: ``python -m training.extractive.fit --data DATA``.

``DATA`` holds ``hotpotqa`` and ``musique`` with ``questions.jsonl`` and ``corpus.jsonl``. Each question is searched three
ways: as it is; without its gold passages, so that the answer is absent; and over what was found for another question. The
weights are fitted on the questions with an even number and checked on the others. ``--write`` puts them into the package. How
the reader is weighed with them is not fitted here: it reads single steps, and these questions take several.
"""

import argparse
import asyncio
import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from bench.qa import WithoutPassages
from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.events import SearchStopped
from suffice.memory.evidence import Evidence
from suffice.models.extractive.sufficiency import SUFFICIENCY_FEATURES, compute_features
from suffice.models.extractive.units import rank_units, weigh_question
from suffice.options import RunOptions
from suffice.text.question import analyze_question
from suffice.types import Embed, Note

SETS = ("hotpotqa", "musique")
REGULARIZATION = 1.0


async def collect(folder: Path, limit: int | None) -> list[tuple[int, str, tuple[float, ...]]]:
    """Return the number of the question, how it was searched, and the features, for every question and way."""
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()][:limit]
    options = RunOptions(docs=str(folder / "corpus.jsonl"), model="extractive", stop="worth | exhaustion")
    first = await prepare_run(questions[0]["question"], options)
    search = WithoutPassages(first.search)
    found: dict[str, list[tuple[Note, ...]]] = {"present": [], "absent": []}
    for question in questions:
        for way in found:
            search.left_out = frozenset(question["gold"]) if way == "absent" else frozenset()
            evidence = Evidence()
            config = replace(first, task=question["question"], search=search, evidence=evidence)
            async with aclosing(run_pipeline(config)) as events:
                async for event in events:
                    if isinstance(event, SearchStopped):
                        break
            found[way].append(
                tuple(Note(item.text, (evidence.get_handle(item),), item.title, item.kind) for item in evidence)
            )
    rows = []
    for number, question in enumerate(questions):
        foreign = found["present"][(7 * number + 101) % len(questions)]
        for way, notes in (
            ("present", found["present"][number]),
            ("absent", found["absent"][number]),
            ("foreign", foreign),
        ):
            rows.append((number, way, extract(question["question"], notes, first.embed)))
    return rows


def extract(task: str, notes: Sequence[Note], embed: Embed | None) -> tuple[float, ...]:
    """Return the features of a question over some notes."""
    question, words = analyze_question(task), weigh_question(task, notes)
    units = rank_units(question, notes, frozenset(), words, embed)
    return compute_features(question, notes, units, words)


def fit_logistic(rows: "np.ndarray", labels: "np.ndarray") -> "np.ndarray":
    """Return bias and weights of a logistic regression, by Newton's method with an L2 penalty on the weights."""
    rows = np.hstack([np.ones((len(rows), 1)), rows])
    penalty = REGULARIZATION * np.eye(rows.shape[1])
    penalty[0, 0] = 1e-6
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-rows @ weights))
        hessian = (rows * (p * (1 - p))[:, None]).T @ rows + penalty
        weights += np.linalg.solve(hessian, rows.T @ (labels - p) - penalty @ weights)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", action="store_true", help="write the weights into the package")
    parser.add_argument("--limit", type=int, help="only the first N questions of each set")
    options = parser.parse_args()
    collected = {name: asyncio.run(collect(options.data / name, options.limit)) for name in SETS}
    train = [row for rows in collected.values() for row in rows if row[0] % 2 == 0]
    weights = fit_logistic(
        np.array([features for _, _, features in train]), np.array([float(way == "present") for _, way, _ in train])
    )
    fitted = {
        name: round(float(value), 2) for name, value in zip(("bias", *SUFFICIENCY_FEATURES), weights, strict=True)
    }
    print(json.dumps(fitted))
    print("| set | threshold | answerable, refused | answer absent, refused | another question's passages, refused |")
    print("|---|--:|--:|--:|--:|")
    for name, rows in collected.items():
        for threshold in (0.15, 0.2, 0.3, 0.5):
            cells = []
            for way in ("present", "absent", "foreign"):
                features = np.array([row[2] for row in rows if row[0] % 2 and row[1] == way])
                p = 1 / (1 + np.exp(-(weights[0] + features @ weights[1:])))
                cells.append(f"{(p < threshold).mean():.2f}")
            print(f"| {name} | {threshold} | " + " | ".join(cells) + " |")
    if options.write:
        path = Path(str(files("suffice.models.extractive").joinpath("weights.json")))
        stored = json.loads(path.read_text(encoding="utf-8"))
        stored["sufficiency"].update(fitted)
        path.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
