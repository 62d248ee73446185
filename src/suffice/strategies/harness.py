"""Shared by the agent strategies (ReAct, IRCoT, MemGPT, Iter-RetGen): retries, fallbacks and the finish.

An agent proposes one query a round. It keeps its own working state (thoughts, steps, core memory); what it sees of the
evidence is up to the run's memory.
"""

from collections.abc import Callable
from typing import TypeVar

from suffice.prompts.base import Prompt
from suffice.strategies.base import RunView
from suffice.text.entities import content_stems, extract_entities
from suffice.text.tokens import normalize_phrase
from suffice.types import Failure, Passage, Query

A = TypeVar("A")

MAX_QUERY_CHARS = 400  # A longer text from a model is cut.


def propose_query(run: RunView, text: str, intent: str) -> list[Query]:
    """Return the query if it is new, else the fallback."""
    return run.filter_new_queries([Query(" ".join(text.split())[:MAX_QUERY_CHARS], intent)]) or propose_fallback(run)


def propose_fallback(run: RunView) -> list[Query]:
    """Return a query that needs no model: the question itself, then the best follow-up.

    In a faithful run an agent without a query of its own ends the search, unless it has not begun.
    """
    if run.is_faithful:
        return [] if run.records else [Query(run.task, "the question itself")]
    return run.filter_new_queries([Query(run.task, "the question itself")]) or run.propose_follow_ups(1)


def list_visible_passages(run: RunView) -> list[Passage]:
    """Return the passages that an agent may look up: all accepted ones, or those of the latest round if the memory replaces
    the history."""
    return list(run.evidence) if run.shows_history or run.latest_round is None else list_latest_passages(run)


def list_latest_passages(run: RunView) -> list[Passage]:
    """Return the accepted passages of the latest round, including those seen before."""
    latest = run.latest_round
    found = {} if latest is None else {passage.id: passage for passage in (*latest.raw, *latest.new)}
    return [passage for passage in found.values() if passage.id in run.evidence]


def can_ask(run: RunView) -> bool:
    """Return whether tokens and money are left. The loop checks only after a round; an agent may ask often before one."""
    return not run.budget.is_spent(include_time=False)


async def ask_with_retry(
    run: RunView, make_prompt: Callable[[str], Prompt[A]], find_fault: Callable[[A], str]
) -> A | None:
    """Return the model's answer; if it has a fault, ask once more and say why. ``None`` if the model failed.

    The second answer is returned even if it has a fault too; the caller handles that.
    """
    if not can_ask(run):
        return None
    first = make_prompt("")
    answer = await run.try_ask(first)
    fault = "" if answer is None else find_fault(answer)
    if not fault:
        return answer
    run.record_failure(Failure(first.role, "ModelOutputError", fault, retryable=True))
    if not can_ask(run):
        return answer
    return await run.try_ask(make_prompt(f"Your last answer could not be used: {fault}."))


def finish_with_answer(run: RunView, answer: str) -> list[Query]:
    """End the search: return no query, and pin the passages that hold the agent's answer.

    The answer itself is not passed on, because it cites nothing.
    """
    names = [name for name in extract_entities(answer) if not content_stems(name) <= content_stems(run.task)]
    phrases = [normalize_phrase(phrase) for phrase in names or [answer] if content_stems(phrase)]
    run.pin_passages(
        passage.id for passage in run.evidence if any(phrase in normalize_phrase(passage.text) for phrase in phrases)
    )
    return []
