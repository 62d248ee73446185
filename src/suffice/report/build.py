"""From a run that has stopped to its report.

Choose what the writer sees, ask for a draft, check every citation, number the sources. A draft that cites nothing is no
report.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from suffice.claims.split import drop_unknown_citations
from suffice.claims.verdict import ClaimVerdict, Quote, list_quotes
from suffice.errors import ModelError
from suffice.models.base import is_language_model
from suffice.prompts import Draft, SynthesisResponse
from suffice.report.draft import (
    WritingInstruction,
    choose_instruction,
    draft_answer,
    find_list_sections,
    trim_list_sections,
    unwrap_markdown,
)
from suffice.state.run import MAX_EVIDENCE_TOKENS, RunState
from suffice.text.citations import has_citation, list_handles, replace_citations, split_citation_groups
from suffice.text.markdown import escape_markdown, neutralize_links
from suffice.text.tokens import estimate_tokens
from suffice.types import (
    BELIEF_KIND,
    COMPUTED_KIND,
    Claim,
    Failure,
    Note,
    Passage,
    Report,
    RoleUsage,
    Source,
    Span,
    Status,
    Stop,
    UsageSummary,
)

NO_MODEL_NOTICE = "No language model was used: every sentence below is quoted verbatim from the source behind it."
DEGRADED_NOTICE = "Search was limited because searches kept failing; this answer is partial."
INSUFFICIENT_NOTICE = (
    "The search ended on a limit before the evidence was judged sufficient; this answer may be incomplete."
)
DISAGREEMENT_HEADING = "Where the sources disagree"
SHORT_LIST_NOTICE = "The list is shorter than the task asks for: the evidence that was found holds no more."
QUOTED_NOTICE = "Nothing that the model wrote could be borne out, so the sources are quoted in their own words."
NOTICES = (NO_MODEL_NOTICE, QUOTED_NOTICE, DEGRADED_NOTICE, INSUFFICIENT_NOTICE, SHORT_LIST_NOTICE)


def is_insufficient(run: RunState, stop: Stop) -> bool:
    """The run ended on a limit, not because it knew enough."""
    return stop.reason.startswith("budget_") and not run.sufficient


def list_caveats(run: RunState, stop: Stop) -> tuple[str, ...]:
    """What a reader must be told about how this run ended."""
    told = [DEGRADED_NOTICE] if run.is_degraded else []
    return (*told, *([INSUFFICIENT_NOTICE] if is_insufficient(run, stop) else []))


def select_writer_notes(run: RunState) -> tuple[Note, ...]:
    """What the writer sees: the facts of the belief, then the evidence: pinned passages, those behind the facts, those most
    like the question, at most ``bounds.sources``, in order found. A fact whose passages are not among them is left out."""
    left, _ = run.compute_prompt_budget(Draft.max_tokens)
    facts = [note for note in run.memory.render(min(MAX_EVIDENCE_TOKENS // 10, left // 2)) if note.kind == BELIEF_KIND]
    behind = {handle: place for place, fact in reversed(list(enumerate(facts))) for handle in fact.handles}

    def rank(passage: Passage) -> tuple[bool, int, float]:
        place = behind.get(run.evidence.get_handle(passage), len(facts))
        return (
            passage.id not in run.pinned_ids,
            place,
            -(run.follow_ups.get_similarity(passage) + (passage.score or 0.0)),
        )

    ranked = sorted(run.evidence, key=rank)
    chosen: set[str] = set()
    for passage in ranked[: run.bounds.sources]:
        left -= estimate_tokens(passage.text) + estimate_tokens(passage.title) + 4
        if left < 0 and chosen:
            break
        chosen.add(passage.id)
    sources = tuple(
        Note(passage.text, (run.evidence.get_handle(passage),), passage.title, passage.kind)
        for passage in run.evidence
        if passage.id in chosen
    )
    shown = {handle for note in sources for handle in note.handles}
    return (*(fact for fact in facts if shown.issuperset(fact.handles)), *sources)


async def write_draft(run: RunState, stop: Stop) -> SynthesisResponse | None:
    """The draft as the model wrote it; ``None`` when the model failed."""
    notes = select_writer_notes(run)
    if not notes:
        return SynthesisResponse("")
    run.record_compaction("before writing", sum(note.whole for note in notes))
    try:
        return await draft_answer(run, notes, list_caveats(run, stop))
    except ModelError as error:
        run.record_failure(Failure("draft", type(error).__name__, str(error), error.retryable))
        return None


async def quote_sources(run: RunState, stop: Stop) -> SynthesisResponse:
    """The sources in their own words, where a model's words came to nothing."""
    from suffice.models.extractive import ExtractiveModel

    run.has_quote_fallback = True
    run.record_failure(
        Failure("draft", "Unsupported", "no source bears out a claim of the draft; the sources are quoted instead")
    )
    prompt = Draft(run.task, select_writer_notes(run), run.gaps, list_caveats(run, stop))
    return (await ExtractiveModel(run.embed)(prompt)).answer


def check_citations(run: RunState, written: SynthesisResponse) -> SynthesisResponse:
    """The text without citations that nobody gave out, without items over the number asked for, and with no finding,
    recommendation or risk that cites nothing: those are filled from the evidence or not at all."""
    count = choose_instruction(run).count
    answer = _check_text(run, unwrap_markdown(written.answer))
    findings, recommendations, risks = (
        tuple(line for line in (_check_text(run, line) for line in lines) if has_citation(line))
        for lines in (written.key_findings, written.recommendations, written.risks)
    )
    return SynthesisResponse(
        trim_list_sections(answer, count) if count else answer,
        _check_text(run, written.summary),
        findings,
        recommendations,
        risks,
        tuple(_check_text(run, line) for line in written.open_questions),
    )


def build_report(
    run: RunState,
    stop: Stop,
    written: SynthesisResponse | None,
    metadata: Mapping[str, Any],
    claims: Sequence[ClaimVerdict] = (),
) -> Report:
    """The report of a run: the settled text with its sources numbered, its claims, and everything that was recorded."""
    text = written or SynthesisResponse("")
    text = replace(text, answer=text.answer + _render_disagreements(run, claims))
    lists = (text.key_findings, text.recommendations, text.risks, text.open_questions)
    number = _assign_numbers([text.answer, text.summary, *(line for lines in lists for line in lines)])
    answer = _renumber_citations(text.answer, number) if number else ""
    how = choose_instruction(run)
    short = [SHORT_LIST_NOTICE] if len(find_list_sections(answer)) < how.count else []
    notices = [
        *list_caveats(run, stop),
        *short,
        *([] if is_language_model(run.model) else [NO_MODEL_NOTICE]),
        *([QUOTED_NOTICE] if run.has_quote_fallback else []),
    ]
    if answer:
        answer = "\n".join([*(f"> {notice}\n" for notice in notices), answer])
    findings, recommendations, risks, questions = (
        tuple(_renumber_citations(line, number) for line in lines) if answer else () for lines in lists
    )
    return Report(
        run=run.id,
        task=run.task,
        status=_determine_status(run, stop, bool(answer), written is None),
        summary=_renumber_citations(text.summary, number) if answer else "",
        final_answer=answer,
        key_findings=findings,
        recommendations=recommendations,
        risks=risks,
        open_questions=questions or run.gaps,
        sources=tuple(_build_source(run, handle, shown) for handle, shown in number.items()),
        claims=tuple(_build_claim(run, checked, number) for checked in claims) if answer else (),
        stop=stop,
        usage=_summarize_usage(run),
        sufficient=run.sufficient,
        confidence=None if run.reflection is None else run.reflection.confidence,
        gaps=run.gaps,
        failed_queries=tuple(run.thin_queries),
        insufficient_termination=is_insufficient(run, stop),
        degraded_mode=run.is_degraded,
        error_log=tuple(run.error_log),
        metadata={**metadata, **_build_writing_metadata(run, how, number)},
    )


def _check_text(run: RunState, text: str) -> str:
    """The existence check: a handle nobody gave out is dropped and recorded; so is a link to anything but a source."""
    text = neutralize_links(text, {passage.url for passage in run.evidence if passage.url})
    checked, invented = drop_unknown_citations(split_citation_groups(text), run.evidence.resolve_citation)
    for handle in invented:
        run.record_failure(
            Failure("citations", "InventedCitation", f"{handle} is no source of this run; it was dropped")
        )
    return checked


def _assign_numbers(texts: Iterable[str]) -> dict[str, str]:
    """Handles in order of first citation → gapless numbers."""
    return {handle: f"[{number}]" for number, handle in enumerate(list_handles(*texts), 1)}


def _renumber_citations(text: str, number: Mapping[str, str]) -> str:
    return replace_citations(text, number.__getitem__)


def _build_writing_metadata(run: RunState, how: WritingInstruction, number: Mapping[str, str]) -> dict[str, Any]:
    """How the text came to be: the instruction it was written by, and the programs behind what was computed."""
    cited = {shown: _get_passage(run, handle) for handle, shown in number.items()}
    programs = {shown: passage.text for shown, passage in cited.items() if passage.kind == COMPUTED_KIND}
    return {"writing": {"variant": how.variant, "version": how.version}, **({"computed": programs} if programs else {})}


def _get_passage(run: RunState, handle: str) -> Passage:
    passage = run.evidence.find_passage(handle)
    assert passage is not None, "citations are checked before they are numbered"
    return passage


def _build_source(run: RunState, handle: str, shown: str) -> Source:
    passage = _get_passage(run, handle)
    return Source(shown, passage.title, passage.kind, passage.location, passage.url)


def _build_claim(run: RunState, checked: ClaimVerdict, number: Mapping[str, str]) -> Claim:
    spans = tuple(
        Span(number[handle], item.text, item.location, stance)
        for item, stance in list_quotes(checked)
        if (handle := run.evidence.get_handle(item.passage)) in number
    )
    cited = tuple(number[handle] for handle in checked.claim.handles)
    return Claim(checked.claim.plain_text, cited, checked.support, spans, checked.note)


def _render_disagreements(run: RunState, claims: Sequence[ClaimVerdict]) -> str:
    """A section for what one source says and another denies, both cited; empty when they agree."""

    def said(spoken: Quote) -> str:
        return f"“{escape_markdown(' '.join(spoken.text.split()))}” {run.evidence.get_handle(spoken.passage)}"

    pairs = dict.fromkeys(
        f"- {said(claim.supporting[0])}, but {said(claim.contradicting[0])}"
        for claim in claims
        if claim.supporting and claim.contradicting
    )
    return "\n\n### " + DISAGREEMENT_HEADING + "\n\n" + "\n".join(pairs) if pairs else ""


def _determine_status(run: RunState, stop: Stop, answered: bool, failed: bool) -> Status:
    if answered:
        return "partial" if list_caveats(run, stop) or stop.reason == "cancelled" else "answered"
    if failed or run.has_no_answered_search or stop.reason in ("search_unavailable", "cancelled"):
        return "failed"
    return "no_evidence"


def _summarize_usage(run: RunState) -> UsageSummary:
    total = run.model.total
    roles = {
        role: RoleUsage(usage.calls, usage.input_tokens, usage.output_tokens, usage.stored)
        for role, usage in sorted(run.model.by_role.items())
    }
    return UsageSummary(
        model=run.model.name,
        calls=total.calls,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        searches=run.search_count,
        pages_read=run.pages_read,
        seconds=round(run.elapsed_seconds, 3),
        cost_usd=total.usd,
        by_role=roles,
        stored=total.stored,
        estimated_calls=total.estimated,
    )
