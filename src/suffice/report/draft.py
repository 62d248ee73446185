"""Write the draft of an answer from the evidence of a run that has stopped, as parts.

    select_writer_notes → choose_instruction → write_draft ─▶ a model's text, read once into parts
                                                           ─▶ a small model's sentence above quotations
                                                           ─▶ quotations alone

``claims`` verifies the draft; ``build`` then numbers its sources.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile

from suffice.answers import Draft, Part, Quotation, SectionHeading, Statement, replace_statements
from suffice.errors import ModelError, ModelUnusable
from suffice.memory.evidence import drop_repeated_columns, drop_repeated_titles, refer_to_copies
from suffice.models.base import is_language_model
from suffice.models.capability import WriterStyle
from suffice.models.embeddings.minilm import get_minilm
from suffice.models.embeddings.static import embed_static
from suffice.models.extractive.answer import quote_answer
from suffice.models.reader.model import find_reader
from suffice.prompts.base import load_snippet, load_template
from suffice.prompts.writing import AnswerSentence, DraftAnswer, SynthesisResponse
from suffice.report.anchors import DATA_KIND, add_anchors
from suffice.report.findings import find_findings, find_passage_date, sort_by_aspect
from suffice.report.notices import describe_notice
from suffice.report.survey import write_survey
from suffice.state.prompting import MAX_EVIDENCE_TOKENS, MIN_PROMPT_TOKENS
from suffice.state.run import RunState
from suffice.text.citations import drop_unknown_citations, has_citation, is_handle, split_citation_groups
from suffice.text.languages import ENGLISH
from suffice.text.markdown import escape_markdown, find_headings, find_open_fence, neutralize_links, unwrap_fence
from suffice.text.parts import build_statement, parse_parts, render_parts
from suffice.text.question import read_question
from suffice.text.sections import WRITTEN_SECTIONS, ReportSection
from suffice.text.task_type import (
    TaskType,
    classify_task,
    is_lookup,
    is_yes_no_question,
    mentions_number,
    parse_item_count,
)
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF_KIND, COMPUTED_KIND, Failure, Note, Notice, Passage, Stop

NOTES_PER_SECTION = 12  # Notes that one section is written from (value of the source system, see docs/sources.md).
# Writing instructions in the order in which they are tried: each is a versioned file under ``prompts/writing`` that lists
# its keywords. ``prose`` has none and suits every task.
VARIANT_ORDER = ("trading", "technical", "research", "prose")

_FACTS_TITLE = "Facts noted during the search"
_MAX_FINDINGS = 5  # Key findings of an answer that was written in sections.
_NOTE_MARKUP_TOKENS = 4  # Tokens for the markup around a note in the prompt.
_TOO_FEW_SECTIONS = (
    "Your last draft had {there} of {wanted} sections. Write {wanted}, if the sources hold as many things."
)
_STRUCTURAL_HEADINGS = frozenset(
    (
        *("introduction", "conclusion", "conclusions", "summary", "overview", "background", "references", "sources"),
        *("appendix", "notes", "open questions", "key findings", "key takeaways", "recommendations", "risks"),
        "portfolio summary",
    )
)
_LOOKUP_VARIANTS = ("prose", "technical")
LOOKUP_TOKENS = 800  # Tokens of an answer to a question about a fact.
MAX_SENTENCE_SOURCES = 8  # Sources for one sentence: with more, a small model picks the wrong one (docs/writing.md).
_LEADING_NUMBER = re.compile(r"^\W*\d+[.):]?\s*")


async def write_draft(run: RunState, stop: Stop, style: WriterStyle = "prose") -> Draft | None:
    """Return the draft, empty without evidence, or ``None`` when the model failed."""
    notes = select_writer_notes(run)
    if not notes:
        return Draft()
    run.record_compaction("before writing", sum(note.whole for note in notes))
    if not is_language_model(run.model):
        return await quote_evidence(run)
    if run.must_refuse(DraftAnswer.role):
        run.refused[DraftAnswer.role] += 1
        return replace(await quote_evidence(run), notices=(Notice("quoted_for_budget"),))
    try:
        return await draft_sentence(run) if style == "sentence" else await draft_answer(run, notes, stop)
    except ModelUnusable:
        raise
    except ModelError as error:
        run.record_failure(Failure("draft", type(error).__name__, str(error), error.retryable))
        return None


# -- Quoting -----------------------------------------------------------------------------------------------------------


async def quote_evidence(run: RunState) -> Draft:
    """Return what the sources say to the question in their own words; to a broad one, findings in sections.

    A list is the best quotations, then what the other sources say on it.
    """
    if run.breadth == "broad":
        return await survey_evidence(run)
    if run.breadth == "list" and run.survey is not None:
        quoted = await _quote(run, run.question, run.survey.list_nearest(run.evidence))
        survey = await survey_evidence(run)
        is_answered = bool(quoted.parts) and not survey.is_empty
        return replace(quoted, parts=(*quoted.parts, *survey.parts), aspects=survey.aspects) if is_answered else quoted
    if len(run.outline.topics) > 1 and not choose_instruction(run).count:
        assigned = _assign_notes(run, tuple(map(run.evidence.make_note, run.evidence)))
        near = ([run.evidence.by_handle[note.handles[0]] for note in own] for own in assigned)
        topics = zip(run.outline.topics, near, strict=True)
        sections = [await _quote(run, f"{topic}: {run.question}", passages) for topic, passages in topics]
        if first := next((own for own in sections if own.parts), None):
            return replace(first, parts=_join_parts(run.outline.topics, sections))
    candidates = {passage.id: passage for passage in (*run.list_by_search(), *run.nearest)}
    return await _quote(run, run.question, list(candidates.values()))


async def survey_evidence(run: RunState) -> Draft:
    """Return the report of a broad question from what was read: findings of every relevant file, in sections."""
    passages = [passage for passage in run.evidence if passage.kind != COMPUTED_KIND]
    if run.survey is not None:
        files, nearness = run.survey.list_relevant_files(passages), run.survey.nearness
    else:
        files = _group_by_document(passages)
        nearness = {passage.id: run.follow_ups.get_similarity(passage) for passage in passages}
    question = run.question

    def write() -> Draft:
        found = find_findings(question, files, nearness, embed_static)
        return write_survey(question, sort_by_aspect(question, found), passages, length=run.length)

    return replace(await asyncio.to_thread(write), open_questions=run.gaps)


async def _quote(run: RunState, question: str, passages: Sequence[Passage]) -> Draft:
    passages = drop_snippets([passage for passage in passages if passage.kind != COMPUTED_KIND])
    count = choose_instruction(run).count
    reader = find_reader() if run.embed is not None else None
    read = read_question(question, run.language)
    # The model on this machine, whatever the search uses: many stretches are compared, and its weights were fitted with it.
    embed = None if run.embed is None else get_minilm().embed
    found = await asyncio.to_thread(quote_answer, read, passages, embed, reader, count=count)
    for passage in (one.passage for one in (*found.quotations, *(item.quotation for item in found.closest))):
        run.evidence.add(passage)
    quotations = _put_newest_first(question, found.quotations)
    parts: tuple[Part, ...] = quotations
    if count:  # A list of things: each quotation is one of them.
        parts = tuple(
            replace(one, title=f"{n}. {one.title or one.passage.title}") for n, one in enumerate(quotations[:count], 1)
        )
    short = found.short_answer if quotations[:1] == found.quotations[:1] else ""
    return replace(found, parts=parts, open_questions=run.gaps, short_answer=short)


def _put_newest_first(question: str, quotations: tuple[Quotation, ...]) -> tuple[Quotation, ...]:
    """Return the quotations with those of one document's versions by date, unless the question has a figure itself.

    Versions are files that have a date each and the same title up to its first digit.
    """
    ordered, versions = list(quotations), dict[str, list[int]]()
    for place, one in enumerate(quotations):
        if find_passage_date(one.passage) and not any(map(str.isdigit, question)):
            name = "".join(takewhile(lambda character: not character.isdigit(), one.passage.title))
            versions.setdefault(name, []).append(place)
    for places in versions.values():
        own = sorted((quotations[place] for place in places), key=lambda one: find_passage_date(one.passage))
        if len({one.passage.place.path for one in own}) == len(own):
            for place in places:
                ordered[place] = own.pop()
    return tuple(ordered)


def drop_snippets(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages without snippets of web pages whose words another passage of the page has."""
    pages: dict[str, list[str]] = {}
    words = {passage.id: " ".join(passage.text.split()).strip("… ") for passage in passages}
    for passage in passages:
        if passage.kind == "web":
            pages.setdefault(passage.place.path, []).append(words[passage.id])
    return [
        passage
        for passage in passages
        if not any(words[passage.id] in text != words[passage.id] for text in pages.get(passage.place.path, ()))
    ]


async def draft_sentence(run: RunState) -> Draft:
    """Return one sentence of the model and, below it, the quotations: the answer holds no less than without the model."""
    opening = "The answer begins with Yes or No." if is_yes_no_question(run.question) else ""
    quoted = await quote_evidence(run)
    first = frozenset(run.evidence.get_handle(quotation.passage) for quotation in quoted.quotations)
    sources = select_writer_notes(run, MAX_SENTENCE_SOURCES, first)
    question = f"{run.task}\nIn other words: {quoted.restated}" if quoted.restated else run.task
    sentence = await run.ask(AnswerSentence(question, sources, opening))
    written = read_response(run, sentence)
    if not written.parts:
        return replace(quoted, raw=written.raw)
    return replace(
        quoted,
        parts=(*written.parts, *quoted.parts),
        origin="sentence",
        short_answer=written.short_answer or quoted.short_answer,
        raw=sentence.raw or sentence.answer,
    )


# -- What the writer sees ----------------------------------------------------------------------------------------------


def select_writer_notes(
    run: RunState, max_sources: int | None = None, first: frozenset[str] = frozenset()
) -> tuple[Note, ...]:
    """Return the facts of the belief in one note, and the passages that fit into the writer's prompt.

    Everything is shown that fits the model's context and half of the tokens that are left: the check needs the rest. If it
    does not fit, passages are ranked: pinned ones, those with a handle in ``first``, those that the facts come from, those
    most similar to the question. At most ``max_sources`` and ``bounds.sources`` are taken, listed document by document.
    """
    tokens_left, _ = run.compute_prompt_budget(limit_output(run))
    if run.budget.tokens_left is not None:
        tokens_left = min(tokens_left, max(MIN_PROMPT_TOKENS, run.budget.tokens_left // 2))
    limits = [limit for limit in (max_sources, run.budget.bounds.sources) if limit is not None]
    fact_tokens = min(MAX_EVIDENCE_TOKENS // 10, tokens_left // 2)
    kept = [Note(note.fact, (note.source,), kind=BELIEF_KIND) for note in run.kept_notes.values()]
    facts = [*kept, *(note for note in run.memory.render(fact_tokens) if note.kind == BELIEF_KIND)]
    fact_position = {handle: position for position, fact in reversed(list(enumerate(facts))) for handle in fact.handles}

    def rank(passage: Passage) -> tuple[bool, bool, int, float]:
        return (
            passage.id not in run.pinned_ids,
            run.evidence.get_handle(passage) not in first,
            fact_position.get(run.evidence.get_handle(passage), len(facts)),
            -(run.follow_ups.get_similarity(passage) + (passage.score or 0.0)),
        )

    chosen: set[str] = set()
    for passage in sorted(run.evidence, key=rank)[: min(limits, default=None)]:
        tokens_left -= estimate_tokens(passage.text) + estimate_tokens(passage.title) + _NOTE_MARKUP_TOKENS
        if tokens_left < 0 and chosen:
            break
        chosen.add(passage.id)
    documents = _group_by_document(passage for passage in run.evidence if passage.id in chosen)
    sources = tuple(
        run.evidence.make_note(passage)
        for own in documents
        for passage in sorted(own, key=lambda one: (one.place.page or 0, (one.place.lines or (0, 0))[0]))
    )
    shown = {handle for note in sources for handle in note.handles}
    noted = dict.fromkeys(_write_fact(fact) for fact in facts if shown.issuperset(fact.handles))
    return (*([Note("\n".join(noted), (), _FACTS_TITLE, BELIEF_KIND)] if noted else ()), *sources)


def _write_fact(fact: Note) -> str:
    """Return a fact with the handles of its sources behind it, so that each handle heads one text only: its passage."""
    return " ".join(["-", fact.text.strip(), *(handle for handle in fact.handles if handle not in fact.text)])


def _group_by_document(passages: Iterable[Passage]) -> list[list[Passage]]:
    """Return the passages of each document together, the documents as they were found."""
    documents: dict[str, list[Passage]] = {}
    for passage in passages:
        documents.setdefault(passage.place.path, []).append(passage)
    return list(documents.values())


def limit_output(run: RunState) -> int:
    """Return the tokens that the answer may have: few for a fact, else the setting, and at most a quarter of what the model
    reads."""
    limit = LOOKUP_TOKENS if choose_instruction(run).is_lookup else run.max_report_tokens
    return limit if run.model.context is None else min(limit, max(LOOKUP_TOKENS, run.model.context // 4))


# -- How the answer is to be written -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WritingInstruction:
    """How to write the answer. ``count`` is the number of list sections that the task asks for, 0 if it names none;
    ``is_lookup`` means that a few sentences are enough."""

    variant: str
    version: str
    text: str
    count: int = 0
    is_lookup: bool = False


def choose_instruction(run: RunState) -> WritingInstruction:
    """Choose the writing instruction for a run's task: ``count`` for a list, else the first variant whose keywords match.

    What the run's skills say is added to it, and for a research summary of data series that they have anchors.
    """
    chosen = _choose_variant(run)
    is_anchored = chosen.variant == "research" and any(passage.kind == DATA_KIND for passage in run.evidence)
    anchors = load_snippet("writing/anchors") if is_anchored else ""
    texts = filter(None, (chosen.text, anchors, run.skill_instruction, run.plan_advice))
    return replace(chosen, text="\n\n".join(texts))


def _choose_variant(run: RunState) -> WritingInstruction:
    if get_task_type(run) == "enumerated":
        count, file = _expected_count(run), load_template("writing/count")
        return WritingInstruction("count", file.version, file.body.substitute(count=count or "separate"), count)
    planned = run.current_plan.form if run.current_plan is not None else ""
    variant = planned if planned in VARIANT_ORDER else find_variant(run.task)
    file = load_template(f"writing/{variant}")
    is_deep = run.breadth != "narrow" or (run.current_plan is not None and run.current_plan.complexity == "deep")
    if variant in _LOOKUP_VARIANTS and is_lookup(run.task) and not is_deep and not run.skill_instruction:
        text = load_snippet("writing/lookup")
        opening = " Begin with Yes or No." if is_yes_no_question(run.task) else ""
        return WritingInstruction(variant, file.version, text + opening, is_lookup=True)
    return WritingInstruction(variant, file.version, file.body.template)


def get_task_type(run: RunState) -> TaskType:
    """Return the task's type: from its wording if that names a number of items or there is no plan, else from the plan."""
    if run.current_plan is None or parse_item_count(run.task) is not None:
        return classify_task(run.task)
    return run.current_plan.task_type


def _expected_count(run: RunState) -> int:
    """Return how many items the task asks for. The plan's number counts only if the task mentions it: models guess one."""
    count = parse_item_count(run.task)
    planned = None if run.current_plan is None else run.current_plan.expected_sections
    if count is None and planned is not None and mentions_number(run.task, planned):
        return planned
    return count or 0


def find_variant(task: str) -> str:
    """Return the writing variant whose keywords the task has; ``prose`` suits every task."""
    for name in VARIANT_ORDER:
        keywords = load_template(f"writing/{name}").keywords
        if any(re.search(rf"\b{re.escape(word)}\b", task, re.IGNORECASE) for word in keywords):
            return name
    return VARIANT_ORDER[-1]


def list_caveats(run: RunState, stop: Stop) -> tuple[Notice, ...]:
    """Return what both the writer and the reader must know about the search."""
    caveats = [Notice("degraded")] if run.searches.is_degraded else []
    if run.is_insufficient(stop.reason):
        caveats.append(Notice("insufficient"))
    return tuple(caveats)


# -- Asking the model --------------------------------------------------------------------------------------------------


async def draft_answer(run: RunState, notes: tuple[Note, ...], stop: Stop) -> Draft:
    """Draft the whole answer, section by section if there is an outline; raise ``ModelError`` if nothing was written."""
    instruction = choose_instruction(run)
    prompt = DraftAnswer(
        run.task,
        notes,
        tuple(map(describe_notice, list_caveats(run, stop))),
        instruction=instruction.text,
        count=instruction.count,
        lists=name_lists(run),
        length=str(run.length or ""),
        max_tokens=limit_output(run),
        today=run.today,
    )
    if instruction.count or len(run.outline.topics) < 2:
        return await _draft_whole(run, prompt)
    section_notes = await asyncio.to_thread(_assign_notes, run, notes)
    prompts = [
        # Only the first section states the caveats.
        replace(prompt, notes=own, caveats=() if number else prompt.caveats, section=topic)
        for number, (topic, own) in enumerate(zip(run.outline.topics, section_notes, strict=True))
    ]
    answers = await asyncio.gather(*map(run.try_ask, prompts))
    if not any(answers):
        raise ModelError("The model wrote no section of the answer")
    drafts = [read_response(run, answer) if answer else Draft() for answer in answers]
    joined = _join_sections(run.outline.topics, drafts)
    # If no topic has evidence, all the evidence together may still answer the question.
    return joined if joined.parts else await _draft_whole(run, prompt)


def name_lists(run: RunState) -> str:
    """Return the headings of the lists that may follow the answer: none for a fact or a list, nor in another language, because
    the headings are read back in English; the writer then has headings of its own."""
    instruction = choose_instruction(run)
    is_own = instruction.is_lookup or instruction.count or run.language not in (None, ENGLISH)
    return "" if is_own else ", ".join(f'"## {section}"' for section in WRITTEN_SECTIONS)


async def _draft_whole(run: RunState, prompt: DraftAnswer) -> Draft:
    """Draft the answer in one call. If a list is too short, ask once more and take the longer list."""
    if run.is_strong:
        notes = refer_to_copies(drop_repeated_titles(prompt.notes))
        prompt = replace(prompt, notes=tuple(map(drop_repeated_columns, notes)))
    first = read_response(run, await run.ask(prompt))
    count = count_list_sections(first.parts)
    if count >= prompt.count or not first.parts:
        return first
    correction = _TOO_FEW_SECTIONS.format(there=count, wanted=prompt.count)
    again = await run.try_ask(replace(prompt, correction=correction))
    second = first if again is None else read_response(run, again)
    return second if count_list_sections(second.parts) > count else first


def _assign_notes(run: RunState, notes: tuple[Note, ...]) -> list[tuple[Note, ...]]:
    return [
        tuple(notes[i] for i in run.outline.select_notes(number, notes, NOTES_PER_SECTION))
        for number in range(len(run.outline.topics))
    ]


def _join_sections(topics: Sequence[str], drafts: Sequence[Draft]) -> Draft:
    """Return the sections as one draft."""
    lists = {section: [draft.lists.get(section, ()) for draft in drafts] for section in WRITTEN_SECTIONS}
    lists[ReportSection.FINDINGS] = [own[:1] for own in lists[ReportSection.FINDINGS] if own][:_MAX_FINDINGS]
    return Draft(
        _join_parts(topics, drafts),
        lists={section: tuple(dict.fromkeys(chain(*own))) for section, own in lists.items() if any(own)},
        open_questions=tuple(dict.fromkeys(line for draft in drafts for line in draft.open_questions)),
        short_answer=next((draft.short_answer for draft in drafts if draft.short_answer), ""),
        raw="\n\n".join(draft.raw or "" for draft in drafts).strip(),
    )


def _join_parts(topics: Sequence[str], drafts: Sequence[Draft]) -> tuple[Part, ...]:
    """Return the parts of the sections, each below its topic; what an earlier one quotes or cites is left out."""
    seen: set[Statement | Quotation] = set()
    parts: list[Part] = []

    def drop_repeated(statement: Statement) -> tuple[Statement, ...]:
        is_repeated = statement in seen and bool(statement.handles)
        seen.add(statement)
        return () if is_repeated else (statement,)

    for topic, draft in zip(topics, drafts, strict=True):
        own = replace_statements(tuple(part for part in draft.parts if part not in seen), drop_repeated)
        parts += [SectionHeading(escape_markdown(topic)), *own] if own else []
        seen.update(draft.quotations)
    return tuple(parts)


# -- Reading what the model wrote --------------------------------------------------------------------------------------


def read_response(run: RunState, response: SynthesisResponse) -> Draft:
    """Return what a model wrote as a draft: without wrapping, unknown citations, links to other places than sources, and
    excess list items. What cites nothing is for the claim check to judge.
    """
    instruction = choose_instruction(run)
    # An invented citation stays until the check: without it the sentence would pass for one that claims no source.
    answer = check_citations(run, unwrap_markdown(response.answer), drop=False)
    parts = parse_parts(_require_anchors(run, instruction.variant, answer))
    lists = zip(WRITTEN_SECTIONS, (response.key_findings, response.recommendations, response.risks), strict=True)
    statements = {name: [build_statement(check_citations(run, line)) for line in lines] for name, lines in lists}
    return Draft(
        trim_list_sections(parts, instruction.count) if instruction.count else parts,
        lists={name: tuple(lines) for name, lines in statements.items() if lines},
        open_questions=tuple(check_citations(run, line) for line in response.open_questions),
        short_answer=response.short_answer,
        sufficiency=response.sufficiency,
        raw=response.raw or response.answer,
    )


def _require_anchors(run: RunState, variant: str, answer: str) -> str:
    """Add the citations of data sources that figures come from; record once what is missing and cannot be added."""
    text, missing = add_anchors(answer, variant, run.evidence)
    recorded = {failure.message for failure in run.error_log if failure.kind == "MissingAnchor"}
    for message in missing:
        if message not in recorded:
            run.record_failure(Failure("anchors", "MissingAnchor", message))
    return text


def check_citations(run: RunState, text: str, *, drop: bool = True) -> str:
    """Drop citations that name no passage of the run and record each as a failure; turn foreign links into text.

    Without ``drop`` unknown citations are only recorded.
    """
    text = split_citation_groups(neutralize_links(text, {passage.url for passage in run.evidence if passage.url}))
    resolve = run.evidence.resolve_citation
    checked, unknown = drop_unknown_citations(text, resolve)
    for handle in unknown:
        run.record_failure(
            Failure("citations", "InventedCitation", f"the draft cited {handle}, which is not a source of this run")
        )
    if drop:
        return checked
    return drop_unknown_citations(text, lambda cited: resolve(cited) or (cited if is_handle(cited) else None))[0]


def unwrap_markdown(markdown: str) -> str:
    """Remove a code fence around the whole text and a greeting before its title; close a code block left open.

    Text before the title stays if it cites a source, because then it is not a greeting.
    """
    text = markdown.strip()
    inside = unwrap_fence(text, ("", "markdown", "md"))
    if inside is not None and find_headings(inside):
        text = inside.strip()
    titles = [heading.start for heading in find_headings(text) if heading.level == 1]
    if titles and not has_citation(text[: titles[0]]):
        text = text[titles[0] :].strip()
    fence = find_open_fence(text)
    return f"{text}\n{fence}" if fence else text


def count_list_sections(parts: Sequence[Part]) -> int:
    """Return how many level-2 sections are items of a list, not introduction, conclusion and the like."""
    return sum(map(_is_list_heading, parts))


def trim_list_sections(parts: Sequence[Part], limit: int) -> tuple[Part, ...]:
    """Remove the list items after the first ``limit``; structural sections stay."""
    kept: list[Part] = []
    count, is_kept = 0, True
    for part in parts:
        if isinstance(part, SectionHeading) and part.level <= 2:
            count += _is_list_heading(part)
            is_kept = count <= limit or not _is_list_heading(part)
        if is_kept:
            kept.append(part)
    return tuple(kept)


def _is_list_heading(part: Part) -> bool:
    if not isinstance(part, SectionHeading) or part.level != 2:
        return False
    return _LEADING_NUMBER.sub("", part.text).lower().strip(" :.") not in _STRUCTURAL_HEADINGS


def render_with_lists(run: RunState, draft: Draft) -> str:
    """Return the draft as Markdown with its lists of findings, recommendations and risks, as a reviewer reads it."""
    sections = (f"## {name}\n\n" + "\n".join(f"- {one.text}" for one in lines) for name, lines in draft.lists.items())
    return "\n\n".join((render_draft(run, draft), *sections))


def render_draft(run: RunState, draft: Draft) -> str:
    """Return the draft as Markdown that cites the run's handles."""
    return render_parts(draft.parts, lambda quotation: run.evidence.get_handle(quotation.passage))
