"""An ask as the messages of a conversation: the prompt, and for the second try the bad answer with what was wrong with it."""

from typing import TYPE_CHECKING, Any

from suffice.asks.base import Ask
from suffice.types import Image

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, UserContent

_AGAIN = {
    "json": "Answer again, with the JSON object alone: no other words, no code fence, every bracket closed.",
    "line": "Answer again, in one line and nothing else.",
    "text": "Answer again, with the text alone.",
}


def messages(ask: Ask[Any], prompt: str, bad: str | None, why: str) -> "list[ModelMessage]":
    """``bad`` is the answer that could not be read, ``None`` for the first try."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    first = ModelRequest(parts=[UserPromptPart([prompt, *map(_shown, ask.images)] if ask.images else prompt)])
    if bad is None:
        return [first]
    complaint = f"That answer cannot be used: {why}. {_AGAIN[ask.form]}"
    if not bad:  # Some servers refuse a turn without words.
        return [ModelRequest(parts=[UserPromptPart(f"{prompt}\n\n{_AGAIN[ask.form]}")])]
    return [first, ModelResponse(parts=[TextPart(bad)]), ModelRequest(parts=[UserPromptPart(complaint)])]


def _shown(image: Image) -> "UserContent":
    """A file as its bytes; an address as itself, for the provider to fetch: nothing is fetched from here."""
    from pydantic_ai.messages import BinaryContent, ImageUrl

    if image.data:
        return BinaryContent(image.data, media_type=image.media_type)
    return ImageUrl(image.name, media_type=image.media_type)
