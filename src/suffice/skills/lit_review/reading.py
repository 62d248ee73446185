"""Measure how relevant a paper is, and tell its sentences on background, method, results and limits apart.

``roles.json`` holds sentences of each role that were written for it; a sentence has the role whose sentences it is nearest to.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from suffice.memory.evidence import Evidence
from suffice.models.embeddings.minilm import get_minilm
from suffice.skills.lit_review.papers import Paper
from suffice.skills.sentences import QuotedSentence, list_sentences
from suffice.text.entities import content_stems
from suffice.types import Embed

MIN_RELEVANCE = 1 / 3  # A paper with less of the topic is left out.
SHOWN_ROLES = {"method": 1, "result": 3, "limits": 2}  # How many sentences of a paper are quoted.
_MAX_ENDS = 60  # Sentences of a long paper that are read at its beginning, and at its end.
_MARGIN = 0.03  # How much nearer to background or method a sentence must be than to a result or a limit.
_SAME_MATTER = 0.6  # The similarity from which on results of two papers stand side by side.


def measure_relevance(papers: Sequence[Paper], topic: str, embed: Embed | None) -> dict[str, float]:
    """Return the share of the topic's words that each paper has, or the similarity of their meaning if that is more."""
    wanted, near = content_stems(topic), np.zeros(len(papers))
    if embed is not None:
        vectors = embed([topic, *(f"{paper.title}. {paper.text[:2000]}" for paper in papers)])
        near = vectors[1:] @ vectors[0]
    held = [wanted & content_stems(f"{paper.title} {paper.text[:20_000]}") for paper in papers]
    shares = [len(own) / len(wanted) if wanted else 1.0 for own in held]
    pairs = zip(papers, shares, near, strict=True)
    return {paper.key: min(1.0, max(share, 1.4 * float(cosine))) for paper, share, cosine in pairs}


def sort_by_role(paper: Paper, evidence: Evidence) -> dict[str, list[QuotedSentence]]:
    """Return the first results of a paper, and the clearest sentences on its method and its limits, in reading order."""
    sentences = list(list_sentences(evidence, paper.passages))
    sentences = list(dict.fromkeys([*sentences[:_MAX_ENDS], *sentences[-_MAX_ENDS:]]))
    texts = [". ".join((*one.headings[1:], one.text)) for one in sentences]
    names, centres = _load_roles()
    nearness = get_minilm().embed(texts) @ centres.T - _MARGIN * np.isin(names, ("background", "method"))
    found = {}
    for role, count in SHOWN_ROLES.items():
        column = names.index(role)
        own = np.flatnonzero(nearness.argmax(axis=1) == column)
        clearest = own if role == "result" else own[np.argsort(-nearness[own, column], kind="stable")]
        found[role] = [sentences[place] for place in sorted(clearest[:count])]
    return found


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
def _load_roles() -> tuple[list[str], np.ndarray]:
    """Return the names of the roles, and the mean vector of the sentences of each."""
    text = files("suffice.skills.lit_review").joinpath("roles.json").read_text(encoding="utf-8")
    examples: dict[str, list[str]] = json.loads(text)
    centres = np.stack([get_minilm().embed(own).mean(axis=0) for own in examples.values()])
    return list(examples), centres / np.linalg.norm(centres, axis=1, keepdims=True)
