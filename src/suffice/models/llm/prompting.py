"""An ask as the messages of a conversation: the prompt, and for the second try the bad answer with what was wrong with it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from suffice.asks.base import Ask
from suffice.text.tokens import estimate_tokens
from suffice.types import Image

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, UserContent

_AGAIN = {
    "json": "Answer again, with the JSON object alone: no other words, no code fence, every bracket closed.",
    "line": "Answer again, in one line and nothing else.",
    "text": "Answer again, with the text alone.",
}


_SHOWN = 4_000  # Characters of a bad answer that it is shown again; the rest would only cost.
_REASON = 300  # Characters of what was wrong with it.


def first(ask: Ask[Any], prompt: str) -> "list[ModelMessage]":
    return [_user(ask, prompt)]


def second(ask: Ask[Any], prompt: str, bad: str, why: str, most: int | None) -> "list[ModelMessage]":
    """With as much of the bad answer as ``most`` tokens leave room for, which may be nothing of it."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    why = why[:_REASON]
    complaint = f"That answer cannot be used: {why}. {_AGAIN[ask.form]}"
    room = _SHOWN if most is None else most - estimate_tokens(prompt) - estimate_tokens(complaint)
    shown = _beginning(bad[:_SHOWN], room)
    if not shown:  # Some servers refuse a turn without words.
        return [_user(ask, f"{prompt}\n\nAn answer before this one cannot be used: {why}. {_AGAIN[ask.form]}")]
    return [
        _user(ask, prompt),
        ModelResponse(parts=[TextPart(shown)]),
        ModelRequest(parts=[UserPromptPart(complaint)]),
    ]


def length(messages: "Sequence[ModelMessage]") -> int:
    """About how many tokens a conversation has. What pictures cost, every provider counts in its own way."""
    return sum(estimate_tokens(text) for message in messages for part in message.parts for text in _texts(part))


def _texts(part: Any) -> list[str]:
    content = part.content
    return [content] if isinstance(content, str) else [item for item in content if isinstance(item, str)]


def _beginning(text: str, tokens: int) -> str:
    """The beginning of a text that is no longer than so many tokens: none is longer than four characters."""
    text = text[: max(0, 4 * tokens)]
    return text if estimate_tokens(text) <= tokens else text[: max(0, tokens)]


def _user(ask: Ask[Any], words: str) -> "ModelMessage":
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    return ModelRequest(parts=[UserPromptPart([words, *map(_shown, ask.images)] if ask.images else words)])


def _shown(image: Image) -> "UserContent":
    """A file as its bytes; an address as itself, for the provider to fetch: nothing is fetched from here."""
    from pydantic_ai.messages import BinaryContent, ImageUrl

    if image.data:
        return BinaryContent(image.data, media_type=image.media_type)
    return ImageUrl(image.name, media_type=image.media_type)
