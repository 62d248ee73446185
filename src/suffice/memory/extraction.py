"""What an accepted round does to the belief and to the open questions: one ask, and rules that do not trust its answer.

The extractor sees the belief and the new passages, never the history, so a prompt stays as small in round 30 as in round 2.
"""

from collections.abc import Sequence

from suffice.asks import Extract, Extraction
from suffice.memory.admission import admitted
from suffice.memory.base import Mind
from suffice.memory.evidence import Evidence
from suffice.text.entities import content_stems
from suffice.types import Note, Round

MOST_FINDINGS = 12  # A round does not teach more; what an extractor says beyond is chatter.
MOST_QUESTIONS = 2  # New questions a round: more of them displace the goal.
OBSERVED = 6_000  # Characters of new passages that an extractor sees …
OF_EACH = 1_200  # … and of each.


def observation(round: Round, evidence: Evidence) -> tuple[Note, ...]:
    """A round's new passages as an extractor sees them, best first, within the bound."""
    notes: list[Note] = []
    left = OBSERVED
    for passage in round.new:
        if left <= 0:
            break
        text = passage.text[: min(OF_EACH, left)]
        left -= len(text)
        whole = len(text) == len(passage.text)
        notes.append(Note(text, (evidence.handle(passage),), passage.title, passage.kind, whole))
    return tuple(notes)


async def extracted(round: Round, known: Sequence[Note], task: str, evidence: Evidence, mind: Mind) -> tuple[Note, ...]:
    """The facts that a round adds; open questions are closed and opened on the way. Nothing when the model failed."""
    mind.predicates.judged = round.index
    seen = observation(round, evidence)
    if not seen:
        return ()
    answer = await mind.ask(Extract(task, tuple(known), mind.predicates.open, seen))
    if answer is None:
        mind.refuse(f"round {round.index} could not be read; the belief stays as it was")
        return ()
    facts: list[Note] = []
    answered: set[str] = set()
    for finding in answer.facts[:MOST_FINDINGS]:
        fact = admitted(finding, [*known, *facts], task, evidence, mind)
        if fact is not None:
            facts.append(fact)
            answered.add(mind.predicates.find(finding.about) or "")
    if len(answer.facts) > MOST_FINDINGS:
        mind.refuse(f"{len(answer.facts) - MOST_FINDINGS} findings of round {round.index}: more than a round can teach")
    _settle(answer, answered, [*known, *facts], mind)
    return tuple(facts)


async def settle(round: Round, task: str, evidence: Evidence, mind: Mind) -> None:
    """Hold a round against the open questions for a memory that keeps no facts."""
    await extracted(round, (), task, evidence, mind)


def _settle(answer: Extraction, answered: set[str], facts: Sequence[Note], mind: Mind) -> None:
    """Close what was answered by a fact; open what was asked. A question that no fact speaks to stays open."""
    for question in answer.resolved:
        meant = mind.predicates.find(question)
        if meant is None:
            continue
        stems = content_stems(meant)
        if meant in answered or any(stems & content_stems(fact.text) for fact in facts):
            mind.predicates.resolve(meant)
        else:
            mind.refuse(f"still open, no fact answers it: {meant!r}")
    if mind.predicates.reading is not None:  # Nobody works with open questions in this run otherwise.
        for question in answer.questions[:MOST_QUESTIONS]:
            mind.predicates.add(question)
