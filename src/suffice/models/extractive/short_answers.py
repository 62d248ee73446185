"""Short answers from notes: the words that the reader finds in the note that answers most likely."""

from suffice.models.reader.model import find_reader
from suffice.prompts.agents import ShortAnswer
from suffice.prompts.base import TextResponse
from suffice.prompts.lab import AnswerFromMemory


def answer_briefly(prompt: ShortAnswer | AnswerFromMemory) -> TextResponse:
    reader, texts = find_reader(), [f"{note.title}\n{note.text}" for note in prompt.notes]
    if reader is None or not texts:
        return TextResponse("")
    spans = reader.read(prompt.task, texts)
    best = max(range(len(texts)), key=lambda i: spans[i].probability)
    return TextResponse(texts[best][spans[best].start : spans[best].end].strip())
