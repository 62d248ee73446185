"""A chain of evidence without a language model: which sentence leads on, what is still open, and what looks like the answer.

The chain covers the question when its sentences hold every word of the question. A sentence leads on when it holds a
word of the question that the chain does not, or names something new beside something the chain names. Limits: it knows no
synonyms, and it cannot tell a sentence about the right thing from one about its namesake.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

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
