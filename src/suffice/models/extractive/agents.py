"""The steps of IRCoT, ReAct and MemGPT agents: follow a chain of sentences from the question to an answer.

The chain covers the question when its sentences hold every content word of the question. A sentence continues the chain when
it holds a word of the question that the chain lacks, or names something new beside something that the chain names. Limits:
synonyms are not recognised, and a sentence about the right thing cannot be told from one about a namesake.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.models.extractive.belief import list_sentences
from suffice.prompts.agents import (
    IRCoTStep,
    IRCoTStepResponse,
    MemGPTStep,
    MemGPTStepResponse,
    ReActStep,
    ReActStepResponse,
    ShortAnswer,
    ShortAnswerResponse,
)
from suffice.prompts.lab import AnswerFromMemory, MemoryAnswerResponse
from suffice.text.entities import content_stems, extract_entities, extract_names
from suffice.text.tokens import tokenize
from suffice.types import Note

_LINK_WEIGHT = 0.5  # What a name in common with the chain is worth, in words of the question.
_REPEATED_WEIGHT = 0.25  # What a word of the question is worth that the chain holds already.
_MAX_LINKS = 6  # Sentences of a chain: more hops than any question has.
_NUMERIC_QUESTION = re.compile(
    r"\b(?:when|year|date|how (?:many|much|old|long|far|tall|high)|number|population)\b", re.IGNORECASE
)


def next_thought(prompt: IRCoTStep) -> IRCoTStepResponse:
    """Return the sentence that continues the chain, the answer once the chain covers the question, or an empty text."""
    if is_covered(prompt.task, prompt.thoughts):
        return IRCoTStepResponse(f"So the answer is: {find_answer(prompt.task, prompt.thoughts)}")
    link = find_next_link(prompt.task, prompt.notes, prompt.thoughts)
    return IRCoTStepResponse("" if link is None else link.text_with_title)


def choose_action(prompt: ReActStep) -> ReActStepResponse:
    """Search for what the chain through the evidence leaves open; finish when it covers the question or ends."""
    if not prompt.steps and not prompt.notes:
        return ReActStepResponse("The question itself comes first.", "Search", prompt.task)
    chain = _build_chain(prompt.task, prompt.notes)
    query = None if is_covered(prompt.task, chain) else _next_query(prompt.task, chain, prompt.steps)
    if query is None:
        return ReActStepResponse("The evidence leads no further.", "Finish", find_answer(prompt.task, chain))
    return ReActStepResponse(chain[-1], "Search", query)


def choose_tool_call(prompt: MemGPTStep) -> MemGPTStepResponse:
    """Store one sentence that continues the chain after each search; then search for what is open; then answer."""
    if not prompt.steps and not prompt.notes:
        return MemGPTStepResponse("The question itself comes first.", "archival_search", {"query": prompt.task})
    core = [line for note in prompt.core for line in note.text.splitlines()]
    complete = is_covered(prompt.task, core)
    if not complete and (not prompt.steps or "archival_search" in prompt.steps[-1]):
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
    """Return the name or number of the best sentence that looks like the answer; the sentence itself if it has none."""
    link = find_next_link(prompt.task, prompt.notes, ())
    return ShortAnswerResponse("" if link is None else find_answer(prompt.task, [link.text_with_title]))


def answer_from_memory(prompt: AnswerFromMemory) -> MemoryAnswerResponse:
    """Answer as ``answer_briefly`` does."""
    return MemoryAnswerResponse(answer_briefly(ShortAnswer(prompt.task, prompt.notes)).text)


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A sentence that continues the chain, the title of its note, and the handles of its source."""

    sentence: str
    title: str
    handles: tuple[str, ...]

    @property
    def text_with_title(self) -> str:
        """The sentence, after its title where that names something else: "she" alone does not say who."""
        if not extract_names(self.title) or content_stems(self.title) <= content_stems(self.sentence):
            return self.sentence
        return f"{self.title}: {self.sentence}"


def find_open_words(task: str, chain: Sequence[str]) -> list[str]:
    """Return the content words of the question that the chain lacks, as the question writes them."""
    held = frozenset[str]().union(*(content_stems(link) for link in chain))
    return [word for word in re.findall(r"\w[\w'’-]*", task) if content_stems(word) and not content_stems(word) <= held]


def is_covered(task: str, chain: Sequence[str]) -> bool:
    """Return whether the chain holds every content word of the question."""
    return bool(chain) and not find_open_words(task, chain)


def find_next_link(task: str, notes: Sequence[Note], chain: Sequence[str]) -> ChainLink | None:
    """Return the sentence that continues the chain best; ``None`` when no sentence does."""
    question = content_stems(task)
    held = frozenset[str]().union(*(content_stems(link) for link in chain))
    known = {name.lower() for text in (task, *chain) for name in extract_names(text)}
    used = [" ".join(tokenize(link)) for link in chain]
    best: ChainLink | None = None
    best_score = 0.0
    for note in notes:
        for sentence in list_sentences(note):
            stems = content_stems(f"{note.title} {sentence}")
            if len(stems) < 2 or any(" ".join(tokenize(sentence)) in link for link in used):
                continue
            names = extract_names(f"{note.title}. {sentence}")
            new_names = [name for name in names if name.lower() not in known]
            is_linked = len(new_names) < len(names)
            new_words = len(stems & question - held)
            if not new_words and not (is_linked and new_names):
                continue
            score = new_words + _REPEATED_WEIGHT * len(stems & question & held) + _LINK_WEIGHT * is_linked
            if score > best_score:
                best, best_score = ChainLink(sentence, note.title, note.handles), score
    return best


def find_answer(task: str, sentences: Sequence[str]) -> str:
    """Return what looks like the answer in the last sentence that has it: a number or name that the question lacks."""
    numeric = bool(_NUMERIC_QUESTION.search(task))
    question = content_stems(task)
    for sentence in reversed(sentences):
        candidates = [entity for entity in extract_entities(sentence) if not content_stems(entity) <= question]
        fitting = [entity for entity in candidates if entity[0].isdigit() == numeric]
        if fitting or candidates:
            return (fitting or candidates)[-1]
    return sentences[-1] if sentences else ""


def _build_chain(task: str, notes: Sequence[Note]) -> list[str]:
    chain: list[str] = []
    while len(chain) < _MAX_LINKS and not is_covered(task, chain):
        link = find_next_link(task, notes, chain)
        if link is None:
            break
        chain.append(link.text_with_title)
    return chain


def _next_query(task: str, chain: Sequence[str], steps: Sequence[str]) -> str | None:
    """Return the new names of a sentence of the chain with the other words of the question; the first query not yet used.

    All names of a sentence go into one query: one name per query found less (.62 instead of .70 of the gold passages at
    round 2, 60 questions of MuSiQue).
    """
    known = {name.lower() for name in extract_names(task)}
    searched = " ".join(steps).lower()
    for sentence in chain:
        names = [name for name in extract_names(sentence) if name.lower() not in known]
        query = " ".join((*names, *find_open_words(task, names)))
        if names and query.lower() not in searched:
            return query
    return None
