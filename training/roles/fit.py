"""Fit the weights that tell the roles of a paper's sentences apart, and print how well they do.

python -m training.roles.fit --abstracts FOLDER

``FOLDER`` holds the screening sets of the ASReview project (``depression``, ``nudging`` and ``software-reviews`` as
``.jsonl.gz`` with ``text``; CC BY 4.0 and CC0), which are not part of this repository. Abstracts with headings give the role of
each sentence. ``sentences.json`` holds sentences on other fields, written for this. Each is read with and without a heading.
"""

import argparse
import gzip
import json
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from suffice.models.embeddings.minilm import get_minilm
from suffice.skills.lit_review.reading import ROLE_WEIGHTS, ROLES, estimate_roles, follow_order
from suffice.text.sentences import split_sentences

_WRITTEN = Path(__file__).with_name("sentences.json")
_WRITTEN_WEIGHT, _L2, _HELD = 5.0, 3.0, 5  # Every fifth abstract is left out for the figures.
_HEADINGS = {
    "background": ("Introduction", "1 Background", "Objective", "Abstract"),
    "method": ("Methods", "2. Materials and methods", "Data", "Abstract"),
    "result": ("Results", "4 Results", "Findings", "Abstract"),
    "limits": ("Limitations", "Limits", "5.2 Threats to validity", "Abstract"),
    "conclusion": ("Conclusion", "6 Conclusions", "Discussion", "Abstract"),
}
_LABELS = {
    "background": "background|introduction|context|objectives?|aims?|purpose|rationale|importance",
    "method": "(?:materials? and )?methods?|(?:study )?design|settings?|participants|patients|interventions?|measurements?"
    "|main outcome measures?|data sources?|study selection|data extraction",
    "result": "(?:main |key )?results?|(?:principal )?findings|data synthesis",
    "limits": "limitations?",
    "conclusion": "conclusions?|interpretation|discussion|implications",
}
_LABEL = re.compile(
    r"(?:^|(?<=[.!?]\s)|(?<=\n))(?:"
    + "|".join(f"(?P<{role}>{names})" for role, names in _LABELS.items())
    + r")\s?:\s?",
    re.I,
)


def read_abstract(text: str) -> list[tuple[str, str]]:
    """Return the sentences of an abstract with headings and their roles; empty for another."""
    found = list(_LABEL.finditer(text))
    if not found or found[0].start() > 5 or not {"method", "result"} < {str(one.lastgroup) for one in found}:
        return []
    ends = [*(one.start() for one in found[1:]), len(text)]
    sentences = [
        (str(one.lastgroup), text[start:stop].strip())
        for one, end in zip(found, ends, strict=True)
        for start, stop in split_sentences(text, one.end(), end)
    ]
    return [(role, sentence[0].upper() + sentence[1:]) for role, sentence in sentences if len(sentence) > 15]


def list_abstracts(folder: Path) -> Iterator[list[tuple[str, str]]]:
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from filter(None, (read_abstract(json.loads(line).get("text", "")) for line in file))


def fit(vectors: np.ndarray, roles: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression, the constants first, for roles that are equally frequent."""
    x = np.concatenate([np.ones((len(vectors), 1)), vectors], axis=1)
    wanted = np.eye(len(ROLES))[roles]

    def lose(flat: np.ndarray) -> tuple[float, np.ndarray]:
        own = flat.reshape(-1, len(ROLES))
        scores = x @ own
        scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
        slope = x.T @ (weight[:, None] * (np.exp(scores) - wanted))
        slope[1:] += _L2 * own[1:]
        return float(-(weight[:, None] * scores * wanted).sum() + _L2 / 2 * (own[1:] ** 2).sum()), slope.ravel()

    weights = minimize(lose, np.zeros(x.shape[1] * len(ROLES)), jac=True, method="L-BFGS-B").x.reshape(-1, len(ROLES))
    weights[0] -= np.log(weight @ wanted / weight.sum())
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.roles.fit")
    parser.add_argument("--abstracts", type=Path, required=True)
    abstracts = list(list_abstracts(parser.parse_args().abstracts))
    written = [
        (role, text) for role, texts in json.loads(_WRITTEN.read_text(encoding="utf-8")).items() for text in texts
    ]
    rows = [*(row for abstract in abstracts for row in abstract), *written]
    place = np.repeat(np.arange(len(abstracts) + 1), [*map(len, abstracts), len(written)])
    is_written = place == len(abstracts)
    roles = np.array([ROLES.index(role) for role, _ in rows])
    heads = {role: cycle(names) for role, names in _HEADINGS.items()}
    bare = get_minilm().embed([text for _, text in rows])
    headed = get_minilm().embed([f"{next(heads[role])}. {text}" for role, text in rows])
    for vectors in (bare, headed):
        for one in range(len(abstracts)):
            vectors[place == one] = vectors[place == one] - vectors[place == one].mean(axis=0) / 2
    weight = np.where(is_written, _WRITTEN_WEIGHT, 1.0)

    def fit_where(kept: np.ndarray) -> np.ndarray:
        vectors = np.concatenate([bare[kept], headed[kept]])
        return fit(vectors, np.tile(roles[kept], 2), np.tile(weight[kept] / 2, 2))

    held = (place % _HELD == 0) & ~is_written
    weights = fit_where(~held)
    for name, vectors in (("bare", bare), ("with a heading", headed)):
        likely = estimate_roles(vectors, weights)
        found = np.concatenate([follow_order(likely[place == one]) for one in np.unique(place[held])])
        count, share = len(np.unique(place[held])), (found == roles[held]).mean()
        print(f"{len(found)} sentences {name} of {count} abstracts left out: {share:.2f} right")
    rounded = [[round(float(value), 3) for value in row] for row in fit_where(np.ones(len(rows), bool))]
    ROLE_WEIGHTS.write_text(json.dumps(rounded, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
