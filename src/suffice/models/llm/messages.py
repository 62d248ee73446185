"""An ask as the messages of a conversation: the prompt, and for the second try the bad answer with what was wrong with it."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from suffice.prompts.base import Prompt
from suffice.text.tokens import estimate_tokens
from suffice.types import Image

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, UserContent

_RETRY_INSTRUCTIONS = {
    "json": "Answer again, with the JSON object alone: no other words, no code fence, every bracket closed.",
    "line": "Answer again, in one line and nothing else.",
    "text": "Answer again, with the text alone.",
}


_MAX_SHOWN_CHARS = 4_000  # Characters of a bad answer that it is shown again; the rest would only cost.
_MAX_REASON_CHARS = 300  # Characters of what was wrong with it.


def initial_messages(prompt: Prompt[Any], text: str) -> "list[ModelMessage]":
    return [_user_message(prompt, text)]


def retry_messages(
    prompt: Prompt[Any], text: str, bad_answer: str, reason: str, max_tokens: int | None
) -> "list[ModelMessage]":
    """With as much of the bad answer as ``most`` tokens leave room for, which may be nothing of it."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    reason = reason[:_MAX_REASON_CHARS]
    complaint = f"That answer cannot be used: {reason}. {_RETRY_INSTRUCTIONS[prompt.output_format]}"
    room = _MAX_SHOWN_CHARS if max_tokens is None else max_tokens - estimate_tokens(text) - estimate_tokens(complaint)
    shown = _truncate_to_tokens(bad_answer[:_MAX_SHOWN_CHARS], room)
    if not shown:  # Some servers refuse a turn without words.
        return [
            _user_message(
                prompt,
                f"{text}\n\nAn answer before this one cannot be used: {reason}. {_RETRY_INSTRUCTIONS[prompt.output_format]}",
            )
        ]
    return [
        _user_message(prompt, text),
        ModelResponse(parts=[TextPart(shown)]),
        ModelRequest(parts=[UserPromptPart(complaint)]),
    ]


def count_message_tokens(messages: "Sequence[ModelMessage]") -> int:
    """About how many tokens a conversation has. What pictures cost, every provider counts in its own way."""
    return sum(estimate_tokens(text) for message in messages for part in message.parts for text in _part_texts(part))


def _part_texts(part: Any) -> list[str]:
    content = part.content
    return [content] if isinstance(content, str) else [item for item in content if isinstance(item, str)]


def _truncate_to_tokens(text: str, tokens: int) -> str:
    """The beginning of a text that is no longer than so many tokens: none is longer than four characters."""
    text = text[: max(0, 4 * tokens)]
    return text if estimate_tokens(text) <= tokens else text[: max(0, tokens)]


def _user_message(prompt: Prompt[Any], words: str) -> "ModelMessage":
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    return ModelRequest(
        parts=[UserPromptPart([words, *map(_image_content, prompt.images)] if prompt.images else words)]
    )


def _image_content(image: Image) -> "UserContent":
    """A file as its bytes; an address as itself, for the provider to fetch: nothing is fetched from here."""
    from pydantic_ai.messages import BinaryContent, ImageUrl

    if image.data:
        return BinaryContent(image.data, media_type=image.media_type)
    return ImageUrl(image.name, media_type=image.media_type)


def response_schema(prompt: Prompt[Any]) -> dict[str, Any]:
    """What the provider holds the model to; ``most`` bounds the list that the ask bounds."""
    base = _type_schema(prompt.response_type)
    if not prompt.bounded_field:
        return base
    properties = base["properties"]
    bounded = {**properties[prompt.bounded_field], "maxItems": prompt.most}  # type: ignore[attr-defined]
    return {**base, "properties": {**properties, prompt.bounded_field: bounded}}


@cache
def _type_schema(kind: type) -> dict[str, Any]:
    [top], parts = msgspec.json.schema_components([kind], ref_template="{name}")
    inlined: dict[str, Any] = _inline_refs(top, parts)
    return inlined


def _inline_refs(piece: Any, parts: dict[str, Any]) -> Any:
    if isinstance(piece, list):
        return [_inline_refs(item, parts) for item in piece]
    if not isinstance(piece, dict):
        return piece
    if "$ref" in piece:
        return _inline_refs(parts[piece["$ref"]], parts)
    kept = {name: _inline_refs(value, parts) for name, value in piece.items() if name not in ("title", "description")}
    if "properties" in kept:
        kept["additionalProperties"] = False
    return kept
