"""Build the messages of a request: the prompt with its images, the second request after a bad response, and the schema."""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import msgspec

from suffice.prompts.base import Prompt
from suffice.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

_RETRY_INSTRUCTIONS = {
    "json": "Answer again, with the JSON object alone: no other words, no code fence, every bracket closed.",
    "line": "Answer again, in one line and nothing else.",
    "text": "Answer again, with the text alone.",
}
_MAX_SHOWN_CHARS = 4_000  # How much of a bad response the model is shown again.
_MAX_REASON_CHARS = 300
_FOR_READERS = ("title", "description", "default")  # Of a schema: an answer is valid without them.


def retry_messages(
    prompt: Prompt[Any], text: str, bad_answer: str, reason: str, max_tokens: int | None
) -> "list[ModelMessage]":
    """Return the messages of the second request, with as much of the bad response as fits into ``max_tokens``."""
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

    reason = reason[:_MAX_REASON_CHARS]
    instruction = _RETRY_INSTRUCTIONS[prompt.output_format]
    complaint = f"That answer cannot be used: {reason}. {instruction}"
    room = _MAX_SHOWN_CHARS if max_tokens is None else max_tokens - estimate_tokens(text) - estimate_tokens(complaint)
    shown = _truncate_to_tokens(bad_answer[:_MAX_SHOWN_CHARS], room)
    if not shown:  # Some servers reject an empty message.
        return [build_message(prompt, f"{text}\n\nAn answer before this one cannot be used: {reason}. {instruction}")]
    return [
        build_message(prompt, text),
        ModelResponse(parts=[TextPart(shown)]),
        ModelRequest(parts=[UserPromptPart(complaint)]),
    ]


def count_message_tokens(messages: "Sequence[ModelMessage]") -> int:
    """Return about how many tokens the messages have. Images are not counted: every provider counts them differently."""
    parts: list[Any] = [part for message in messages for part in message.parts]
    texts = (part.content if isinstance(part.content, str) else part.content[0] for part in parts)
    return sum(map(estimate_tokens, texts))


def response_schema(prompt: Prompt[Any]) -> dict[str, Any]:
    """Return the JSON schema of the prompt's response, without references, with the prompt's limit on its bounded list."""
    schema = _type_schema(prompt.response_type)
    if not prompt.bounded_field:
        return schema
    properties = schema["properties"]
    bounded = {**properties[prompt.bounded_field], "maxItems": prompt.most}  # type: ignore[attr-defined]
    return {**schema, "properties": {**properties, prompt.bounded_field: bounded}}


def _truncate_to_tokens(text: str, tokens: int) -> str:
    """Return the beginning of a text that has at most so many tokens; a token has at most four characters."""
    text = text[: max(0, 4 * tokens)]
    return text if estimate_tokens(text) <= tokens else text[: max(0, tokens)]


def build_message(prompt: Prompt[Any], text: str) -> "ModelMessage":
    """Return the message of a request; ``text`` is the rendered prompt."""
    from pydantic_ai.messages import BinaryContent, ModelRequest, UserPromptPart

    images = [BinaryContent(image.data, media_type=image.media_type) for image in prompt.images]
    return ModelRequest(parts=[UserPromptPart([text, *images] if images else text)])


@cache
def _type_schema(kind: type) -> dict[str, Any]:
    [top], definitions = msgspec.json.schema_components([kind], ref_template="{name}")
    return cast(dict[str, Any], _inline_refs(top, definitions))


def _inline_refs(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline_refs(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inline_refs(definitions[node["$ref"]], definitions)
    inlined = {name: _inline_refs(value, definitions) for name, value in node.items() if name not in _FOR_READERS}
    if "properties" in inlined:
        inlined["additionalProperties"] = False
    return inlined
