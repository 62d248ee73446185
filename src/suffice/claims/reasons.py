"""Why a claim was judged as it was: a typed reason, and the one function that puts it into words."""

import json
from importlib.resources import files

from suffice.types import Reason

_SENTENCES: dict[str, str] = json.loads(files("suffice.claims").joinpath("reasons.json").read_text(encoding="utf-8"))


def describe_reason(reason: Reason | None) -> str:
    """Return a reason in a few words; empty without one.

    >>> describe_reason(Reason("figure", "40 %", "60 %"))
    'the source says 40 %, not 60 %'
    """
    if reason is None:
        return ""
    if reason.kind == "reviewed":
        return f"a reviewer says: {reason.note}"
    if reason.kind != "figure":
        return _SENTENCES.get(reason.kind, reason.kind)
    if reason.source_value:
        return f"the source says {reason.source_value}, not {reason.claim_value}"
    return f"{reason.claim_value} is not in the source"
