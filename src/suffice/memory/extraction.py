"""What may enter a belief. A finding is held against the record; what does not pass is refused, with the reason on record.

Refused are: handles that nobody gave out, findings without a source, artefacts ("no evidence for …"), repetitions,
contradictions and names or numbers that no source has, and, if the mind is grounded, findings about another entity.
"""

import re
from collections.abc import Iterable, Sequence

from suffice.memory.base import MemoryContext
from suffice.memory.evidence import Evidence
from suffice.prompts import Extract, ExtractedFact, Extraction
from suffice.text.citations import parse_handle, strip_citations
from suffice.text.entities import content_stems, extract_names, strip_parenthetical
from suffice.text.tokens import jaccard, tokenize
from suffice.types import BELIEF_KIND, Note, Round

MAX_FACT_CHARS = 400  # Characters of a fact: one sentence.
_REPETITION_THRESHOLD = 0.8
_PREFIX_LENGTH = 5  # Letters by which "German" is known from "Germany".
_NO_EVIDENCE_PHRASE = re.compile(
    r"""\b(?:no|without|lack(?:s|ing)?(?:\s+of)?|insufficient|not\s+(?:any|enough))\s+(?:\w+\s+){0,2}
          (?:evidence|information|mention|data|details?|results?|records?|answers?|sources?|indication)\b
      | \b(?:not|never|n't|nor)\s+(?:\w+\s+)?(?:mention|stat(?:e|ed)|specif|found|provid|available|known|clear|
          contain|say\b|given|determin|identif|address|discuss|disclos|reveal|answer)
      | \bnothing\s+(?:\w+\s+){0,2}(?:about|found|known|said|says)\b | \bunknown\b | \bunclear\b | \bcannot\s+be\s+\w+""",
    re.VERBOSE | re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not?|never|neither|nor|without|none|cannot)\b|n['’]t\b", re.IGNORECASE)


def admit_fact(
    finding: ExtractedFact, known: Sequence[Note], task: str, evidence: Evidence, context: MemoryContext
) -> Note | None:
    """The finding as a fact of the belief; ``None`` when it was refused."""
    text = " ".join(strip_citations(finding.text).split())  # Its sources are its handles.
    handles = _resolve_handles(finding, evidence, context)
    why = _find_refusal_reason(text, handles, known, task, evidence)
    if (
        why is None
        and context.grounded
        and not _is_on_topic(text, handles, finding.about, known, task, evidence, context)
    ):
        why = "it is about another entity than the question"
    if why is not None:
        context.record_refusal(f"not believed, {why}: {text[:MAX_FACT_CHARS]!r}")
        return None
    return Note(text, handles, kind=BELIEF_KIND, whole=False)


def _resolve_handles(finding: ExtractedFact, evidence: Evidence, context: MemoryContext) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for given in finding.handles:
        handle = parse_handle(given)
        if handle is not None and evidence.find_passage(handle) is not None:
            found[handle] = None
        else:
            context.record_refusal(
                f"{given[:40]!r} is no passage of this run; it was dropped from {finding.text[:80]!r}"
            )
    return tuple(found)


def _find_refusal_reason(
    text: str, handles: tuple[str, ...], known: Sequence[Note], task: str, evidence: Evidence
) -> str | None:
    if not handles:
        return "it has no source"
    if not content_stems(text):
        return "it says nothing"
    if len(text) > MAX_FACT_CHARS:
        return f"it is longer than {MAX_FACT_CHARS} characters"
    sources = _join_sources(handles, evidence)
    verbatim = _normalize(text) in _normalize(sources)
    if not verbatim and _NO_EVIDENCE_PHRASE.search(text):
        return "that something was not found is no fact"
    for fact in known:
        if not _is_repetition(text, fact.text):
            continue
        if bool(_NEGATION.search(text)) == bool(_NEGATION.search(fact.text)):
            return "it repeats the belief"
        if not verbatim:
            return "it contradicts the belief and no source says so"
    odd = None if verbatim else find_unsupported_term(text, [sources, task, *(fact.text for fact in known)])
    return None if odd is None else f"no source of it has {odd!r}"


def _is_repetition(text: str, fact: str) -> bool:
    new, old = content_stems(text), content_stems(fact)
    return new <= old or (
        jaccard(new, old) >= _REPETITION_THRESHOLD and not _extract_numbers(text) - _extract_numbers(fact)
    )


def find_unsupported_term(text: str, sources: Iterable[str]) -> str | None:
    """A name or number of the text that is in none of the sources."""
    there = {word for source in sources for word in tokenize(source)}
    roots = {word[:_PREFIX_LENGTH] for word in there}
    for number in _extract_numbers(text):
        if number not in there:
            return number
    opening = next(iter(tokenize(text)), "")
    for name in extract_names(text):
        # The first word of a sentence has its capital for standing there.
        missing = [word for word in tokenize(name) if word != opening and word[:_PREFIX_LENGTH] not in roots]
        if missing:
            return name
    return None


def _is_on_topic(
    text: str,
    handles: tuple[str, ...],
    about: str,
    known: Sequence[Note],
    task: str,
    evidence: Evidence,
    context: MemoryContext,
) -> bool:
    """The finding, or the title of a source of it, names what the question names, or what a known fact ties to that."""
    question = context.open_questions.find_match(about) or task
    wanted = [content_stems(name) for name in extract_names(question)] or [
        content_stems(name) for name in extract_names(task)
    ]
    wanted = [stems for stems in wanted if stems]
    if not wanted:
        return True
    for fact in known:
        if any(stems <= content_stems(fact.text) for stems in list(wanted)):
            wanted += [
                stems for name in extract_names(fact.text) if (stems := content_stems(name)) and stems not in wanted
            ]
    titles = " ".join(
        strip_parenthetical(passage.title)
        for handle in handles
        if (passage := evidence.find_passage(handle)) is not None
    )
    own = content_stems(f"{titles} {text}")
    return any(stems <= own for stems in wanted)


def _join_sources(handles: Iterable[str], evidence: Evidence) -> str:
    found = (evidence.find_passage(handle) for handle in handles)
    return "\n".join(f"{passage.title}\n{passage.text}" for passage in found if passage is not None)


def _extract_numbers(text: str) -> set[str]:
    return {word for word in tokenize(text) if word[0].isdigit()}


def _normalize(text: str) -> str:
    return " ".join(text.lower().split())


MAX_EXTRACTED_FACTS = 12  # A round does not teach more; what an extractor says beyond is chatter.
MAX_NEW_QUESTIONS = 2  # New questions a round: more of them displace the goal.
MAX_OBSERVATION_CHARS = 6_000  # Characters of new passages that an extractor sees …
MAX_PASSAGE_CHARS = 1_200  # … and of each.


def build_observation(round: Round, evidence: Evidence) -> tuple[Note, ...]:
    """A round's new passages as an extractor sees them, best first, within the bound."""
    notes: list[Note] = []
    left = MAX_OBSERVATION_CHARS
    for passage in round.new:
        if left <= 0:
            break
        text = passage.text[: min(MAX_PASSAGE_CHARS, left)]
        left -= len(text)
        whole = len(text) == len(passage.text)
        notes.append(Note(text, (evidence.get_handle(passage),), passage.title, passage.kind, whole))
    return tuple(notes)


async def extract_facts(
    round: Round, known: Sequence[Note], task: str, evidence: Evidence, context: MemoryContext
) -> tuple[Note, ...]:
    """The facts that a round adds; open questions are closed and opened on the way. Nothing when the model failed."""
    context.open_questions.last_checked_round = round.index
    seen = build_observation(round, evidence)
    if not seen:
        return ()
    answer = await context.ask_model(Extract(task, tuple(known), context.open_questions.open, seen))
    if answer is None:
        context.record_refusal(f"round {round.index} could not be read; the belief stays as it was")
        return ()
    facts: list[Note] = []
    answered: set[str] = set()
    for finding in answer.facts[:MAX_EXTRACTED_FACTS]:
        fact = admit_fact(finding, [*known, *facts], task, evidence, context)
        if fact is not None:
            facts.append(fact)
            answered.add(context.open_questions.find_match(finding.about) or "")
    if len(answer.facts) > MAX_EXTRACTED_FACTS:
        context.record_refusal(
            f"{len(answer.facts) - MAX_EXTRACTED_FACTS} findings of round {round.index}: more than a round can teach"
        )
    _apply_question_updates(answer, answered, [*known, *facts], context)
    return tuple(facts)


async def update_open_questions(round: Round, task: str, evidence: Evidence, context: MemoryContext) -> None:
    """Hold a round against the open questions for a memory that keeps no facts."""
    await extract_facts(round, (), task, evidence, context)


def _apply_question_updates(
    answer: Extraction, answered: set[str], facts: Sequence[Note], context: MemoryContext
) -> None:
    """Close what was answered by a fact; open what was asked. A question that no fact speaks to stays open."""
    for question in answer.resolved:
        meant = context.open_questions.find_match(question)
        if meant is None:
            continue
        stems = content_stems(meant)
        if meant in answered or any(stems & content_stems(fact.text) for fact in facts):
            context.open_questions.resolve(meant)
        else:
            context.record_refusal(f"still open, no fact answers it: {meant!r}")
    if context.open_questions.open_count is not None:  # Nobody works with open questions in this run otherwise.
        for question in answer.questions[:MAX_NEW_QUESTIONS]:
            context.open_questions.add(question)
