"""Several checkers as one: the cheap one first, the next only for what is left open.

A checker further back may find support where the ones before found none. What an earlier one found against a claim stands,
unless a later one finds support in the same passage.
"""

from collections.abc import Sequence

from suffice.types import Passage
from suffice.write.checkers.base import Checker, EvidenceSpan


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
