"""Assemble the report of a finished run: number the sources, attach the claims, and add the run's records.

This module does not write or check text; ``draft`` and ``claims`` did that before. Parts become Markdown here, once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from suffice.answers import Draft, Finding, FindingList, Quotation, SectionHeading, Statement
from suffice.claims.reasons import describe_reason
from suffice.claims.verdict import ClaimVerdict, Quote, build_evidence
from suffice.claims.verify import Checked
from suffice.errors import ModelDeclined
from suffice.models.base import is_language_model
from suffice.report.draft import choose_instruction, count_list_sections, list_caveats, render_draft
from suffice.report.findings import find_passage_date
from suffice.report.notices import MODEL_ADVICE, OTHER_LANGUAGE, render_disagreements, render_notices, render_origin
from suffice.search.urls import canonicalize_url
from suffice.state.run import RunState
from suffice.text.citations import drop_repeated_citations, list_handles, replace_citations
from suffice.text.markdown import escape_markdown, strip_markdown
from suffice.text.plain import to_one_line
from suffice.text.quotations import build_excerpt
from suffice.text.sections import ReportSection
from suffice.types import (
    COMPUTED_KIND,
    Aspect,
    Claim,
    ClosestPassage,
    Disagreement,
    Failure,
    Notice,
    Passage,
    Reason,
    RemovedClaim,
    Report,
    ReportedFinding,
    RoleUsage,
    Source,
    Span,
    Status,
    Stop,
    Sufficiency,
    UsageSummary,
)

_MAX_SUMMARY_CHARS = 300  # Of a quotation.
_MAX_QUERIES = 5  # Queries that a limit left unasked.
_BELIEF_ROLES = ("extract", "curate", "compress", "notes")


def build_report(
    run: RunState, stop: Stop, checked: Checked | None, metadata: Mapping[str, Any], fault: Failure | None = None
) -> Report:
    """Build the report from the verified draft and the state of the run.

    ``checked`` is ``None`` when nothing could be written; ``fault`` is why the model could not be used. A text without a single
    citation is not an answer, unless it is a skill's verdicts on claims that no source is near to.
    """
    draft = Draft() if checked is None else checked.draft
    numbers, cited = _number_citations(run, draft)
    cite = _Numbering(run, numbers)
    is_answer = bool(numbers) or (draft.origin == "skill" and bool(checked and checked.verdicts))
    notices = _list_notices(run, stop, draft, fault) if is_answer else _list_language_notices(run)
    disagreements = tuple(_list_disagreements(checked, cite)) if checked is not None and numbers else ()
    answer = cite.renumber(render_draft(run, draft)) if is_answer else ""
    short_answer = _find_short_answer(draft, answer)
    if answer:
        short = short_answer if draft.origin == "quoted" else None
        shown = f"**Short answer:** {escape_markdown(short)}\n\n" if short else ""
        answer = render_notices(notices) + shown + answer + render_disagreements(disagreements) + render_origin(notices)
    judged = checked.verdicts if checked is not None and answer else ()
    absent = tuple(verdict.plain_text for verdict in judged if verdict.role == "absence")
    gaps = tuple(dict.fromkeys((*run.gaps, *absent)))
    sufficiency = _judge_sufficiency(run, stop, draft, has_answer=bool(answer))
    stop = replace(stop, sufficiency=sufficiency)
    instruction = choose_instruction(run)
    programs = {number: passage.text for number, passage in cited.items() if passage.kind == COMPUTED_KIND}
    lists = {name: tuple(map(cite.render, lines)) for name, lines in draft.lists.items()} if answer else {}
    for evaluated in metadata.get("review", {}).get("rounds", ()):  # The reviewer read handles of the run.
        evaluated["issues"] = tuple(map(cite.renumber, evaluated["issues"]))
    excerpts = [build_excerpt(one, run.evidence.get_handle(one.passage)) for one in draft.quotations]
    closest = [] if answer else [(item, build_excerpt(item.quotation, "")) for item in draft.closest]
    return Report(
        run=run.id,
        task=run.task,
        status=_determine_status(run, stop, draft, fault, has_answer=bool(answer), has_failed=checked is None),
        summary=_summarize(checked, cite) if checked and answer else "",
        final_answer=answer,
        key_findings=lists.get(ReportSection.FINDINGS, ()),
        recommendations=lists.get(ReportSection.RECOMMENDATIONS, ()),
        risks=lists.get(ReportSection.RISKS, ()),
        open_questions=(tuple(map(cite.renumber, draft.open_questions)) if answer else ())
        or (() if draft.origin == "skill" else run.gaps),
        sources=tuple(Source(number, one.title, one.kind, one.location, one.url) for number, one in cited.items()),
        claims=tuple(_build_claim(verdict, cite) for verdict in judged if verdict.role != "label"),
        stop=stop,
        usage=_summarize_usage(run),
        sufficient=run.sufficient if sufficiency == "unknown" else sufficiency == "yes",
        confidence=None if run.reflection is None else run.reflection.confidence,
        gaps=gaps,
        failed_queries=tuple(run.searches.thin_queries),
        insufficient_termination=run.is_insufficient(stop.reason),
        degraded_mode=run.searches.is_degraded or fault is not None,
        error_log=tuple(run.error_log),
        raw=draft.raw,
        metadata={
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
            "model": run.model.name,
            "token_count": run.model.total.input_tokens + run.model.total.output_tokens,
            **metadata,
            "writing": {"variant": instruction.variant, "version": instruction.version},
            **({"computed": programs} if programs else {}),
            **({"restated": draft.restated} if answer and draft.restated else {}),
        },
        short_answer=short_answer,
        excerpts=tuple(replace(one, source=numbers[one.source]) for one in excerpts if one.source in numbers),
        closest=tuple(
            ClosestPassage(one.text, one.format, one.highlight, one.title, one.location, item.missing, one.headings)
            for item, one in closest
        ),
        left_undone=_list_undone(run, stop, metadata.get("review")),
        notices=notices,
        disagreements=disagreements,
        removed=tuple(_build_removed(verdict, cite) for verdict in checked.removed) if checked and answer else (),
        findings=(reported := _list_findings(draft, cite) if answer else ()),
        aspects=tuple(_count_aspect(name, reported) for name in draft.aspects) if answer else (),
        below=cite.renumber(_render_below(run, draft)) if answer else "",
    )


def _render_below(run: RunState, draft: Draft) -> str:
    """Return what follows the quotations of a draft as Markdown; empty if it has none."""
    places = [place for place, part in enumerate(draft.parts) if isinstance(part, Quotation)]
    return render_draft(run, replace(draft, parts=draft.parts[places[-1] + 1 :])) if places else ""


def _summarize(checked: Checked, cite: "_Numbering") -> str:
    """Return the first sentence of the answer as plain text with citations; of quotations, the deciding sentence."""
    draft = checked.draft
    # A skill may open with words of its own, such as the subject of a mail.
    stated = [statement for statement in draft.statements if draft.origin != "skill" or statement.handles]
    if draft.origin != "quoted" and stated:
        return strip_markdown(cite.render(stated[0]), keep_citations=True)
    first = next((verdict for verdict in checked.verdicts if draft.quotations), None)
    if first is None:
        return ""
    return " ".join([to_one_line(first.plain_text, _MAX_SUMMARY_CHARS), *cite.list_numbers(first.claim.handles)])


def _find_short_answer(draft: Draft, answer: str) -> str | None:
    """Return the short answer if its words are in the answer, outside of marked statements; yes and no need not be."""
    short = draft.short_answer
    if any(statement.mark for statement in draft.statements):
        answer = " ".join(statement.text for statement in draft.statements if not statement.mark)
    is_shown = short.casefold() in ("yes", "no") or " ".join(short.casefold().split()) in " ".join(
        strip_markdown(answer).casefold().split()
    )
    return short if answer and short and is_shown else None


def _judge_sufficiency(run: RunState, stop: Stop, draft: Draft, *, has_answer: bool) -> Sufficiency:
    """Return the writer's judgement; without one, that of the search. An empty answer is never sufficient.

    A broad question is answered if enough of what is relevant was read.
    """
    if not has_answer:
        return "no" if run.evidence else "unknown"
    if run.breadth != "narrow":
        is_covered = stop.coverage is not None and stop.coverage.share >= run.coverage_target
        return "yes" if is_covered and draft.sufficiency in ("yes", "unknown") else "partly"
    if draft.sufficiency != "unknown" or run.sufficient is None:
        return draft.sufficiency
    return "yes" if run.sufficient else "partly"


def _list_notices(run: RunState, stop: Stop, draft: Draft, fault: Failure | None) -> tuple[Notice, ...]:
    """Return what a reader must know before reading the answer."""
    notices = [Notice(run.breadth)] if run.breadth != "narrow" else []
    notices += list_caveats(run, stop)
    count = choose_instruction(run).count
    if count > (len(draft.quotations) if draft.origin == "quoted" else count_list_sections(draft.parts)):
        notices.append(Notice("short_list"))
    if not is_language_model(run.model):
        notices.append(Notice("skill_wording" if draft.origin == "skill" else "no_model"))
        notices += _list_language_notices(run)
    if fault is not None:
        notices.append(Notice("declined" if fault.kind == ModelDeclined.__name__ else "model_fault"))
    return (*notices, *draft.notices)


def _list_language_notices(run: RunState) -> tuple[Notice, ...]:
    """Say that the documents are in another language than the question; a language model deals with that."""
    if not run.scope_languages or is_language_model(run.model):
        return ()
    return (Notice("other_language", f"{OTHER_LANGUAGE}: {run.scope_languages}. {MODEL_ADVICE}"),)


class _Numbering:
    """The citations of a report: from a passage or a handle of the run to its number."""

    def __init__(self, run: RunState, numbers: Mapping[str, str]) -> None:
        self._evidence = run.evidence
        self._numbers = numbers

    def __call__(self, passage: Passage) -> str:
        """Return the number of a passage; empty if the report does not cite it."""
        return self._numbers.get(self._evidence.get_handle(passage), "")

    def renumber(self, text: str) -> str:
        """Return a text with its handles as numbers; a handle that the report does not list is dropped."""
        return drop_repeated_citations(replace_citations(text, lambda handle: self._numbers.get(handle, "")))

    def render(self, statement: Statement) -> str:
        """Return a statement with its handles as numbers, and the mark that a lenient run gave it."""
        return " ".join(filter(None, (self.renumber(statement.text), statement.mark)))

    def list_numbers(self, handles: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._numbers[handle] for handle in handles if handle in self._numbers))

    def build_span(self, quote: Quote, stance: Any = "supports") -> Span:
        return Span(self(quote.passage), quote.text, quote.location, stance)


def _number_citations(run: RunState, draft: Draft) -> tuple[dict[str, str], dict[str, Passage]]:
    """Return the number of each cited handle, in the order of first citation and without gaps, and the passage of each number.

    All texts of a web page have one number, for the first of them.
    """
    lists = (statement.text for lines in draft.lists.values() for statement in lines)
    numbers: dict[str, str] = {}
    cited: dict[str, Passage] = {}
    by_source: dict[str, str] = {}
    for handle in list_handles(render_draft(run, draft), *lists, *draft.open_questions):
        passage = run.evidence.find_passage(handle)
        if passage is None:
            continue
        # A passage is a snippet or a part of a page; a page of a PDF and a typed value are sources themselves.
        page = canonicalize_url(passage.url) if passage.url is not None and passage.kind == "web" else None
        numbers[handle] = by_source.setdefault(page or handle, f"[{len(by_source) + 1}]")
        cited.setdefault(numbers[handle], passage)
    return numbers, cited


def _build_claim(verdict: ClaimVerdict, cite: _Numbering) -> Claim:
    quote = verdict.deciding_quote
    return Claim(
        verdict.plain_text,
        cite.list_numbers(verdict.claim.handles),
        verdict.support,
        tuple(cite.build_span(one, stance) for one, stance in verdict.quotes if cite(one.passage)),
        cite.renumber(describe_reason(verdict.reason)),
        build_evidence(verdict, "" if quote is None else cite(quote.passage)),
        "" if quote is None else quote.checker,
        None if quote is None else quote.probability,
        verdict.role or getattr(verdict.claim, "role", None),
    )


def _list_findings(draft: Draft, cite: _Numbering) -> tuple[ReportedFinding, ...]:
    """Return the findings of the draft's lists, each once, with the heading that it first stands below."""
    sections, section = dict[Finding, str](), ""
    for part in draft.parts:
        section = strip_markdown(part.text) if isinstance(part, SectionHeading) else section
        if isinstance(part, FindingList):
            sections = dict.fromkeys(part.items, section) | sections
    return tuple(replace(_build_finding(finding, cite), section=sections[finding]) for finding in draft.listed)


def _build_finding(finding: Finding, cite: _Numbering) -> ReportedFinding:
    sources = dict.fromkeys(filter(None, map(cite, (one.passage for one in finding.quotations))))
    return ReportedFinding(finding.text.text, True, finding.aspect, tuple(sources), bool(finding.against))


def _count_aspect(name: str, findings: Iterable[ReportedFinding]) -> Aspect:
    own = [finding for finding in findings if finding.aspect == name]
    return Aspect(name, len(own), len({source for finding in own for source in finding.sources}))


def _build_removed(verdict: ClaimVerdict, cite: _Numbering) -> RemovedClaim:
    quote = verdict.contradicting[0] if verdict.contradicting else verdict.nearest
    stance = "contradicts" if verdict.contradicting else "supports"
    nearest = None if quote is None else cite.build_span(quote, stance)
    return RemovedClaim(verdict.plain_text, verdict.reason or Reason("not_stated"), nearest)


def _list_disagreements(checked: Checked, cite: _Numbering) -> Iterable[Disagreement]:
    """Yield the two sides of each contradiction between sources, once, the one with the later date first."""
    seen: set[frozenset[str]] = set()
    for verdict in checked.verdicts:
        if verdict.supporting and verdict.contradicting:
            one, other = verdict.supporting[0], verdict.contradicting[0]
            sides = frozenset((one.text, other.text))
            if sides not in seen and cite(one.passage):
                seen.add(sides)
                against = cite.build_span(other, "contradicts")
                against = replace(against, source=against.source or f"({other.location})")  # It may have no number.
                dated = [(find_passage_date(one.passage), cite.build_span(one))]
                dated.append((find_passage_date(other.passage), against))
                if all(date for date, _ in dated):
                    dated.sort(key=lambda pair: pair[0], reverse=True)
                (date, first), (earlier, second) = dated
                yield Disagreement(first, second, (date, earlier))


def _list_undone(run: RunState, stop: Stop, review: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return what a limit on time, tokens or money left undone, the most important first; empty if no limit was reached."""
    refused = run.refused
    lines: list[str] = []
    if stop.reason.startswith("budget_"):
        planned = () if run.current_plan is None else run.current_plan.queries
        reflected = () if run.reflection is None else run.reflection.new_queries
        asked = {query.casefold().strip() for query in run.asked_queries}
        unasked = [one.query for one in (*reflected, *planned) if one.query.casefold().strip() not in asked]
        lines += [f"Not searched for: {query}" for query in list(dict.fromkeys(unasked))[:_MAX_QUERIES]]
    if refused.get("draft"):
        lines.insert(0, "The answer was not written by the model; the sources are quoted instead.")
    if refused.get("check_draft"):
        lines.append("The claims were checked without asking the model.")
    if refused.get("compute"):
        lines.append("A computation was left out.")
    if any(refused.get(role) for role in _BELIEF_ROLES):
        lines.append("The notes were not brought up to date after the last round.")
    if review is not None and review.get("ending") == "budget":
        rounds = len(review.get("rounds") or ())
        lines.append(f"The review ended after {rounds} of its rounds." if rounds else "The answer was not reviewed.")
    return tuple(lines)


def _determine_status(
    run: RunState, stop: Stop, draft: Draft, fault: Failure | None, *, has_answer: bool, has_failed: bool
) -> Status:
    if has_answer:
        lacks_part = draft.origin in ("written", "sentence") and draft.sufficiency == "partly"
        is_cut = any(notice.kind == "quoted_for_budget" for notice in draft.notices)
        is_partial = fault is not None or lacks_part or is_cut or stop.reason == "cancelled"
        return "partial" if is_partial or list_caveats(run, stop) else "answered"
    is_model_dead = fault is not None or (run.model.failed_count and not run.model.answered_count)
    is_search_dead = run.searches.has_no_answer or stop.reason in ("search_unavailable", "cancelled")
    return "failed" if has_failed or is_model_dead or is_search_dead else "no_evidence"


def _summarize_usage(run: RunState) -> UsageSummary:
    total = run.model.total
    roles = {
        role: RoleUsage(usage.calls, usage.input_tokens, usage.output_tokens, usage.usd)
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
        estimated_calls=total.estimated,
    )
