"""Write the draft of an answer from the evidence of a run that has stopped.

    select_writer_notes → choose_instruction → draft_answer (whole, or section by section) → clean_draft
                                             → draft_sentence (a small model: one sentence, then quotes)

``claims`` cleans each draft with ``clean_draft`` and verifies its claims; ``build`` then numbers the sources.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from suffice.claims.split import drop_unknown_citations
from suffice.errors import ModelError, ModelUnusable
from suffice.models.base import is_language_model
from suffice.models.capability import WriterStyle
from suffice.models.embeddings import embed_static
from suffice.models.extractive.answer import quote_answer
from suffice.models.extractive.excerpts import make_excerpt, render_quotation
from suffice.models.reader import find_reader
from suffice.prompts import AnswerSentence, Draft, SynthesisResponse
from suffice.prompts.base import load_snippet, load_template
from suffice.prompts.writing import extract_first_sentence, split_cited_sentences
from suffice.report.anchors import add_anchors
from suffice.state.outline import TopicOutline, normalize_topics
from suffice.state.prompting import MAX_EVIDENCE_TOKENS
from suffice.state.run import RunState
from suffice.text.citations import has_citation, list_handles, split_citation_groups, strip_citations
from suffice.text.entities import content_stems
from suffice.text.markdown import (
    Section,
    drop_empty_headings,
    escape_markdown,
    find_headings,
    find_open_fence,
    find_sections,
    neutralize_links,
    unwrap_fence,
)
from suffice.text.question import read_question
from suffice.text.quoting import quote_markdown
from suffice.text.task_type import (
    TaskType,
    classify_task,
    is_lookup,
    is_yes_no_question,
    mentions_number,
    parse_item_count,
)
from suffice.text.tokens import estimate_tokens, tokenize
from suffice.types import BELIEF_KIND, COMPUTED_KIND, ClosestPassage, Failure, Note, Passage, Stop

SHORT_ANSWER_LABEL = "**Short answer:**"
DEGRADED_NOTICE = "Search was limited because searches kept failing; this answer is partial."
INSUFFICIENT_NOTICE = (
    "The search ended on a limit before the evidence was judged sufficient; this answer may be incomplete."
)
NOTES_PER_SECTION = 12  # Notes that one section is written from (value of the source system, see docs/sources.md).
# Writing instructions in the order in which they are tried: each is a versioned file under ``prompts/writing`` that lists
# its keywords. ``prose`` has none and suits every task.
VARIANT_ORDER = ("trading", "technical", "research", "prose")

_MAX_SECTIONS = 5  # Sections made from the subtasks of a plan.
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
_SUFFICIENCY_ORDER = ("yes", "partly", "no", "unknown")  # The best section decides about an answer in sections.
_LOOKUP_VARIANTS = ("prose", "technical")
LOOKUP_TOKENS = 800  # Tokens of an answer to a question about a fact.
MAX_SHORT_WORDS = 8
MAX_SENTENCE_SOURCES = 8  # Sources for one sentence: with more, a small model picks the wrong one (docs/writing.md).
_ASKED_LISTS = {
    "Recommendations": re.compile(
        r"\brecommend|\bshould\b|\badvi[cs]e|\bsuggest|\bbest\s+(?:practice|way|choice)|\bhow\s+(?:can|do)\s+(?:i|we)\b"
        r"|\bwhat\s+to\s+do\b",
        re.IGNORECASE,
    ),
    "Risks": re.compile(
        r"\brisk|\bdanger|\bdownside|\bdrawback|\bpitfall|\bsafe(?:ty|ly)?\b|\bthreat|\bcaveat|\bfail|\bthesis\b|\binvest"
        r"|\btrad(?:e|ing)\b",
        re.IGNORECASE,
    ),
}
_PRONOUN = re.compile(
    r"\W*(?:he|she|it|they|this|these|those|his|her|hers|its|their|theirs|him|them)\b(?!\s+(?:is|was|has\s+been|remains)\s+(?:\w+\s+)?"
    r"(?:known|unknown|said|possible|true|clear|unclear|likely|unlikely|not)\b)",
    re.IGNORECASE,
)
_LEADING_NUMBER = re.compile(r"^\W*\d+[.):]?\s*")


async def write_draft(run: RunState, stop: Stop, style: WriterStyle = "prose") -> SynthesisResponse | None:
    """Return the model's draft, empty without evidence, or ``None`` when the model failed."""
    notes = select_writer_notes(run)
    if not notes:
        return SynthesisResponse("")
    run.record_compaction("before writing", sum(note.whole for note in notes))
    if run.must_refuse(Draft.role):
        run.record_refused(Draft.role)
        return await extract_quotes(run, stop)
    try:
        if not is_language_model(run.model):
            return await extract_quotes(run, stop)
        if style == "sentence":
            return await draft_sentence(run, stop)
        return drop_unasked_lists(run.task, await draft_answer(run, notes, list_caveats(run, stop)))
    except ModelUnusable:
        raise
    except ModelError as error:
        run.record_failure(Failure("draft", type(error).__name__, str(error), error.retryable))
        return None


async def draft_sentence(run: RunState, stop: Stop) -> SynthesisResponse:
    """Return one sentence of the model and, below it, what the extractive model quotes: so the answer holds no less than
    it would without the model."""
    opening = "The answer begins with Yes or No." if is_yes_no_question(run.task) else ""
    run.quotes = quoted = await extract_quotes(run, stop)
    first = frozenset(handle for excerpt in quoted.excerpts for handle in excerpt.source.split())
    sources = select_writer_notes(run, MAX_SENTENCE_SOURCES, first)
    question = f"{run.task}\nIn other words: {quoted.restated}" if quoted.restated else run.task
    sentence = await run.ask(AnswerSentence(question, sources, opening))
    if not sentence.answer:
        return quoted
    return replace(
        quoted,
        answer=f"{sentence.answer}\n\n{_drop_short_answer(quoted, sentence.answer)}".strip(),
        summary=sentence.summary,
        short_answer=sentence.short_answer or find_new_words(run.task, sentence.answer) or quoted.short_answer,
    )


def find_new_words(question: str, sentence: str) -> str:
    """Return the one stretch of a sentence that its question does not have: the answer, if the sentence repeats the rest.

    Empty if there are several such stretches, or one is too long to be a short answer.

    >>> find_new_words("Who built the mill at Lidice?", "The mill at Lidice was built by Petr Kolbe [2].")
    'Petr Kolbe'
    """
    if verdict := re.match(r"\W*(yes|no)\b", sentence, re.IGNORECASE):
        return verdict[1].capitalize()
    known, text = content_stems(question), strip_citations(sentence).strip(" .")
    stretches: list[tuple[int, int]] = []
    is_open = False  # Whether only words without content lie between this word and the last new one.
    for word in re.finditer(r"[\w’'.&-]+", text):
        stems = content_stems(word[0])
        if not stems:
            continue
        is_new = not stems <= known
        if is_new and is_open:
            stretches[-1] = stretches[-1][0], word.end()
        elif is_new:
            stretches.append((word.start(), word.end()))
        is_open = is_new
    if len(stretches) != 1:
        return ""
    found = text[slice(*stretches[0])].strip(' .,;"“”')
    return found if len(found.split()) <= MAX_SHORT_WORDS else ""


def _drop_short_answer(quoted: SynthesisResponse, sentence: str) -> str:
    """Return the quotes without the short answer above them: the model's sentence takes its place."""
    first, _, rest = quoted.answer.partition("\n\n")
    return rest if first.startswith(SHORT_ANSWER_LABEL) else quoted.answer


async def quote_sources(run: RunState, stop: Stop) -> SynthesisResponse:
    """Return a draft of verbatim quotes, for when no claim of the model's draft was supported."""
    run.has_quote_fallback = True
    run.record_failure(
        Failure("draft", "Unsupported", "no source supports a claim of the draft; the sources are quoted instead")
    )
    # The claim check may have found more passages since: what it looked for was wrong, so they are not quoted.
    return run.quotes or await extract_quotes(run, stop)


async def extract_quotes(run: RunState, stop: Stop) -> SynthesisResponse:
    """Return the answer that the extractive model gives from the run's evidence."""
    passages = [passage for passage in run.evidence if passage.kind != COMPUTED_KIND]
    count = choose_instruction(run).count
    reader = find_reader() if run.embed is not None else None
    task = re.sub(r" \(after: .*\)$", "", run.task, flags=re.DOTALL)
    embed = None if run.embed is None else embed_static
    found = await asyncio.to_thread(quote_answer, read_question(task), passages, embed, reader, count=count)
    handles = [run.evidence.get_handle(quotation.passage) for quotation in found.quotations]
    rendered = [
        render_quotation(quotation, handle, number if count else 0)
        for number, (quotation, handle) in enumerate(zip(found.quotations, handles, strict=True), 1)
    ]
    if found.short_answer:
        rendered.insert(0, f"{SHORT_ANSWER_LABEL} {quote_markdown(found.short_answer, is_start=False)} {handles[0]}")
    excerpts = [make_excerpt(*pair) for pair in zip(found.quotations, handles, strict=True)]
    closest = [
        ClosestPassage(one.text, one.format, (), one.title, one.location, item.missing)
        for item in found.closest
        for one in (make_excerpt(item.quotation, ""),)
    ]
    return SynthesisResponse(
        "\n\n".join(rendered),
        summary=f"{quote_markdown(excerpts[0].text[:300])} {handles[0]}" if excerpts else "",
        open_questions=run.gaps,
        short_answer=found.short_answer,
        excerpts=tuple(excerpts),
        closest=tuple(closest),
        sufficiency=found.sufficiency,
        restated=found.restated,
    )


def is_insufficient(run: RunState, stop: Stop) -> bool:
    """Return whether the search ended on a limit before the evidence was judged sufficient."""
    return run.is_insufficient(stop.reason)


def list_caveats(run: RunState, stop: Stop) -> tuple[str, ...]:
    """Return the notices that the writer and the reader must know about."""
    caveats = [DEGRADED_NOTICE] if run.is_degraded else []
    if is_insufficient(run, stop):
        caveats.append(INSUFFICIENT_NOTICE)
    return tuple(caveats)


# -- What the writer sees ----------------------------------------------------------------------------------------------


def select_writer_notes(
    run: RunState, max_sources: int | None = None, first: frozenset[str] = frozenset()
) -> tuple[Note, ...]:
    """Return the facts of the belief and the passages that fit into the writer's prompt.

    Passages are ranked: pinned ones, those with a handle in ``first``, those that the facts come from, those most similar to
    the question. At most ``max_sources`` and ``bounds.sources`` are taken, and they are listed in the order in which they were
    found. A fact is left out when one of its passages is.
    """
    tokens_left, _ = run.compute_prompt_budget(limit_output(run))
    limits = [limit for limit in (max_sources, run.budget.bounds.sources) if limit is not None]
    fact_tokens = min(MAX_EVIDENCE_TOKENS // 10, tokens_left // 2)
    facts = [note for note in run.memory.render(fact_tokens) if note.kind == BELIEF_KIND]
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
    sources = tuple(
        Note(passage.text, (run.evidence.get_handle(passage),), passage.title, passage.kind, place=passage.place)
        for passage in run.evidence
        if passage.id in chosen
    )
    shown = {handle for note in sources for handle in note.handles}
    return (*(fact for fact in facts if shown.issuperset(fact.handles)), *sources)


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

    What the run's skills say is added to it.
    """
    chosen = _choose_variant(run)
    return replace(chosen, text=f"{chosen.text}\n\n{run.extra_instruction}") if run.extra_instruction else chosen


def _choose_variant(run: RunState) -> WritingInstruction:
    if get_task_type(run) == "enumerated":
        count, file = _expected_count(run), load_template("writing/count")
        return WritingInstruction("count", file.version, file.body.substitute(count=count or "separate"), count)
    variant = find_variant(run.task)
    file = load_template(f"writing/{variant}")
    if variant in _LOOKUP_VARIANTS and is_lookup(run.task):
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
    if count is None and run.current_plan is not None:
        planned = run.current_plan.expected_sections
        if planned is not None and mentions_number(run.task, planned):
            count = planned
    return count or 0


def find_variant(task: str) -> str:
    """Return the writing variant whose keywords the task has; ``prose`` suits every task."""
    return next(name for name in VARIANT_ORDER if _matches_variant(name, task))


def _matches_variant(variant: str, task: str) -> bool:
    keywords = load_template(f"writing/{variant}").keywords
    return not keywords or any(re.search(rf"\b{re.escape(word)}\b", task, re.IGNORECASE) for word in keywords)


# -- Asking the model --------------------------------------------------------------------------------------------------


async def draft_answer(run: RunState, notes: tuple[Note, ...], caveats: tuple[str, ...]) -> SynthesisResponse:
    """Draft the whole answer, section by section if there is an outline; raise ``ModelError`` if nothing was written."""
    instruction = choose_instruction(run)
    prompt = Draft(
        run.task,
        notes,
        run.gaps,
        caveats,
        instruction=instruction.text,
        count=instruction.count,
        lists=_offer_lists(run.task, instruction),
        max_tokens=limit_output(run),
    )
    outline = None if instruction.count else await asyncio.to_thread(_choose_outline, run)
    if outline is None or len(outline.topics) < 2:
        return await _draft_whole(run, prompt)
    section_notes = await asyncio.to_thread(_assign_notes, outline, notes)
    prompts = [
        # Only the first section states the caveats.
        replace(prompt, notes=own, caveats=() if number else caveats, section=topic)
        for number, (topic, own) in enumerate(zip(outline.topics, section_notes, strict=True))
    ]
    answers = [answer and _unwrap(answer) for answer in await asyncio.gather(*map(run.try_ask, prompts))]
    if not any(answers):
        raise ModelError("The model wrote no section of the answer")
    joined = _join_sections(outline.topics, answers)
    # If no topic has evidence, all the evidence together may still answer the question.
    return joined if joined.answer else await _draft_whole(run, prompt)


async def _draft_whole(run: RunState, prompt: Draft) -> SynthesisResponse:
    """Draft the answer in one call. If a list is too short, ask once more and take the longer list."""
    first = _unwrap(await run.ask(prompt))
    count = len(find_list_sections(first.answer))
    if count >= prompt.count or not first.answer or not is_language_model(run.model):
        return first
    correction = _TOO_FEW_SECTIONS.format(there=count, wanted=prompt.count)
    again = await run.try_ask(replace(prompt, correction=correction))
    second = first if again is None else _unwrap(again)
    return second if len(find_list_sections(second.answer)) > count else first


def _offer_lists(task: str, instruction: WritingInstruction) -> str:
    """Return the headings of the lists that the writer may add: advice and risks only for a task that asks for them."""
    headings = [] if instruction.is_lookup or instruction.count else ["Key findings"]
    headings += [heading for heading, words in _ASKED_LISTS.items() if words.search(task)]
    return ", ".join(f'"## {heading}"' for heading in headings)


def drop_unasked_lists(task: str, draft: SynthesisResponse) -> SynthesisResponse:
    """Return the draft without recommendations and risks that the task does not ask for."""
    return replace(
        draft,
        recommendations=draft.recommendations if _ASKED_LISTS["Recommendations"].search(task) else (),
        risks=draft.risks if _ASKED_LISTS["Risks"].search(task) else (),
    )


def _choose_outline(run: RunState) -> TopicOutline:
    """Return the run's outline, or one made from the subtasks of a deep task, whose answer would not fit into one reply."""
    if run.outline.topics or run.current_plan is None or run.current_plan.complexity != "deep":
        return run.outline
    outline = TopicOutline(run.embed)
    topics = normalize_topics(run.current_plan.subtasks, _MAX_SECTIONS)
    outline.add_topics(topics, topics)
    return outline


def _assign_notes(outline: TopicOutline, notes: tuple[Note, ...]) -> list[tuple[Note, ...]]:
    """Return the notes for each topic of the outline."""
    return [
        tuple(notes[i] for i in outline.select_notes(number, notes, NOTES_PER_SECTION))
        for number in range(len(outline.topics))
    ]


def _join_sections(topics: Sequence[str], answers: Sequence[SynthesisResponse | None]) -> SynthesisResponse:
    seen_lines: set[str] = set()
    blocks: list[str] = []
    written: list[SynthesisResponse] = []
    for topic, answer in zip(topics, answers, strict=True):
        text = _drop_repeated_lines(answer.answer, seen_lines) if answer is not None else ""
        if answer is not None and text:
            blocks.append(f"## {escape_markdown(topic)}\n\n{text}")
            written.append(answer)
    recommendations, risks, questions = (
        _deduplicate(line for answer in written for line in getattr(answer, name))
        for name in ("recommendations", "risks", "open_questions")
    )
    return SynthesisResponse(
        "\n\n".join(blocks),
        next((answer.summary for answer in written if answer.summary), ""),
        _deduplicate(answer.key_findings[0] for answer in written if answer.key_findings)[:_MAX_FINDINGS],
        recommendations,
        risks,
        questions,
        short_answer=next((answer.short_answer for answer in written if answer.short_answer), ""),
        excerpts=tuple(dict.fromkeys(excerpt for answer in written for excerpt in answer.excerpts)),
        closest=() if written else next((answer.closest for answer in answers if answer is not None), ()),
        sufficiency=min((answer.sufficiency for answer in written), key=_SUFFICIENCY_ORDER.index, default="unknown"),
    )


def _drop_repeated_lines(text: str, seen_lines: set[str]) -> str:
    """Remove cited lines that an earlier section has, and headings that are left without text."""
    blocks: list[str] = []
    for block in text.strip().split("\n\n"):
        lines = [line for line in block.splitlines() if line not in seen_lines or not has_citation(line)]
        if lines:
            blocks.append("\n".join(lines))
        seen_lines.update(lines)
    return drop_empty_headings("\n\n".join(blocks)).strip()


def _deduplicate(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))


# -- Finishing a verified text -----------------------------------------------------------------------------------------


def finish_text(run: RunState, text: SynthesisResponse) -> SynthesisResponse:
    """Return the verified text as it is reported: it opens with its subject, has a summary, and its short answer stands
    in it."""
    answer = lead_with_subject(text.answer, partial(_get_title, run))
    return replace(
        text,
        answer=answer,
        summary=text.summary if text.summary and not _PRONOUN.match(text.summary) else extract_first_sentence(answer),
        short_answer=text.short_answer if _stands_in(text.short_answer, answer) else "",
    )


def lead_with_subject(text: str, get_title: Callable[[str], str]) -> str:
    """Return the text with a sentence in front that names its subject, if it opens with a pronoun.

    The claim check may have removed the sentence that the pronoun refers to. A later sentence that names its subject moves
    to the front; without one, the title of the cited source, which ``get_title`` returns, precedes the pronoun.
    """
    blocks = text.split("\n\n")
    number = next((i for i, block in enumerate(blocks) if block[:1].isalpha()), None)
    if number is None or not _PRONOUN.match(blocks[number]):
        return text
    sentences = split_cited_sentences(blocks[number])
    named = next((sentence for sentence in sentences if not _PRONOUN.match(sentence)), None)
    if named is not None:
        sentences.remove(named)
        blocks[number] = " ".join([named, *sentences])
        return "\n\n".join(blocks)
    later = next(
        (i for i in range(number + 1, len(blocks)) if blocks[i][:1].isalpha() and not _PRONOUN.match(blocks[i])), None
    )
    if later is not None and not any(block.startswith("#") for block in blocks[number:later]):
        blocks.insert(number, blocks.pop(later))
        return "\n\n".join(blocks)
    title = next((title for handle in list_handles(blocks[number]) if (title := get_title(handle))), "")
    if title:
        blocks[number] = f"{escape_markdown(title)}: {blocks[number][0].lower()}{blocks[number][1:]}"
    return "\n\n".join(blocks)


def _get_title(run: RunState, handle: str) -> str:
    passage = run.evidence.find_passage(handle)
    return "" if passage is None else " ".join(passage.title.split())


def _stands_in(short_answer: str, answer: str) -> bool:
    """Return whether the words of a short answer stand in the answer. Yes and no must open it."""
    words = tokenize(short_answer)
    if words and words[0] in ("yes", "no"):
        opening = tokenize(answer)[:1]
        return bool(answer.strip()) and (opening == words[:1] or opening not in (["yes"], ["no"]))
    return bool(words) and f" {' '.join(words)} " in f" {' '.join(tokenize(strip_citations(answer)))} "


# -- Cleaning what the model wrote -------------------------------------------------------------------------------------


def clean_draft(run: RunState, draft: SynthesisResponse) -> SynthesisResponse:
    """Return the draft without wrapping, unknown citations, links to other places than sources, and excess list items.

    Findings, recommendations and risks that cite nothing are removed, because they can only come from the evidence.
    """
    instruction = choose_instruction(run)
    count = instruction.count
    answer = _check_citations(run, unwrap_markdown(draft.answer))
    if is_language_model(run.model):
        answer = _require_anchors(run, instruction.variant, answer)
    findings, recommendations, risks = (
        tuple(line for line in (_check_citations(run, line) for line in lines) if has_citation(line))
        for lines in (draft.key_findings, draft.recommendations, draft.risks)
    )
    return replace(
        draft,
        answer=trim_list_sections(answer, count) if count else answer,
        summary=_check_citations(run, draft.summary),
        key_findings=findings,
        recommendations=recommendations,
        risks=risks,
        open_questions=tuple(_check_citations(run, line) for line in draft.open_questions),
    )


def _require_anchors(run: RunState, variant: str, answer: str) -> str:
    """Add the citations of data sources that figures come from; record once what is missing and cannot be added."""
    anchored = add_anchors(answer, variant, run.evidence)
    recorded = {failure.message for failure in run.error_log if failure.kind == "MissingAnchor"}
    for message in anchored.missing:
        if message not in recorded:
            run.record_failure(Failure("anchors", "MissingAnchor", message))
    return anchored.text


def _check_citations(run: RunState, text: str) -> str:
    """Drop citations that name no passage of the run and record each as a failure; turn foreign links into text."""
    text = neutralize_links(text, {passage.url for passage in run.evidence if passage.url})
    checked, unknown = drop_unknown_citations(split_citation_groups(text), run.evidence.resolve_citation)
    for handle in unknown:
        run.record_failure(
            Failure("citations", "InventedCitation", f"the draft cited {handle}, which is not a source of this run")
        )
    return checked


def _unwrap(written: SynthesisResponse) -> SynthesisResponse:
    return replace(written, answer=unwrap_markdown(written.answer))


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


def find_list_sections(markdown: str) -> list[Section]:
    """Return the level-2 sections that are items of a list, without introduction, conclusion and the like."""
    return [
        section
        for section in find_sections(markdown, 2)
        if _LEADING_NUMBER.sub("", section.title).lower().strip(" :.") not in _STRUCTURAL_HEADINGS
    ]


def trim_list_sections(markdown: str, limit: int) -> str:
    """Remove the list items after the first ``limit``; structural sections stay."""
    text = markdown
    for section in reversed(find_list_sections(markdown)[limit:]):
        text = text[: section.start] + text[section.end :]
    return text.rstrip() if text != markdown else markdown
