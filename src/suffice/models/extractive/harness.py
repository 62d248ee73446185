"""The harnesses' asks without a language model: each follows the chain of evidence (see ``chain``).

They show that a harness runs and ends; they reason no further than the words of the sentences reach.
"""

from collections.abc import Sequence

from suffice.asks import (
    Act,
    ActResponse,
    ShortAnswer,
    ShortAnswerResponse,
    Step,
    StepResponse,
    Thought,
    ThoughtResponse,
)
from suffice.models.extractive.chain import answer, covered, next_link, open_words
from suffice.text.entities import names
from suffice.types import Note

_LINKS = 6  # Sentences of a chain: more hops than any question has.


def thought(ask: Thought) -> ThoughtResponse:
    """The sentence that leads on; the answer once the chain covers the question; nothing when nothing leads on."""
    if covered(ask.task, ask.thoughts):
        return ThoughtResponse(f"So the answer is: {answer(ask.task, ask.thoughts)}")
    link = next_link(ask.task, ask.notes, ask.thoughts)
    return ThoughtResponse("" if link is None else link.told)


def act(ask: Act) -> ActResponse:
    """Search for what the chain through the evidence leaves open; finish when it covers the question or leads nowhere."""
    if not ask.steps:
        return ActResponse("The question itself comes first.", "Search", ask.task)
    chain = _chain(ask.task, ask.notes)
    query = None if covered(ask.task, chain) else _wanted(ask.task, chain, ask.steps)
    if query is None:
        return ActResponse("The evidence leads no further.", "Finish", answer(ask.task, chain))
    return ActResponse(chain[-1], "Search", query)


def step(ask: Step) -> StepResponse:
    """Keep the sentence that leads on in core memory, one a search; then search for what is open; then answer."""
    if not ask.steps:
        return StepResponse("The question itself comes first.", "archival_search", {"query": ask.task})
    core = [line for note in ask.core for line in note.text.splitlines()]
    complete = covered(ask.task, core)
    if not complete and "archival_search" in ask.steps[-1]:
        link = next_link(ask.task, ask.notes, core)
        if link is not None:
            line = " ".join((link.told, *link.handles))
            return StepResponse("This leads on.", "core_memory_append", {"content": line})
    query = None if complete else _wanted(ask.task, core, ask.steps)
    if query is None:
        return StepResponse("The evidence leads no further.", "send_message", {"message": answer(ask.task, core)})
    return StepResponse("Something is still open.", "archival_search", {"query": query})


def short_answer(ask: ShortAnswer) -> ShortAnswerResponse:
    """The answer-like name or number of the best sentence; the sentence itself when it names nothing new."""
    link = next_link(ask.task, ask.notes, ())
    return ShortAnswerResponse("" if link is None else answer(ask.task, [link.told]))


def _chain(task: str, notes: Sequence[Note]) -> list[str]:
    chain: list[str] = []
    while len(chain) < _LINKS and not covered(task, chain):
        link = next_link(task, notes, chain)
        if link is None:
            break
        chain.append(link.told)
    return chain


def _wanted(task: str, chain: Sequence[str], steps: Sequence[str]) -> str | None:
    """The names that a sentence of the chain brought in, with the other words of the question; the first not searched for.

    All names of a sentence at once: one name a query found less (.62 for .70 of gold at round 2, 60 questions of MuSiQue).
    """
    named = {name.lower() for name in names(task)}
    searched = " ".join(steps).lower()
    for sentence in chain:
        fresh = [name for name in names(sentence) if name.lower() not in named]
        query = " ".join((*fresh, *open_words(task, fresh)))
        if fresh and query.lower() not in searched:
            return query
    return None
