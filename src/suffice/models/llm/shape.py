"""The JSON schema of an ask's answer, whole in itself: servers differ in whether they follow references."""

from functools import cache
from typing import Any

import msgspec

from suffice.asks.base import Ask


def schema(ask: Ask[Any]) -> dict[str, Any]:
    """What the provider holds the model to; ``most`` bounds the list that the ask bounds."""
    base = _schema(ask.answer)
    if not ask.bounded:
        return base
    properties = base["properties"]
    bounded = {**properties[ask.bounded], "maxItems": ask.most}  # type: ignore[attr-defined]
    return {**base, "properties": {**properties, ask.bounded: bounded}}


@cache
def _schema(kind: type) -> dict[str, Any]:
    [top], parts = msgspec.json.schema_components([kind], ref_template="{name}")
    inlined: dict[str, Any] = _inlined(top, parts)
    return inlined


def _inlined(piece: Any, parts: dict[str, Any]) -> Any:
    if isinstance(piece, list):
        return [_inlined(item, parts) for item in piece]
    if not isinstance(piece, dict):
        return piece
    if "$ref" in piece:
        return _inlined(parts[piece["$ref"]], parts)
    kept = {name: _inlined(value, parts) for name, value in piece.items() if name not in ("title", "description")}
    if "properties" in kept:
        kept["additionalProperties"] = False
    return kept
