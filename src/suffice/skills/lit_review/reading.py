"""Measure how relevant a paper is, and tell its sentences on background, method, result, limits and conclusion apart.

A role is estimated from the meaning of a sentence (``roles.json``) and from the order in which papers tell what they did.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from suffice.memory.evidence import Evidence
from suffice.models.embeddings.minilm import get_minilm
from suffice.skills.lit_review.papers import Paper
from suffice.skills.sentences import QuotedSentence, list_sentences
from suffice.text.entities import content_stems
from suffice.types import Embed

MIN_RELEVANCE = 1 / 3  # A paper with less of the topic is left out.
ROLE_WEIGHTS = Path(__file__).with_name("roles.json")  # Made by ``python -m training.roles.fit``.
ROLES = ("background", "method", "result", "limits", "conclusion")
SHOWN_ROLES = {"method": 1, "result": 3, "conclusion": 1, "limits": 2}  # How many sentences of a paper are quoted.
_STAGES = np.array([0, 1, 2, 3, 3])  # The order of the roles; limits and conclusion come in either.
_LEAP = 2.0  # A role that is e² times as likely is believed against the order.
_MAX_ENDS = 60  # Sentences of a long paper that are read at its beginning, and at its end.
_SAME_MATTER = 0.6  # The similarity from which on results of two papers stand side by side.


def measure_relevance(papers: Sequence[Paper], topic: str, embed: Embed | None) -> dict[str, float]:
    """Return the share of the topic's words that each paper has, or the similarity of their meaning if that is more."""
    wanted, near = content_stems(topic), np.zeros(len(papers))
    if embed is not None:
        vectors = embed([topic, *(f"{paper.title}. {paper.text[:2000]}" for paper in papers)])
        near = vectors[1:] @ vectors[0]
    held = [wanted & content_stems(f"{paper.title} {paper.text[:20_000]}") for paper in papers]
    shares = [len(own) / len(wanted) if wanted else 1.0 for own in held]
    scores = np.minimum(1.0, np.maximum(shares, 1.4 * near)).tolist()
    return dict(zip((paper.key for paper in papers), scores, strict=True))


def sort_by_role(paper: Paper, evidence: Evidence) -> dict[str, list[QuotedSentence]]:
    """Return a paper's first results and its clearest sentences of other roles; half of the mean vector is its subject."""
    sentences = list(list_sentences(evidence, paper.passages))
    sentences = list(dict.fromkeys([*sentences[:_MAX_ENDS], *sentences[-_MAX_ENDS:]]))
    vectors = get_minilm().embed([". ".join((*one.headings[1:], one.text)) for one in sentences])
    likely = estimate_roles(vectors - vectors.sum(axis=0) / max(1, 2 * len(vectors)), _load_weights())
    roles, found = follow_order(likely), {}
    for role, count in SHOWN_ROLES.items():
        column = ROLES.index(role)
        own = np.flatnonzero(roles == column)
        clearest = own if role == "result" else own[np.argsort(-likely[own, column], kind="stable")]
        found[role] = [sentences[place] for place in sorted(clearest[:count])]
    return found


def estimate_roles(vectors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the logarithm of how likely each role is, for each vector of a sentence without the subject of its paper."""
    scores = weights[0] + vectors @ weights[1:]
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def follow_order(likely: np.ndarray) -> np.ndarray:
    """Return the likeliest role of each sentence if all but to stay or go on to the next stage costs ``_LEAP`` (Viterbi)."""
    steps = -_LEAP * ~np.isin(_STAGES - _STAGES[:, None], (0, 1))
    best = np.where(np.arange(len(ROLES)), -np.inf, 0.0)  # A paper begins with its background.
    paths = np.zeros((len(ROLES), 0), int)
    for scores in likely:
        reached = best[:, None] + steps
        paths = np.column_stack([paths[reached.argmax(axis=0)], range(len(ROLES))])
        best = reached.max(axis=0) + scores
    return np.asarray(paths[best.argmax()])


def join_results(results: Sequence[QuotedSentence]) -> list[list[QuotedSentence]]:
    """Return the results of different papers that are on the same matter, side by side."""
    vectors = get_minilm().embed([one.text for one in results])
    groups: list[list[int]] = []
    for place, one in enumerate(results):
        others = (group for group in groups if all(results[i].passage.title != one.passage.title for i in group))
        near = next((group for group in others if vectors[group[0]] @ vectors[place] >= _SAME_MATTER), None)
        if near is None:
            groups.append([place])
        else:
            near.append(place)
    return [[results[place] for place in group] for group in groups if len(group) > 1]


@cache
def _load_weights() -> np.ndarray:
    return np.array(json.loads(ROLE_WEIGHTS.read_text(encoding="utf-8")))
