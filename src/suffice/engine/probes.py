"""Probes: questions about claims whose support is known, to find out whether a model can judge claims at all."""

import re
from collections.abc import Iterable, Sequence

from suffice.claims.verdict import ClaimVerdict
from suffice.prompts import CheckSupport
from suffice.text.entities import extract_names
from suffice.types import COMPUTED_KIND, Note, Passage

_NUMBER = re.compile(r"\d+")
_SHIFT = 7  # Added to a number to make it wrong.


def build_support_probes(
    verdicts: Iterable[ClaimVerdict], evidence: Sequence[Passage]
) -> tuple[tuple[CheckSupport, bool], ...]:
    """Return two prompts with the right answer of each: a claim as its source supports it, and the claim made false.

    Empty if no verified claim has a number or a name that could be exchanged.
    """
    for verdict in verdicts:
        if verdict.support != "supported" or not verdict.supporting:
            continue
        passage, claim = verdict.supporting[0].passage, verdict.plain_text
        changed = falsify(claim, passage, evidence)
        if changed and passage.kind != COMPUTED_KIND:
            note = (Note(passage.text[:4000], (), passage.title, passage.kind),)
            return (CheckSupport(claim, note), True), (CheckSupport(changed, note), False)
    return ()


def falsify(claim: str, passage: Passage, evidence: Sequence[Passage]) -> str:
    """Return the claim with a number or a name that its passage does not have; empty if there is none to exchange."""
    text = f"{passage.title}\n{passage.text}"
    if found := _NUMBER.search(claim):
        wrong = str(int(found[0]) + _SHIFT)
        if wrong not in text:
            return claim[: found.start()] + wrong + claim[found.end() :]
    others = (name for other in evidence for name in extract_names(other.text) if name not in text)
    name, other = next(iter(extract_names(claim)), None), next(others, None)
    return claim.replace(name, other) if name and other else ""
