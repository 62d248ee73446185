"""Assemble the report of a finished run: number the sources, attach the claims, and add the run's records.

This module does not write or check text; ``draft`` and ``claims`` did that before.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from suffice.claims.reasons import describe_reason
from suffice.claims.verdict import ClaimVerdict, Quote, build_evidence
from suffice.models.base import is_language_model
from suffice.prompts import SynthesisResponse
from suffice.report.draft import (
    DEGRADED_NOTICE,
    INSUFFICIENT_NOTICE,
    WritingInstruction,
    choose_instruction,
    find_list_sections,
    is_insufficient,
    list_caveats,
)
from suffice.report.undone import list_undone
from suffice.report.wording import PARTLY_NOTICE
from suffice.search.urls import canonicalize_url
from suffice.state.run import RunState
from suffice.text.citations import drop_repeated_citations, list_handles, replace_citations
from suffice.text.markdown import escape_markdown, strip_markdown
from suffice.types import (
    COMPUTED_KIND,
    Claim,
    Passage,
    Report,
    RoleUsage,
    Source,
    Span,
    Status,
    Stop,
    Sufficiency,
    UsageSummary,
)

NO_MODEL_NOTICE = "No language model was used: every sentence below is quoted verbatim from its source."
SKILL_NOTICE = "No language model was used: quotations are verbatim; the words around them come from a skill."
SHORT_LIST_NOTICE = "The list is shorter than the task asks for because the sources name no further items."
QUOTED_NOTICE = "No statement of the model's draft was supported by the sources, so the sources are quoted instead."
SPENT_NOTICE = "The money limit was reached before the answer was written, so the sources are quoted instead."
MODEL_FAULT_NOTICE = "The language model could not be used, so the sources are quoted instead."
_EARLIER_NO_MODEL_NOTICE = NO_MODEL_NOTICE.replace(
    "its source", "the source behind it"
)  # In reports before version 0.2.
NOTICES = (
    NO_MODEL_NOTICE,
    SKILL_NOTICE,
    _EARLIER_NO_MODEL_NOTICE,
    QUOTED_NOTICE,
    MODEL_FAULT_NOTICE,
    SPENT_NOTICE,
    DEGRADED_NOTICE,
    INSUFFICIENT_NOTICE,
    SHORT_LIST_NOTICE,
    PARTLY_NOTICE,
)
"""The notices above an answer. They say how it was made, so a claim check of a finished report ignores them."""

_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
DISAGREEMENT_HEADING = "Where the sources disagree"


def build_report(
    run: RunState,
    stop: Stop,
    written: SynthesisResponse | None,
    metadata: Mapping[str, Any],
    claims: Sequence[ClaimVerdict] = (),
) -> Report:
    """Build the report from the verified text, its claims and the state of the run.

    ``written`` is ``None`` when the writer failed. A text without a single citation is not an answer.
    """
    text = written or SynthesisResponse("")
    text = replace(text, answer=text.answer + _render_disagreements(run, claims))
    lists = (text.key_findings, text.recommendations, text.risks, text.open_questions)
    numbers = _number_citations(run, [text.answer, text.summary, *(line for lines in lists for line in lines)])
    answer = _renumber(text.answer, numbers) if numbers else ""
    instruction = choose_instruction(run)
    if answer:
        notices = _list_notices(run, stop, is_short_list=len(find_list_sections(answer)) < instruction.count)
        answer = "\n".join([*(f"> {notice}\n" for notice in notices), answer])
    sufficiency = _judge_sufficiency(run, text, has_answer=bool(answer))
    stop = replace(stop, sufficiency=sufficiency)
    findings, recommendations, risks, questions = (
        tuple(_renumber(line, numbers) for line in lines) if answer else () for lines in lists
    )
    return Report(
        run=run.id,
        task=run.task,
        status=_determine_status(run, stop, has_answer=bool(answer), has_failed=written is None),
        summary=strip_markdown(_renumber(text.summary, numbers), keep_citations=True) if answer else "",
        final_answer=answer,
        key_findings=findings,
        recommendations=recommendations,
        risks=risks,
        open_questions=questions or run.gaps,
        sources=_build_sources(run, numbers),
        claims=tuple(_build_claim(run, verdict, numbers) for verdict in claims) if answer else (),
        stop=stop,
        usage=_summarize_usage(run),
        sufficient=run.sufficient if sufficiency == "unknown" else sufficiency == "yes",
        confidence=None if run.reflection is None else run.reflection.confidence,
        gaps=run.gaps,
        failed_queries=tuple(run.searches.thin_queries),
        insufficient_termination=is_insufficient(run, stop),
        degraded_mode=run.is_degraded,
        error_log=tuple(run.error_log),
        metadata={
            **_build_run_metadata(run),
            **metadata,
            **_build_writing_metadata(run, instruction, numbers),
            **({"restated": text.restated} if answer and text.restated else {}),
        },
        short_answer=(text.short_answer or None) if answer else None,
        excerpts=tuple(
            replace(excerpt, source=numbers[excerpt.source]) for excerpt in text.excerpts if excerpt.source in numbers
        ),
        closest=() if answer else text.closest,
        left_undone=list_undone(run, stop, metadata.get("review")),
    )


def _judge_sufficiency(run: RunState, text: SynthesisResponse, *, has_answer: bool) -> Sufficiency:
    """Return the writer's judgement; without one, that of the search. An empty answer is never sufficient."""
    if not has_answer:
        return "no" if run.evidence else "unknown"
    if text.sufficiency != "unknown" or run.sufficient is None:
        return text.sufficiency
    return "yes" if run.sufficient else "partly"


def _list_notices(run: RunState, stop: Stop, *, is_short_list: bool) -> list[str]:
    """Return the notices to show above the answer."""
    notices = list(list_caveats(run, stop))
    if is_short_list:
        notices.append(SHORT_LIST_NOTICE)
    if not is_language_model(run.model):
        notices.append(SKILL_NOTICE if run.has_own_wording else NO_MODEL_NOTICE)
    if run.has_quoted_for_budget:
        notices.append(SPENT_NOTICE)
    if run.model_fault:
        notices.append(MODEL_FAULT_NOTICE)
    if run.has_quote_fallback:
        notices.append(QUOTED_NOTICE)
    return notices


def _number_citations(run: RunState, texts: Iterable[str]) -> dict[str, str]:
    """Map each cited handle to its number in the report, in the order of first citation and without gaps.

    All texts of a web page have one number.
    """
    numbers: dict[str, str] = {}
    by_source: dict[str, str] = {}
    for handle in list_handles(*texts):
        source = _get_web_page(_get_passage(run, handle)) or handle
        numbers[handle] = by_source.setdefault(source, f"[{len(by_source) + 1}]")
    return numbers


def _get_web_page(passage: Passage) -> str | None:
    """Return the page that a passage is a snippet or a part of. A page of a PDF and a typed value are sources themselves."""
    if passage.url is None or passage.kind != "web":
        return None
    return canonicalize_url(passage.url)


def _renumber(text: str, numbers: Mapping[str, str]) -> str:
    return drop_repeated_citations(replace_citations(text, numbers.__getitem__))


def _build_sources(run: RunState, numbers: Mapping[str, str]) -> tuple[Source, ...]:
    sources: dict[str, Source] = {}
    for handle, number in numbers.items():
        passage = _get_passage(run, handle)
        sources.setdefault(number, Source(number, passage.title, passage.kind, passage.location, passage.url))
    return tuple(sources.values())


def _build_claim(run: RunState, verdict: ClaimVerdict, numbers: Mapping[str, str]) -> Claim:
    spans = tuple(
        Span(numbers[handle], quote.text, quote.location, stance)
        for quote, stance in verdict.quotes
        if (handle := run.evidence.get_handle(quote.passage)) in numbers
    )
    citations = tuple(dict.fromkeys(numbers[handle] for handle in verdict.claim.handles))
    quote = verdict.deciding_quote
    source = "" if quote is None else numbers.get(run.evidence.get_handle(quote.passage), "")
    return Claim(
        verdict.plain_text,
        citations,
        verdict.support,
        spans,
        describe_reason(verdict.reason),
        build_evidence(verdict, source),
        "" if quote is None else quote.checker,
        None if quote is None else quote.probability,
    )


def _get_passage(run: RunState, handle: str) -> Passage:
    passage = run.evidence.find_passage(handle)
    assert passage is not None, "citations are checked before they are numbered"
    return passage


def _render_disagreements(run: RunState, claims: Sequence[ClaimVerdict]) -> str:
    """Return a section that cites both sides of each contradiction between sources; empty if the sources agree."""

    def cite(quote: Quote) -> str:
        return f"“{escape_markdown(' '.join(quote.text.split()))}” {run.evidence.get_handle(quote.passage)}"

    items: dict[frozenset[str], str] = {}  # By its two sides: each of them may be a claim.
    for claim in claims:
        if claim.supporting and claim.contradicting:
            one, other = claim.supporting[0], claim.contradicting[0]
            if not (are_of_different_years(one.text, other.text) or _are_from_different_years(one, other)):
                items.setdefault(frozenset((cite(one), cite(other))), f"- {cite(one)}, but {cite(other)}")
    return "\n\n### " + DISAGREEMENT_HEADING + "\n\n" + "\n".join(items.values()) if items else ""


def _are_from_different_years(one: Quote, other: Quote) -> bool:
    """Return whether two statements that name no year stand in documents of different years, such as yearly minutes."""
    if _YEAR.search(one.text) or _YEAR.search(other.text):
        return False
    names = (f"{quote.passage.title} {re.sub(r':[0-9-]+$', '', quote.passage.location)}" for quote in (one, other))
    years, others = (set(_YEAR.findall(name.replace("_", " "))) for name in names)
    return bool(years and others) and years.isdisjoint(others)


def are_of_different_years(one: str, other: str) -> bool:
    """Return whether two statements give different figures for different years, so that they do not contradict.

    If only the year differs, the year is what they disagree about.

    >>> are_of_different_years("In 2019 it had 4 wheels.", "In 2023 it has 9 wheels.")
    True
    >>> are_of_different_years("It was built in 1887.", "It was built in 1891.")
    False
    """
    years, others = set(_YEAR.findall(one)), set(_YEAR.findall(other))
    figures, other_figures = (set(re.findall(r"\d+", _YEAR.sub("", text))) for text in (one, other))
    return bool(years and others) and years.isdisjoint(others) and figures != other_figures


def _determine_status(run: RunState, stop: Stop, *, has_answer: bool, has_failed: bool) -> Status:
    if run.model_fault or (not has_answer and run.model.failed_count and not run.model.answered_count):
        return "failed"
    if has_answer:
        lacks_part = run.lacks_answer or run.has_quoted_for_budget or stop.reason == "cancelled"
        is_partial = lacks_part or bool(list_caveats(run, stop))
        return "partial" if is_partial else "answered"
    if has_failed or run.searches.has_no_answer or stop.reason in ("search_unavailable", "cancelled"):
        return "failed"
    return "no_evidence"


def _build_run_metadata(run: RunState) -> dict[str, Any]:
    """Return when the report was written, by which model, and how many tokens the run used."""
    total = run.model.total
    return {
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "model": run.model.name,
        "token_count": total.input_tokens + total.output_tokens,
    }


def _build_writing_metadata(
    run: RunState, instruction: WritingInstruction, numbers: Mapping[str, str]
) -> dict[str, Any]:
    """Return the writing instruction that was used, and the programs of the computed sources by their number."""
    cited = {number: _get_passage(run, handle) for handle, number in numbers.items()}
    programs = {number: passage.text for number, passage in cited.items() if passage.kind == COMPUTED_KIND}
    writing = {"variant": instruction.variant, "version": instruction.version}
    return {"writing": writing, **({"computed": programs} if programs else {})}


def _summarize_usage(run: RunState) -> UsageSummary:
    total = run.model.total
    roles = {
        role: RoleUsage(usage.calls, usage.input_tokens, usage.output_tokens, usage.stored, usage.usd)
        for role, usage in sorted(run.model.by_role.items())
    }
    return UsageSummary(
        model=run.model.name,
        calls=total.calls,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        searches=run.budget.queries_used,
        pages_read=run.pages_read,
        seconds=round(run.budget.seconds_used, 3),
        cost_usd=total.usd if total.calls else 0.0,
        by_role=roles,
        stored=total.stored,
        estimated_calls=total.estimated,
    )
