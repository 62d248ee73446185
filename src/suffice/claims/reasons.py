"""Why a claim was judged as it was: a typed reason, and the one function that puts it into words."""

from suffice.claims.verdict import ClaimVerdict
from suffice.types import Reason

_SENTENCES: dict[str, str] = {
    "contradicted": "the source says otherwise",
    "not_stated": "the cited source does not say it",
    "not_found": "no source says it",
    "uncited": "no source is cited for it, and none shown says it",
    "other_source": "the cited source does not say it; another one does",
    "code": "only code was found for it, and the reader understands prose",
    "conclusion": "a conclusion of the writer; the check named no words of a source that it follows from",
    "advice": "advice of the writer",
    "absence": "a statement of absence; nothing that the check was shown speaks against it",
    "label": "it states nothing by itself",
    "too_long": "it is too long to be checked",
    "question": "a question",
    "introduction": "it introduces what follows",
    "too_little": "it says too little to be checked",
}


def explain_doubt(verdict: ClaimVerdict) -> str:
    """Return a doubted claim as a model reads it: why, in the checker's own words too, and the nearest ones of a source."""
    quote = verdict.deciding_quote or verdict.nearest
    said = f" The nearest words: “{' '.join(quote.text.split())}”" if quote is not None else ""
    note = f" ({verdict.reason.note})" if verdict.reason is not None and verdict.reason.note else ""
    return f"“{verdict.claim.text}” Doubted: {describe_reason(verdict.reason)}{note}.{said}"


def describe_reason(reason: Reason | None) -> str:
    """Return a reason in a few words; empty without one.

    >>> describe_reason(Reason("figure", "40 %", "60 %"))
    'the source says 40 %, not 60 %'
    """
    if reason is None:
        return ""
    if reason.kind == "reviewed":
        return f"a reviewer says: “{reason.note}”"
    if reason.kind != "figure":
        return _SENTENCES.get(reason.kind, reason.kind)
    if reason.source_value:
        return f"the source says {reason.source_value}, not {reason.claim_value}"
    return f"{reason.claim_value} is not in the source"
