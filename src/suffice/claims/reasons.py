"""Why a claim was judged as it was: a typed reason, and the one function that puts it into words."""

from dataclasses import dataclass
from typing import Literal

ReasonKind = Literal[
    "figure",
    "contradicted",
    "not_stated",
    "not_found",
    "other_source",
    "not_shown",
    "too_long",
    "question",
    "introduction",
    "too_little",
]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a claim is not supported, or why it cannot be checked.

    ``claim_value`` is the part of the claim that its sources lack, ``source_value`` what they have in its place.
    """

    kind: ReasonKind
    source_value: str = ""
    claim_value: str = ""


_SENTENCES: dict[ReasonKind, str] = {
    "contradicted": "the source says otherwise",
    "not_stated": "the cited source does not say it",
    "not_found": "no source says it",
    "other_source": "the cited source does not say it; another one does",
    "not_shown": "what it follows from was not found in the sources",
    "too_long": "it is too long to be checked",
    "question": "a question",
    "introduction": "it introduces what follows",
    "too_little": "it says too little to be checked",
}


def describe_reason(reason: Reason | None) -> str:
    """Return a reason in a few words; empty without one.

    >>> describe_reason(Reason("figure", "40 %", "60 %"))
    'the source says 40 %, not 60 %'
    """
    if reason is None:
        return ""
    if reason.kind != "figure":
        return _SENTENCES[reason.kind]
    if reason.source_value:
        return f"the source says {reason.source_value}, not {reason.claim_value}"
    return f"the source does not have {reason.claim_value}"
