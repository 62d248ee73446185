"""What the harnesses of S3 share: a second chance for a malformed answer, a way on when the model fails, and their finish.

A harness keeps its own working state (thoughts, steps, core memory); what it is shown of the evidence is the memory's business.
It asks for one thing a round.
"""

from collections.abc import Callable
from typing import TypeVar

from suffice.prompts import Prompt
from suffice.state.run import RunState
from suffice.text.entities import content_stems, extract_entities
from suffice.text.tokens import tokenize
from suffice.types import Failure, Query

A = TypeVar("A")

MAX_QUERY_CHARS = 400  # Characters. What a model writes beyond this is no query.


def propose_query(run: RunState, text: str, intent: str) -> list[Query]:
    """The query if it is new; otherwise the way on."""
    return run.filter_new_queries([Query(" ".join(text.split())[:MAX_QUERY_CHARS], intent)]) or propose_fallback(run)


def propose_fallback(run: RunState) -> list[Query]:
    """Without a usable word from the model the run is not lost: it asks the question itself, then follows its leads."""
    return run.filter_new_queries([Query(run.task, "the question itself")]) or run.follow_ups.propose(1)


def is_model_budget_spent(run: RunState) -> bool:
    """The money is gone. The loop looks only after a round, a harness may ask several times before one."""
    usd = run.model.total.usd
    over_tokens = run.bounds.tokens is not None and run.tokens_used >= run.bounds.tokens
    return over_tokens or (run.bounds.usd is not None and usd is not None and usd >= run.bounds.usd)


async def ask_with_retry(
    run: RunState, make_prompt: Callable[[str], Prompt[A]], find_fault: Callable[[A], str]
) -> A | None:
    """The answer; one with a fault is asked for again, once, with the reason. ``None`` when there is none to be had.

    The second answer comes back as it is: the caller decides what to make of one that is still at fault.
    """
    if is_model_budget_spent(run):
        return None
    first = make_prompt("")
    answer = await run.try_ask(first)
    why = "" if answer is None else find_fault(answer)
    if not why:
        return answer
    run.record_failure(Failure(first.role, "ModelOutputError", why, retryable=True))
    if is_model_budget_spent(run):
        return answer
    return await run.try_ask(make_prompt(f"Your last answer could not be used: {why}."))


def finish_with_answer(run: RunState, answer: str) -> list[Query]:
    """The harness is done: nothing more to ask. Its answer is not passed on, for it cites nothing; but the passages that hold
    it go before the writer first."""
    named = [name for name in extract_entities(answer) if not content_stems(name) <= content_stems(run.task)]
    wanted = [f" {' '.join(tokenize(phrase))} " for phrase in named or [answer] if content_stems(phrase)]
    run.pinned_ids.update(
        passage.id
        for passage in run.evidence
        if any(phrase in f" {' '.join(tokenize(passage.text))} " for phrase in wanted)
    )
    return []
