"""Fit the weights that read the breadth of a question, and print how well they do on questions left out.

python -m training.breadth.fit [--l2 2.0] [--facts FILE…]

``--facts`` takes question sets whose questions each ask for one fact (HotpotQA, MuSiQue: one JSON object a line): those with an
odd number are narrow ones to learn from, of the others it prints how they are read.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from suffice.models import breadth
from suffice.models.embeddings.minilm import get_minilm

HERE = Path(__file__).parent
_STEPS, _RATE = 800, 0.3
_VECTOR_SCALE = 3.0  # A vector has length one; its 384 parts would hardly weigh against whole words.
_FOLDS = 10


def read_questions() -> list[tuple[str, str]]:
    """Return the questions with their kinds."""
    lines = (HERE / "questions.txt").read_text(encoding="utf-8").splitlines()
    return [(kind, text) for kind, _, text in (line.partition(": ") for line in lines if not line.startswith("#"))]


def read_facts(files: Sequence[Path]) -> list[str]:
    """Return the questions of the sets, in order."""
    return [json.loads(line)["question"] for path in files for line in path.read_text(encoding="utf-8").splitlines()]


def fit(rows: Sequence[tuple[str, str]], vectors: "np.ndarray", l2: float) -> dict[str, object]:
    """Return the weights of each feature that two questions have, and of the embedding, for each breadth."""
    lists = [breadth.list_features(text) for _, text in rows]
    counts = Counter(name for names in lists for name in names)
    columns = {name: column for column, name in enumerate(["", *sorted(n for n, c in counts.items() if c > 1)])}
    x = np.zeros((len(rows), len(columns)))
    x[:, 0] = 1
    for row, names in enumerate(lists):
        x[row, [columns[name] for name in names if name in columns]] = 1
    x = np.concatenate([x, _VECTOR_SCALE * vectors], axis=1)
    y = np.array([[kind == one for one in breadth.BREADTHS] for kind, _ in rows], float)
    weights = np.zeros((x.shape[1], len(breadth.BREADTHS)))
    speed = np.zeros_like(weights)
    for _ in range(_STEPS):
        power = np.exp(x @ weights - (x @ weights).max(axis=1, keepdims=True))
        gradient = x.T @ (y - power / power.sum(axis=1, keepdims=True)) - l2 * weights
        speed = 0.9 * speed + _RATE * gradient / len(rows)
        weights = weights + speed
    rounded = [[round(float(value), 3) for value in row] for row in weights]
    vector = [[round(_VECTOR_SCALE * value, 2) for value in row] for row in rounded[len(columns) :]]
    return {"words": {name: rounded[column] for name, column in columns.items()}, "vector": vector}


def save(weights: dict[str, object]) -> None:
    """Write the weights where the package reads them."""
    breadth._WEIGHTS.write_text(json.dumps(weights, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")
    breadth._load_weights.cache_clear()
    breadth.estimate_breadth.cache_clear()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.breadth.fit")
    parser.add_argument("--l2", type=float, default=2.0)
    parser.add_argument("--facts", type=Path, nargs="*", default=[], metavar="FILE")
    options = parser.parse_args()
    facts = read_facts(options.facts)
    rows = [*read_questions(), *(("narrow", text) for text in facts[1::2])]
    vectors = get_minilm().embed([text for _, text in rows])
    order = np.random.default_rng(0).permutation(len(rows))
    table: Counter[tuple[str, str]] = Counter()
    for fold in range(_FOLDS):
        held = {int(row) for row in order[fold::_FOLDS]}
        kept = [number for number in range(len(rows)) if number not in held]
        save(fit([rows[number] for number in kept], vectors[kept], options.l2))
        table.update((rows[number][0], breadth.read_breadth(rows[number][1])) for number in held)
    for kind in breadth.BREADTHS:
        print(kind, {one: table[kind, one] for one in breadth.BREADTHS})
    save(fit(rows, vectors, options.l2))
    print(f"{sum(table[kind, kind] for kind in breadth.BREADTHS)} of {len(rows)} right in questions left out")
    if facts:
        print("facts left out", dict(Counter(breadth.read_breadth(text) for text in facts[::2])))


if __name__ == "__main__":
    main()
