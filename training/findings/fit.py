"""Fit the weights that tell a finding from filler, and print how well they do on sentences left out.

python -m training.findings.fit [--l2 1.0]

``sentences.jsonl.gz``: sentences of mails, chats, minutes, slides and reports, invented for this: half of them findings, the
others greetings, agreement, announcements, appointments, slogans and fragments.
"""

import argparse
import gzip
import json
from pathlib import Path

import numpy as np

from suffice.models.embeddings.static import embed_static
from suffice.report import findings

_SENTENCES = Path(__file__).with_name("sentences.jsonl.gz")
_STEPS, _FOLDS = 20, 10


def fit(vectors: np.ndarray, is_filler: np.ndarray, l2: float) -> np.ndarray:
    """Return the weights of a logistic regression, the constant first."""
    x = np.concatenate([np.ones((len(vectors), 1)), vectors], axis=1)
    weights, penalty = np.zeros(x.shape[1]), l2 * np.eye(x.shape[1])
    penalty[0, 0] = 0.0
    for _ in range(_STEPS):  # Newton's method.
        likely = 1 / (1 + np.exp(-x @ weights))
        curvature = (x * (likely * (1 - likely))[:, None]).T @ x + penalty
        weights += np.linalg.solve(curvature, x.T @ (is_filler - likely) - penalty @ weights)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.findings.fit")
    parser.add_argument("--l2", type=float, default=1.0)
    l2 = parser.parse_args().l2
    with gzip.open(_SENTENCES, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    vectors = np.asarray(embed_static([row["text"] for row in rows]))
    is_filler = np.array([not row["finding"] for row in rows], float)
    folds, found = np.arange(len(rows)) % _FOLDS, np.zeros(len(rows))
    for fold in range(_FOLDS):
        held = folds == fold
        found[held] = findings.estimate_filler(vectors[held], fit(vectors[~held], is_filler[~held], l2))
    caught, false = (found[is_filler == 1] > 0.5).mean(), (found[is_filler == 0] > 0.5).mean()
    print(f"{len(rows)} sentences, each part left out in turn:")
    print(f"{caught:.2f} of the filler found, {false:.2f} of the findings taken for it")
    weights = [round(float(value), 3) for value in fit(vectors, is_filler, l2)]
    findings.FILLER_WEIGHTS.write_text(json.dumps(weights, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
