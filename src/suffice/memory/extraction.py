"""What an accepted round does to the belief and to the open questions: one ask, and rules that do not trust its answer.

The extractor sees the belief and the new passages, never the history, so a prompt stays as small in round 30 as in round 2.
"""

from collections.abc import Sequence

from suffice.asks import Extract, Extraction
from suffice.memory.admission import admit_fact
from suffice.memory.base import MemoryContext
from suffice.memory.evidence import Evidence
from suffice.text.entities import content_stems
from suffice.types import Note, Round

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
