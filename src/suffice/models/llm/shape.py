"""The JSON schema of an ask's answer, whole in itself: servers differ in whether they follow references."""

from functools import cache
from typing import Any

import msgspec

from suffice.asks.base import Prompt


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
