"""A chain of evidence without a language model: which sentence leads on, what is still open, and what looks like the answer.

The chain covers the question when its sentences hold every word of the question. A sentence leads on when it holds a
word of the question that the chain does not, or names something new beside something the chain names. Limits: it knows no
synonyms, and it cannot tell a sentence about the right thing from one about its namesake.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.prompts import (
    IRCoTStep,
    IRCoTStepResponse,
    MemGPTStep,
    MemGPTStepResponse,
    ReActStep,
    ReActStepResponse,
    ShortAnswer,
    ShortAnswerResponse,
)
from suffice.text.entities import content_stems, extract_entities, extract_names
from suffice.text.sentences import quotable_spans
from suffice.text.tokens import tokenize
from suffice.types import Note

_LINK_WEIGHT = 0.5  # What a name in common with the chain is worth, in words of the question.
_REPEATED_WEIGHT = 0.25  # What a word of the question is worth that the chain holds already.
_MAX_SENTENCE_CHARS = 400  # Characters; what is longer is a table, not a sentence.
_NUMERIC_QUESTION = re.compile(
    r"\b(?:when|year|date|how (?:many|much|old|long|far|tall|high)|number|population)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class ChainLink:
    """A sentence that leads on, the title it stands under, and the handles of its source."""

    sentence: str
    title: str
    handles: tuple[str, ...]

    @property
    def text_with_title(self) -> str:
        """The sentence, after its title where that names something else: a chain must say what it is about."""
        if not extract_names(self.title) or content_stems(self.title) <= content_stems(self.sentence):
            return self.sentence
        return f"{self.title}: {self.sentence}"


def find_open_words(task: str, chain: Sequence[str]) -> list[str]:
    """The question's words that carry meaning and that the chain does not hold, as the question writes them."""
    held = frozenset[str]().union(*(content_stems(link) for link in chain))
    return [word for word in re.findall(r"\w[\w'’-]*", task) if content_stems(word) and not content_stems(word) <= held]


def is_covered(task: str, chain: Sequence[str]) -> bool:
    return bool(chain) and not find_open_words(task, chain)


def find_next_link(task: str, notes: Sequence[Note], chain: Sequence[str]) -> ChainLink | None:
    """The sentence that leads on best; ``None`` when none does."""
    question = content_stems(task)
    held = frozenset[str]().union(*(content_stems(link) for link in chain))
    known = {name.lower() for text in (task, *chain) for name in extract_names(text)}
    said = [" ".join(tokenize(link)) for link in chain]
    best: ChainLink | None = None
    best_score = 0.0
    for note in notes:
        for start, end in quotable_spans(note.text, note.kind):
            sentence = " ".join(note.text[start:end].split())
            own = content_stems(f"{note.title} {sentence}")
            if (
                len(sentence) > _MAX_SENTENCE_CHARS
                or len(own) < 2
                or any(" ".join(tokenize(sentence)) in link for link in said)
            ):
                continue
            found = extract_names(f"{note.title}. {sentence}")
            fresh = [name for name in found if name.lower() not in known]
            linked = len(fresh) < len(found)
            new = len(own & question - held)
            if not new and not (linked and fresh):
                continue
            score = new + _REPEATED_WEIGHT * len(own & question & held) + _LINK_WEIGHT * linked
            if score > best_score:
                best, best_score = ChainLink(sentence, note.title, note.handles), score
    return best


def find_answer(task: str, sentences: Sequence[str]) -> str:
    """What looks like the answer in the last sentence that has it: a number or a name the question does not hold."""
    numeric = bool(_NUMERIC_QUESTION.search(task))
    asked = content_stems(task)
    for sentence in reversed(sentences):
        candidates = [entity for entity in extract_entities(sentence) if not content_stems(entity) <= asked]
        fitting = [entity for entity in candidates if entity[0].isdigit() == numeric]
        if fitting or candidates:
            return (fitting or candidates)[-1]
    return sentences[-1] if sentences else ""


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
