"""The checker interface, the cascade of checkers, and the fitted thresholds.

A checker does not judge a claim as a whole. For each passage it returns the exact span that is most about the claim, whether
that span supports or contradicts it, and how surely. ``claims/verdict.py`` combines the passages.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from typing import Literal, Protocol

from suffice.types import Passage

Stance = Literal["supports", "contradicts"]


@dataclass(frozen=True, slots=True)
class EvidenceSpan:
    """An exact span of a passage and its relation to a claim."""

    start: int
    end: int
    stance: Stance | None
    """``None`` when the span is only the nearest one."""
    score: float
    """How sure the stance is, from 0 to 1."""
    overlap: float
    """How much of the claim's subject the span is about, from 0 to 1."""
    reason: str = ""
    """What is against the claim, in a few words."""
    checker: str = ""
    """The name of the checker that took the stance."""
    probability: float | None = None
    """How likely the stance is right, if the checker estimates that."""
    is_verbatim: bool = False
    """Whether the span has the claim word for word."""


class Checker(Protocol):
    """Finds evidence for or against a claim in passages."""

    name: str

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        """Return for each passage the span that is most about the claim; ``None`` where none is."""
        ...


class CascadeChecker:
    """Runs checkers one after the other until one finds support."""

    def __init__(self, *checkers: Checker) -> None:
        self._checkers = checkers
        self.name = "+".join(checker.name for checker in checkers)

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        found: list[EvidenceSpan | None] = [None] * len(passages)
        for checker in self._checkers:
            if any(span is not None and span.stance == "supports" for span in found):
                break
            later = [_sign(span, checker.name) for span in await checker(claim, passages)]
            found = [_merge(before, after) for before, after in zip(found, later, strict=True)]
        return found


def _sign(span: EvidenceSpan | None, name: str) -> EvidenceSpan | None:
    return span if span is None or span.checker else replace(span, checker=name)


def _merge(before: EvidenceSpan | None, after: EvidenceSpan | None) -> EvidenceSpan | None:
    if before is None or after is None:
        return before or after
    if before.stance is None or after.stance == "supports":
        return after if after.stance is not None or after.overlap > before.overlap else before
    return before


@dataclass(frozen=True, slots=True)
class CheckerThresholds:
    """Smallest values at which a checker takes a stance, fitted by ``bench/claims.py`` and
    ``training/reader/fit.py``."""

    supports: float
    """Overlap of a supporting span."""
    contradicts: float
    """Overlap of a contradicting span."""
    cosine: float
    """Cosine of a supporting span."""
    cosine_near: float
    """Overlap that the cosine must come with."""
    cosine_contradicts: float
    """Cosine of a contradicting span."""
    model_yes: float
    """Probability of a language model's yes."""
    model_mark: float
    """A language model's grade as a share of 10, where the provider returns no probabilities."""
    reader_supports: float
    """The reader's probability of supported, where words do not support the claim."""
    reader_contradicts: float
    """The reader's probability of contradicted, where words do not contradict the claim."""
    reader_confirms: float
    """The reader's probability of what words say too."""
    reader_despite_name: float
    """The reader's probability of supported, where the passage lacks a name of the claim."""
    reader_despite_difference: float
    """The reader's probability of supported, where the claim repeats a sentence with a difference."""


@cache
def load_thresholds() -> CheckerThresholds:
    """Return the stored thresholds."""
    stored = json.loads((files("suffice.claims.checkers") / "thresholds.json").read_text(encoding="utf-8"))
    return CheckerThresholds(**{item.name: float(stored[item.name]) for item in fields(CheckerThresholds)})
