"""What the harnesses of S3 share: a second chance for a malformed answer, a way on when the model fails, and their finish.

A harness keeps its own working state (thoughts, steps, core memory); what it is shown of the evidence is the memory's business.
It asks for one thing a round.
"""

from collections.abc import Callable
from typing import TypeVar

from suffice.asks import Ask
from suffice.run import Run
from suffice.text.entities import content_stems, entities
from suffice.text.tokens import words
from suffice.types import Failure, Query

A = TypeVar("A")

LONGEST_QUERY = 400  # Characters. What a model writes beyond this is no query.


def ask_for(run: Run, text: str, intent: str) -> list[Query]:
    """The query if it is new; otherwise the way on."""
    return run.fresh([Query(" ".join(text.split())[:LONGEST_QUERY], intent)]) or way_on(run)


def way_on(run: Run) -> list[Query]:
    """Without a usable word from the model the run is not lost: it asks the question itself, then follows its leads."""
    return run.fresh([Query(run.task, "the question itself")]) or run.leads.propose(1)


def spent(run: Run) -> bool:
    """The money is gone. The loop looks only after a round, a harness may ask several times before one."""
    usd = run.model.total.usd
    over_tokens = run.bounds.tokens is not None and run.tokens >= run.bounds.tokens
    return over_tokens or (run.bounds.usd is not None and usd is not None and usd >= run.bounds.usd)


async def ask_twice(run: Run, make: Callable[[str], Ask[A]], fault: Callable[[A], str]) -> A | None:
    """The answer; one with a fault is asked for again, once, with the reason. ``None`` when there is none to be had.

    The second answer comes back as it is: the caller decides what to make of one that is still at fault.
    """
    if spent(run):
        return None
    first = make("")
    answer = await run.attempt(first)
    why = "" if answer is None else fault(answer)
    if not why:
        return answer
    run.fail(Failure(first.role, "ModelOutputError", why, retryable=True))
    if spent(run):
        return answer
    return await run.attempt(make(f"Your last answer could not be used: {why}."))


def finish(run: Run, answer: str) -> list[Query]:
    """The harness is done: nothing more to ask. Its answer is not passed on, for it cites nothing; but the passages that hold
    it go before the writer first."""
    named = [name for name in entities(answer) if not content_stems(name) <= content_stems(run.task)]
    wanted = [f" {' '.join(words(phrase))} " for phrase in named or [answer] if content_stems(phrase)]
    run.pinned.update(
        passage.id
        for passage in run.evidence
        if any(phrase in f" {' '.join(words(passage.text))} " for phrase in wanted)
    )
    return []
