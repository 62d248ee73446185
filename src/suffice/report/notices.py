"""The sentences that a report shows above and below its answer: how it was made, and where the sources disagree."""

from collections.abc import Sequence

from suffice.claims.reasons import describe_reason
from suffice.report.wording import PARTLY_NOTICE
from suffice.text.markdown import escape_markdown
from suffice.text.plain import count
from suffice.text.sections import ReportSection
from suffice.types import Absence, Coverage, Disagreement, Notice, RemovedClaim, Report, Span

NOTICE_TEXT = {
    "broad": "Read as a broad question. For one answer set the breadth to narrow.",
    "list": "Read as a question for everything of a kind. For one answer set the breadth to narrow.",
    "degraded": "Search was limited because searches kept failing; this answer is partial.",
    "insufficient": "The search ended on a limit before the evidence was judged sufficient; this answer may be incomplete.",
    "short_list": "The list is shorter than the task asks for because the sources name no further items.",
    "no_dates": "No statement of the sources on this has a date, so there is no timeline.",
    "no_cells": "The sources say nothing on these things by these criteria, so there is no table.",
    "no_model": "No language model was used: sentences are quoted verbatim, rows of tables by column; nothing is computed.",
    "skill_wording": "No language model was used: quotations are verbatim; the words around them come from a skill.",
    "quoted_for_budget": "The money limit was reached before the answer was written, so the sources are quoted instead.",
    "model_fault": "The language model could not be used, so the sources are quoted instead.",
    "declined": "The language model declined to answer, or named no source for it, so the sources are quoted instead.",
    "unsupported_draft": "No statement of the model's draft was supported by the sources, so the sources are quoted instead.",
}
"""The notices around an answer, by kind."""
BREADTH_KINDS = ("broad", "list")
OTHER_LANGUAGE = "The documents are in another language than the question"
MODEL_ADVICE = "A language model (--model) can search and answer across languages."
NOTICES = (*NOTICE_TEXT.values(), PARTLY_NOTICE, OTHER_LANGUAGE, MODEL_ADVICE)
"""Sentences that a claim check of a finished report ignores: they say how it was made."""

_NO_ANSWER = "No answer: the sources contain no evidence for one."
_FAILED = "The run failed before it could answer."
_CANCELLED = "You stopped this run before it could answer."
_NO_BOUND = 0.5  # A share from which on a bound says nothing.
_LEAST_BOUND = 0.005  # Less would read as 0 %.
_MAX_NAMED = 5  # Files that could not be read.


def describe_no_answer(report: Report) -> str:
    """Say in place of an answer why there is none."""
    why = _FAILED if report.status == "failed" else _NO_ANSWER
    return _CANCELLED if report.stop.reason == "cancelled" else why


def describe_notice(notice: Notice) -> str:
    return NOTICE_TEXT.get(notice.kind, notice.detail)


def render_notices(notices: Sequence[Notice]) -> str:
    """Return the notices as the Markdown above an answer."""
    return "".join(
        f"> {describe_notice(notice)}\n\n" for notice in notices if notice.kind not in ("no_model", *BREADTH_KINDS)
    )


def render_breadth(notices: Sequence[Notice]) -> str:
    """Return how broadly the question was read, for the end of a report; empty for a narrow one."""
    return "".join(describe_notice(notice) for notice in notices if notice.kind in BREADTH_KINDS)


def render_origin(notices: Sequence[Notice]) -> str:
    """Return the Markdown below an answer that is made of quotations only; empty for others."""
    return "".join(f"\n\n> {describe_notice(notice)}" for notice in notices if notice.kind == "no_model")


def render_disagreements(disagreements: Sequence[Disagreement]) -> str:
    """Return the Markdown below an answer that cites both sides of each disagreement; empty if the sources agree."""
    if not disagreements:
        return ""
    lines = [f"- {_quote(one.one, one.dates[0])}, but {_quote(one.other, one.dates[1])}" for one in disagreements]
    return f"\n\n### {ReportSection.DISAGREEMENTS}\n\n" + "\n".join(lines)


def describe_removed(claim: RemovedClaim) -> str:
    """Return a removed sentence with the reason and what a source says, each a sentence: languages may differ."""
    nearest = claim.nearest
    said = f" Nearest: “{' '.join(nearest.quote.split())}” {nearest.source}".rstrip() + "." if nearest else ""
    why = describe_reason(claim.reason)
    return f"“{claim.text}” {why[:1].upper()}{why[1:]}.{said}"


def describe_completeness(report: Report) -> str:
    """Say how much was read for a broad question, and for a list how many passages that belong to it are likely missing."""
    coverage = report.stop.coverage
    if coverage is None or not report.final_answer:
        return ""
    text, found = _describe_coverage(coverage), len(report.sources)
    if unreadable := report.metadata.get("unreadable"):
        rest = [f"{len(unreadable) - _MAX_NAMED} more"] if len(unreadable) > _MAX_NAMED else []
        text += f" Could not be read: {', '.join([*map(escape_markdown, unreadable[:_MAX_NAMED]), *rest])}."
    if report.metadata.get("breadth") != "list" or not coverage.low:
        return text
    likely, most = (round(found * (1 / share - 1)) for share in (coverage.share, coverage.low))
    more = f"about {likely} more {'is' if likely == 1 else 'are'} likely" if likely else "no more are likely"
    cited = f"{found} passage on it is cited" if found == 1 else f"{found} passages on it are cited"
    return f"{text} {cited}, {more}" + (f" (up to {most})." if most > likely else ".")


def _describe_coverage(coverage: Coverage) -> str:
    share, low, high = (round(100 * value) for value in (coverage.share, coverage.low, coverage.high))
    between = f" ({low}–{high} %)" if high > low else ""
    files = f"{coverage.files_read:,} of {count(coverage.files, 'file')}"
    if coverage.is_complete:
        return f"Read {files}. All of it was read."
    return f"Passages of {files} were read: {share} %{between} of what is relevant, estimated from {coverage.method}."


def describe_absence(absence: Absence) -> str:
    """Say what was read before a question was refused, and how much of the rest can answer it."""
    read, rest = "The only passage was" if absence.passages == 1 else f"All {absence.passages:,} passages were", "them"
    if absence.read + absence.sampled < absence.passages:
        read = f"The {absence.read:,} nearest of {absence.passages:,} passages and {absence.sampled:,} drawn at random were"
        rest = "the rest"
    said = f"No passage was found to state this. {read} read"
    if not _LEAST_BOUND <= absence.at_most < _NO_BOUND:
        return f"{said}."
    bound = f"at most {100 * absence.at_most:.2g} % of {rest} can state it ({100 * absence.confidence:.0f} %)"
    return f"{said}; {bound}, what the reader misses included."


def _quote(span: Span, date: str) -> str:
    quote = escape_markdown(" ".join(span.quote.replace("**", "").split()).lstrip("-*•> "))
    return f"“{quote}” {span.source}" + (f" ({date})" if date else "")
