"""Short answers from notes."""

import re

from suffice.models.extractive.belief import list_sentences
from suffice.prompts.agents import ShortAnswer
from suffice.prompts.base import TextResponse
from suffice.prompts.lab import AnswerFromMemory
from suffice.text.entities import content_stems, extract_entities, extract_names

_NAME_WEIGHT = 0.5  # What a name of the question is worth, in words of it.
_NUMERIC_QUESTION = re.compile(
    r"\b(?:when|year|date|how (?:many|much|old|long|far|tall|high)|number|population)\b", re.IGNORECASE
)


def answer_briefly(prompt: ShortAnswer | AnswerFromMemory) -> TextResponse:
    """Return the name or number of the best sentence that looks like the answer; the sentence itself if it has none."""
    question, known = content_stems(prompt.task), {name.lower() for name in extract_names(prompt.task)}
    best, best_score = "", 0.0
    for note in prompt.notes:
        title = f"{note.title}: " if extract_names(note.title) else ""
        for sentence in list_sentences(note):
            stems = content_stems(f"{note.title} {sentence}")
            names = {name.lower() for name in extract_names(f"{note.title}. {sentence}")}
            score = len(stems & question) + _NAME_WEIGHT * (not names.isdisjoint(known))
            if len(stems) > 1 and score > best_score:
                best, best_score = title + sentence, score
    return TextResponse(_find_answer(prompt.task, best))


def _find_answer(task: str, sentence: str) -> str:
    """Return what looks like the answer in a sentence: a number or name that the question lacks; else the sentence."""
    question, is_numeric = content_stems(task), bool(_NUMERIC_QUESTION.search(task))
    candidates = [entity for entity in extract_entities(sentence) if not content_stems(entity) <= question]
    fitting = [entity for entity in candidates if entity[0].isdigit() == is_numeric]
    return (fitting or candidates or [sentence])[-1]
