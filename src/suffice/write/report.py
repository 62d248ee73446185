"""From a run that has stopped to its report.

Choose what the writer sees, ask for a draft, check every citation, number the sources. A draft that cites nothing is no
report.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from suffice.asks import Draft, SynthesisResponse
from suffice.errors import ModelError
from suffice.models.base import speaks
from suffice.run import STATE_TOKENS, Run
from suffice.text.markup import CITATION, SEVERAL_CITED, escape
from suffice.text.tokens import estimate_tokens
from suffice.types import (
    BELIEF,
    COMPUTED,
    Bill,
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
)
from suffice.write.claims import existing
from suffice.write.counting import counted, trimmed
from suffice.write.instructions import Instruction, instruction
from suffice.write.links import tamed
from suffice.write.sections import drafted
from suffice.write.tidy import tidy
from suffice.write.verdicts import Checked, Spoken, shown

NO_MODEL = "No language model was used: every sentence below is quoted verbatim from the source behind it."
DEGRADED = "Search was limited because searches kept failing; this answer is partial."
INSUFFICIENT = "The search ended on a limit before the evidence was judged sufficient; this answer may be incomplete."
DISAGREE = "Where the sources disagree"
SHORT = "The list is shorter than the task asks for: the evidence that was found holds no more."
QUOTED = "Nothing that the model wrote could be borne out, so the sources are quoted in their own words."
NOTICES = (NO_MODEL, QUOTED, DEGRADED, INSUFFICIENT, SHORT)


def insufficient(run: Run, stop: Stop) -> bool:
    """The run ended on a limit, not because it knew enough."""
    return stop.reason.startswith("budget_") and not run.sufficient


def caveats(run: Run, stop: Stop) -> tuple[str, ...]:
    """What a reader must be told about how this run ended."""
    told = [DEGRADED] if run.degraded else []
    return (*told, *([INSUFFICIENT] if insufficient(run, stop) else []))


def before_the_writer(run: Run) -> tuple[Note, ...]:
    """What the writer sees: the facts of the belief, then the evidence: pinned passages, those behind the facts, those most
    like the question, at most ``bounds.sources``, in order found. A fact whose passages are not among them is left out."""
    left, _ = run.room(Draft.max_tokens)
    facts = [note for note in run.memory.render(min(STATE_TOKENS // 10, left // 2)) if note.kind == BELIEF]
    behind = {handle: place for place, fact in reversed(list(enumerate(facts))) for handle in fact.handles}

    def rank(passage: Passage) -> tuple[bool, int, float]:
        place = behind.get(run.evidence.handle(passage), len(facts))
        return passage.id not in run.pinned, place, -(run.leads.likeness(passage) + (passage.score or 0.0))

    ranked = sorted(run.evidence, key=rank)
    chosen: set[str] = set()
    for passage in ranked[: run.bounds.sources]:
        left -= estimate_tokens(passage.text) + estimate_tokens(passage.title) + 4
        if left < 0 and chosen:
            break
        chosen.add(passage.id)
    sources = tuple(
        Note(passage.text, (run.evidence.handle(passage),), passage.title, passage.kind)
        for passage in run.evidence
        if passage.id in chosen
    )
    shown = {handle for note in sources for handle in note.handles}
    return (*(fact for fact in facts if shown.issuperset(fact.handles)), *sources)


async def draft(run: Run, stop: Stop) -> SynthesisResponse | None:
    """The draft as the model wrote it; ``None`` when the model failed."""
    notes = before_the_writer(run)
    if not notes:
        return SynthesisResponse("")
    run.shortened("before writing", sum(note.whole for note in notes))
    try:
        return await drafted(run, notes, caveats(run, stop))
    except ModelError as error:
        run.fail(Failure("draft", type(error).__name__, str(error), error.retryable))
        return None


async def quoted(run: Run, stop: Stop) -> SynthesisResponse:
    """The sources in their own words, where a model's words came to nothing."""
    from suffice.models.extractive import Extractive

    run.quoted = True
    run.fail(
        Failure("draft", "Unsupported", "no source bears out a claim of the draft; the sources are quoted instead")
    )
    ask = Draft(run.task, before_the_writer(run), run.gaps, caveats(run, stop))
    return (await Extractive(run.embed)(ask)).answer


def checked(run: Run, written: SynthesisResponse) -> SynthesisResponse:
    """The text without citations that nobody gave out, without items over the number asked for, and with no finding,
    recommendation or risk that cites nothing: those are filled from the evidence or not at all."""
    count = instruction(run).count
    answer = _checked(run, tidy(written.answer))
    findings, recommendations, risks = (
        tuple(line for line in (_checked(run, line) for line in lines) if CITATION.search(line))
        for lines in (written.key_findings, written.recommendations, written.risks)
    )
    return SynthesisResponse(
        trimmed(answer, count) if count else answer,
        _checked(run, written.summary),
        findings,
        recommendations,
        risks,
        tuple(_checked(run, line) for line in written.open_questions),
    )


def report(
    run: Run, stop: Stop, written: SynthesisResponse | None, metadata: Mapping[str, Any], claims: Sequence[Checked] = ()
) -> Report:
    """The report of a run: the settled text with its sources numbered, its claims, and everything that was recorded."""
    text = written or SynthesisResponse("")
    text = replace(text, answer=text.answer + _disagreements(run, claims))
    lists = (text.key_findings, text.recommendations, text.risks, text.open_questions)
    number = _numbers([text.answer, text.summary, *(line for lines in lists for line in lines)])
    answer = _renumbered(text.answer, number) if number else ""
    how = instruction(run)
    short = [SHORT] if len(counted(answer)) < how.count else []
    notices = [
        *caveats(run, stop),
        *short,
        *([] if speaks(run.model) else [NO_MODEL]),
        *([QUOTED] if run.quoted else []),
    ]
    if answer:
        answer = "\n".join([*(f"> {notice}\n" for notice in notices), answer])
    findings, recommendations, risks, questions = (
        tuple(_renumbered(line, number) for line in lines) if answer else () for lines in lists
    )
    return Report(
        run=run.id,
        task=run.task,
        status=_status(run, stop, bool(answer), written is None),
        summary=_renumbered(text.summary, number) if answer else "",
        final_answer=answer,
        key_findings=findings,
        recommendations=recommendations,
        risks=risks,
        open_questions=questions or run.gaps,
        sources=tuple(_source(run, handle, shown) for handle, shown in number.items()),
        claims=tuple(_claim(run, checked, number) for checked in claims) if answer else (),
        stop=stop,
        usage=_bill(run),
        sufficient=run.sufficient,
        confidence=None if run.reflection is None else run.reflection.confidence,
        gaps=run.gaps,
        failed_queries=tuple(run.thin),
        insufficient_termination=insufficient(run, stop),
        degraded_mode=run.degraded,
        error_log=tuple(run.error_log),
        metadata={**metadata, **_made(run, how, number)},
    )


def _checked(run: Run, text: str) -> str:
    """The existence check: a handle nobody gave out is dropped and recorded; so is a link to anything but a source."""
    text = tamed(text, {passage.url for passage in run.evidence if passage.url})
    checked, invented = existing(_apart(text), run.evidence.resolve)
    for handle in invented:
        run.fail(Failure("citations", "InventedCitation", f"{handle} is no source of this run; it was dropped"))
    return checked


def _apart(text: str) -> str:
    """``[1, 2]`` as ``[1] [2]``: each handle is checked and numbered on its own."""
    return SEVERAL_CITED.sub(
        lambda match: " ".join(f"[{one.strip()}]" for one in re.split("[,;]", match.group()[1:-1])), text
    )


def _numbers(texts: Iterable[str]) -> dict[str, str]:
    """Handles in order of first citation → gapless numbers."""
    cited = dict.fromkeys(match.group() for text in texts for match in CITATION.finditer(text))
    return {handle: f"[{number}]" for number, handle in enumerate(cited, 1)}


def _renumbered(text: str, number: Mapping[str, str]) -> str:
    return CITATION.sub(lambda match: number[match.group()], text)


def _made(run: Run, how: Instruction, number: Mapping[str, str]) -> dict[str, Any]:
    """How the text came to be: the instruction it was written by, and the programs behind what was computed."""
    cited = {shown: _passage(run, handle) for handle, shown in number.items()}
    programs = {shown: passage.text for shown, passage in cited.items() if passage.kind == COMPUTED}
    return {"writing": {"variant": how.variant, "version": how.version}, **({"computed": programs} if programs else {})}


def _passage(run: Run, handle: str) -> Passage:
    passage = run.evidence.find(handle)
    assert passage is not None, "citations are checked before they are numbered"
    return passage


def _source(run: Run, handle: str, shown: str) -> Source:
    passage = _passage(run, handle)
    return Source(shown, passage.title, passage.kind, passage.location, passage.url)


def _claim(run: Run, checked: Checked, number: Mapping[str, str]) -> Claim:
    spans = tuple(
        Span(number[handle], item.quote, item.location, stance)
        for item, stance in shown(checked)
        if (handle := run.evidence.handle(item.passage)) in number
    )
    cited = tuple(number[handle] for handle in checked.statement.handles)
    return Claim(checked.statement.said, cited, checked.support, spans, checked.note)


def _disagreements(run: Run, claims: Sequence[Checked]) -> str:
    """A section for what one source says and another denies, both cited; empty when they agree."""

    def said(spoken: Spoken) -> str:
        return f"“{escape(' '.join(spoken.quote.split()))}” {run.evidence.handle(spoken.passage)}"

    pairs = dict.fromkeys(
        f"- {said(claim.supporting[0])}, but {said(claim.against[0])}"
        for claim in claims
        if claim.supporting and claim.against
    )
    return "\n\n### " + DISAGREE + "\n\n" + "\n".join(pairs) if pairs else ""


def _status(run: Run, stop: Stop, answered: bool, failed: bool) -> Status:
    if answered:
        return "partial" if caveats(run, stop) or stop.reason == "cancelled" else "answered"
    if failed or run.unanswered or stop.reason in ("search_unavailable", "cancelled"):
        return "failed"
    return "no_evidence"


def _bill(run: Run) -> Bill:
    total = run.model.total
    roles = {
        role: RoleUsage(usage.calls, usage.input_tokens, usage.output_tokens, usage.stored)
        for role, usage in sorted(run.model.by_role.items())
    }
    return Bill(
        model=run.model.name,
        calls=total.calls,
        input_tokens=total.input_tokens,
        output_tokens=total.output_tokens,
        searches=run.searches,
        pages_read=run.pages_read,
        seconds=round(run.seconds, 3),
        cost_usd=total.usd,
        by_role=roles,
        stored=total.stored,
        estimated_calls=total.estimated,
    )
