"""The harnesses' asks without a language model: each follows the chain of evidence (see ``chain``).

They show that a harness runs and ends; they reason no further than the words of the sentences reach.
"""

from collections.abc import Sequence

from suffice.asks import (
    IRCoTStep,
    IRCoTStepResponse,
    MemGPTStep,
    MemGPTStepResponse,
    ReActStep,
    ReActStepResponse,
    ShortAnswer,
    ShortAnswerResponse,
)
from suffice.models.extractive.chain import find_answer, find_next_link, find_open_words, is_covered
from suffice.text.entities import extract_names
from suffice.types import Note

_MAX_LINKS = 6  # Sentences of a chain: more hops than any question has.


def next_thought(prompt: IRCoTStep) -> IRCoTStepResponse:
    """The sentence that leads on; the answer once the chain covers the question; nothing when nothing leads on."""
    if is_covered(prompt.task, prompt.thoughts):
        return IRCoTStepResponse(f"So the answer is: {find_answer(prompt.task, prompt.thoughts)}")
    link = find_next_link(prompt.task, prompt.notes, prompt.thoughts)
    return IRCoTStepResponse("" if link is None else link.text_with_title)


def choose_action(prompt: ReActStep) -> ReActStepResponse:
    """Search for what the chain through the evidence leaves open; finish when it covers the question or leads nowhere."""
    if not prompt.steps:
        return ReActStepResponse("The question itself comes first.", "Search", prompt.task)
    chain = _build_chain(prompt.task, prompt.notes)
    query = None if is_covered(prompt.task, chain) else _next_query(prompt.task, chain, prompt.steps)
    if query is None:
        return ReActStepResponse("The evidence leads no further.", "Finish", find_answer(prompt.task, chain))
    return ReActStepResponse(chain[-1], "Search", query)


def choose_tool_call(prompt: MemGPTStep) -> MemGPTStepResponse:
    """Keep the sentence that leads on in core memory, one a search; then search for what is open; then answer."""
    if not prompt.steps:
        return MemGPTStepResponse("The question itself comes first.", "archival_search", {"query": prompt.task})
    core = [line for note in prompt.core for line in note.text.splitlines()]
    complete = is_covered(prompt.task, core)
    if not complete and "archival_search" in prompt.steps[-1]:
        link = find_next_link(prompt.task, prompt.notes, core)
        if link is not None:
            line = " ".join((link.text_with_title, *link.handles))
            return MemGPTStepResponse("This leads on.", "core_memory_append", {"content": line})
    query = None if complete else _next_query(prompt.task, core, prompt.steps)
    if query is None:
        return MemGPTStepResponse(
            "The evidence leads no further.", "send_message", {"message": find_answer(prompt.task, core)}
        )
    return MemGPTStepResponse("Something is still open.", "archival_search", {"query": query})


def answer_briefly(prompt: ShortAnswer) -> ShortAnswerResponse:
    """The answer-like name or number of the best sentence; the sentence itself when it names nothing new."""
    link = find_next_link(prompt.task, prompt.notes, ())
    return ShortAnswerResponse("" if link is None else find_answer(prompt.task, [link.text_with_title]))


def _build_chain(task: str, notes: Sequence[Note]) -> list[str]:
    chain: list[str] = []
    while len(chain) < _MAX_LINKS and not is_covered(task, chain):
        link = find_next_link(task, notes, chain)
        if link is None:
            break
        chain.append(link.text_with_title)
    return chain


def _next_query(task: str, chain: Sequence[str], steps: Sequence[str]) -> str | None:
    """The names that a sentence of the chain brought in, with the other words of the question; the first not searched for.

    All names of a sentence at once: one name a query found less (.62 for .70 of gold at round 2, 60 questions of MuSiQue).
    """
    named = {name.lower() for name in extract_names(task)}
    searched = " ".join(steps).lower()
    for sentence in chain:
        fresh = [name for name in extract_names(sentence) if name.lower() not in named]
        query = " ".join((*fresh, *find_open_words(task, fresh)))
        if fresh and query.lower() not in searched:
            return query
    return None
