"""The Checker seam: what a passage says to a claim.

A checker never decides on a claim as a whole; it says, for one passage, which exact stretch speaks to the claim, which way
and how strongly. ``write/verify.py`` puts the passages together.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Literal, Protocol

from suffice.types import Passage

Stance = Literal["supports", "contradicts"]


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """An exact stretch of a passage and how it stands to a claim.

    ``stance`` is ``None`` when the stretch is merely the nearest one. ``score`` (0 to 1) is how surely; ``near`` (0 to 1) how
    much the stretch is about what the claim is about; ``why`` says in a few words what speaks against the claim.
    """

    start: int
    end: int
    stance: Stance | None
    score: float
    overlap: float
    reason: str = ""


class Checker(Protocol):
    name: str

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        """For each passage the stretch that speaks to the claim most; ``None`` where nothing does."""
        ...


class CascadeChecker:
    def __init__(self, *checkers: Checker) -> None:
        self._checkers = checkers
        self.name = "+".join(checker.name for checker in checkers)

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        found: list[EvidenceSpan | None] = [None] * len(passages)
        for checker in self._checkers:
            if any(finding is not None and finding.stance == "supports" for finding in found):
                break
            later = await checker(claim, passages)
            found = [_merge(before, after) for before, after in zip(found, later, strict=True)]
        return found


def _merge(before: EvidenceSpan | None, after: EvidenceSpan | None) -> EvidenceSpan | None:
    if before is None or after is None:
        return before or after
    if before.stance is None or after.stance == "supports":
        return after if after.stance is not None or after.overlap > before.overlap else before
    return before


@dataclass(frozen=True, slots=True)
class CheckerThresholds:
    supports: float
    contradicts: float
    cosine: float
    cosine_near: float
    cosine_contradicts: float
    model_yes: float
    """The likelihood from which on a language model's yes counts."""
    model_mark: float
    """The mark, as a share of 10, where the provider tells no likelihoods."""


@cache
def load_thresholds() -> CheckerThresholds:
    stored = json.loads((files("suffice.claims.checkers") / "thresholds.json").read_text(encoding="utf-8"))
    return CheckerThresholds(**{item.name: float(stored[item.name]) for item in fields(CheckerThresholds)})
