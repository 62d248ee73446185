"""Extract facts from a round's passages, and check each fact before it enters the belief.

A model proposes facts with handles. ``admit_fact`` refuses facts that have no known source, say that nothing was found,
repeat or contradict the belief, or contain a name or number that no source has. If the context is grounded, it also refuses
facts about other entities than those of the question. Every refusal is recorded with its reason.
"""

import re
from collections.abc import Iterable, Sequence

from suffice.memory.base import MemoryContext
from suffice.memory.evidence import Evidence
from suffice.prompts.belief import Extract, ExtractedFact, Extraction
from suffice.text.citations import parse_handle, strip_citations
from suffice.text.entities import content_stems, extract_names, strip_parenthetical
from suffice.text.tokens import jaccard, tokenize
from suffice.types import BELIEF_KIND, Note, Round

MAX_FACT_CHARS = 400  # One sentence.
MAX_EXTRACTED_FACTS = 12  # Per round.
MAX_NEW_QUESTIONS = 2  # Per round; more would displace the original question.
MAX_OBSERVATION_CHARS = 6_000  # Of new passages that an extractor sees …
MAX_PASSAGE_CHARS = 1_200  # … and of each.
_REPETITION_THRESHOLD = 0.8
_PREFIX_LENGTH = 5  # Letters that "German" and "Germany" have in common.
_NO_EVIDENCE_PHRASE = re.compile(
    r"""\b(?:no|without|lack(?:s|ing)?(?:\s+of)?|insufficient|not\s+(?:any|enough))\s+(?:\w+\s+){0,2}
          (?:evidence|information|mention|data|details?|results?|records?|answers?|sources?|indication)\b
      | \b(?:not|never|n't|nor)\s+(?:\w+\s+)?(?:mention|stat(?:e|ed)|specif|found|provid|available|known|clear|
          contain|say\b|given|determin|identif|address|discuss|disclos|reveal|answer)
      | \bnothing\s+(?:\w+\s+){0,2}(?:about|found|known|said|says)\b | \bunknown\b | \bunclear\b | \bcannot\s+be\s+\w+""",
    re.VERBOSE | re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not?|never|neither|nor|without|none|cannot)\b|n['’]t\b", re.IGNORECASE)


async def extract_facts(
    round: Round, known: Sequence[Note], task: str, evidence: Evidence, context: MemoryContext
) -> tuple[Note, ...]:
    """Return the facts that a round adds to the ``known`` ones, and update the open questions. Empty if the model failed."""
    context.open_questions.last_checked_round = round.index
    observation = build_observation(round, evidence)
    if not observation:
        return ()
    answer = await context.ask_model(Extract(task, tuple(known), context.open_questions.open, observation))
    if answer is None:
        context.record_refusal(f"round {round.index} could not be processed")
        return ()
    facts: list[Note] = []
    answered: set[str] = set()
    for finding in answer.facts[:MAX_EXTRACTED_FACTS]:
        fact = admit_fact(finding, [*known, *facts], task, evidence, context)
        if fact is not None:
            facts.append(fact)
            answered.add(context.open_questions.find_match(finding.about) or "")
    excess = len(answer.facts) - MAX_EXTRACTED_FACTS
    if excess > 0:
        context.record_refusal(
            f"{excess} findings of round {round.index} were dropped: at most {MAX_EXTRACTED_FACTS} are read per round"
        )
    _update_questions(answer, answered, [*known, *facts], context)
    return tuple(facts)


def build_observation(round: Round, evidence: Evidence) -> tuple[Note, ...]:
    """Return a round's new passages as an extractor sees them: best first, cut to the limits."""
    notes: list[Note] = []
    left = MAX_OBSERVATION_CHARS
    for passage in round.new:
        if left <= 0:
            break
        text = passage.text[: min(MAX_PASSAGE_CHARS, left)]
        left -= len(text)
        notes.append(evidence.make_note(passage, text))
    return tuple(notes)


def _update_questions(answer: Extraction, answered: set[str], facts: Sequence[Note], context: MemoryContext) -> None:
    """Close the questions that a fact answers, and open new ones."""
    questions = context.open_questions
    for resolved in answer.resolved:
        question = questions.find_match(resolved)
        if question is None:
            continue
        stems = content_stems(question)
        if question in answered or any(stems & content_stems(fact.text) for fact in facts):
            questions.resolve(question)
        else:
            context.record_refusal(f"still open, no fact answers it: {question!r}")
    for question in answer.questions[:MAX_NEW_QUESTIONS]:
        questions.add(question)


def admit_fact(
    finding: ExtractedFact, known: Sequence[Note], task: str, evidence: Evidence, context: MemoryContext
) -> Note | None:
    """Return the finding as a fact of the belief; ``None`` when it was refused."""
    text = " ".join(strip_citations(finding.text).split())  # The handles carry the citations.
    handles = _resolve_handles(finding, evidence, context)
    reason = _find_refusal_reason(text, handles, known, task, evidence)
    if reason is None and context.grounded:
        question = context.open_questions.find_match(finding.about) or task
        if not is_on_topic(text, handles, question, known, task, evidence):
            reason = "it is about another entity than the question"
    if reason is not None:
        context.record_refusal(f"not believed, {reason}: {text[:MAX_FACT_CHARS]!r}")
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
                f"{given[:40]!r} is not a passage of this run; it was dropped from {finding.text[:80]!r}"
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
    passages = filter(None, map(evidence.find_passage, handles))
    sources = "\n".join(f"{passage.title}\n{passage.text}" for passage in passages)
    is_verbatim = _normalize(text) in _normalize(sources)
    if not is_verbatim and says_not_found(text):
        return "that something was not found is not a fact"
    for fact in known:
        if not _is_repetition(text, fact.text):
            continue
        if bool(_NEGATION.search(text)) == bool(_NEGATION.search(fact.text)):
            return "it repeats the belief"
        if not is_verbatim:
            return "it contradicts the belief and no source says so"
    unsupported = None if is_verbatim else find_unsupported_term(text, [sources, task, *(fact.text for fact in known)])
    return None if unsupported is None else f"no source of it has {unsupported!r}"


def _is_repetition(text: str, fact: str) -> bool:
    new, old = content_stems(text), content_stems(fact)
    return new <= old or (
        jaccard(new, old) >= _REPETITION_THRESHOLD and not _extract_numbers(text) - _extract_numbers(fact)
    )


def find_unsupported_term(text: str, sources: Iterable[str]) -> str | None:
    """Return the first number or name of the text that no source has."""
    words = {word for source in sources for word in tokenize(source)}
    prefixes = {word[:_PREFIX_LENGTH] for word in words}
    for number in _extract_numbers(text):
        if number not in words:
            return number
    first_word = next(iter(tokenize(text)), "")  # Its capital does not make it a name.
    for name in extract_names(text):
        if any(word != first_word and word[:_PREFIX_LENGTH] not in prefixes for word in tokenize(name)):
            return name
    return None


def is_on_topic(
    text: str, handles: tuple[str, ...], question: str, known: Sequence[Note], task: str, evidence: Evidence
) -> bool:
    """Whether the text or a title of its sources names an entity of the question, or one that a known fact links to it."""
    entities = [stems for name in extract_names(question) or extract_names(task) if (stems := content_stems(name))]
    if not entities:
        return True
    for fact in known:
        if any(stems <= content_stems(fact.text) for stems in entities):
            linked = [content_stems(name) for name in extract_names(fact.text)]
            entities += [stems for stems in linked if stems and stems not in entities]
    passages = filter(None, map(evidence.find_passage, handles))
    titles = " ".join(strip_parenthetical(passage.title) for passage in passages)
    own_stems = content_stems(f"{titles} {text}")
    return any(stems <= own_stems for stems in entities)


def says_not_found(text: str) -> bool:
    return bool(_NO_EVIDENCE_PHRASE.search(text))


def _extract_numbers(text: str) -> set[str]:
    return {word for word in tokenize(text) if word[0].isdigit()}


def _normalize(text: str) -> str:
    return " ".join(text.lower().split())
