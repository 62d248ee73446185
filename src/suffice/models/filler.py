"""Tell findings from filler: greetings, agreement, announcements of what a text will do, appointments, slogans, fragments.

A logistic regression over static vectors of sentences, fitted on sentences that were written for it (``python -m
training.findings.fit``). It knows English only.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np

WEIGHTS_FILE = Path(__file__).with_name("filler.json")


def estimate_filler(vectors: "np.ndarray", weights: "np.ndarray | None" = None) -> "np.ndarray":
    """Return the probability of each sentence that it is filler; ``vectors`` are of ``embed_static``."""
    weights = _load_weights() if weights is None else weights
    return np.asarray(1 / (1 + np.exp(-weights[0] - vectors @ weights[1:])))


@cache
def _load_weights() -> "np.ndarray":
    return np.array(json.loads(WEIGHTS_FILE.read_text(encoding="utf-8")))
