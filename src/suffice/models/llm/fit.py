"""A parsed value turned towards the shape that was asked for, where nothing is lost by it.

A lone item where a list belongs, a bare text where an object has one thing to say, a ``null`` where there is a default, a
word in other letters: small models mean the right thing and write it nearly so. What this cannot turn, msgspec refuses.
"""

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints


def coerce(value: Any, kind: Any) -> Any:
    """``value`` in plain types, nearer to ``kind``."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _coerce_object(value, kind)
    origin = get_origin(kind)
    if origin is tuple:
        return _coerce_list(value, get_args(kind)[0])
    if origin is Literal:
        return next((word for word in get_args(kind) if _equals_ignoring_case(word, value)), value)
    if origin in (Union, types.UnionType):
        return _coerce_optional(value, get_args(kind))
    if kind is str and isinstance(value, int | float | str) and not isinstance(value, bool):
        return str(
            value
        ).strip()  # A small model likes to end a text with a space, and texts are compared word for word.
    return value


def _coerce_object(value: Any, kind: type) -> Any:
    hints = _type_hints(kind)
    if isinstance(value, Mapping):
        optional = {item.name for item in dataclasses.fields(kind) if not _is_required(item)}
        kept = {
            name: value[name] for name in hints if name in value and (value[name] is not None or name not in optional)
        }
        return {name: coerce(own, hints[name]) for name, own in kept.items()}
    # One thing to say: it may come without its name.
    needed = [item.name for item in dataclasses.fields(kind) if _is_required(item)]
    listed = isinstance(value, list)
    if len(needed) == 1 and listed == (get_origin(hints[needed[0]]) is tuple) and isinstance(value, str | list):
        return {needed[0]: coerce(value, hints[needed[0]])}
    return value


def _coerce_list(value: Any, kind: Any) -> Any:
    if value is None or value == "":
        return []
    if not isinstance(value, list | str | Mapping):
        return value
    items = value if isinstance(value, list) else [value]
    return [coerce(item, kind) for item in items if item is not None]


def _coerce_optional(value: Any, kinds: tuple[Any, ...]) -> Any:
    """Of a union only the one kind that is not ``None`` can guide; of several, none."""
    if value is None:
        return None
    real = [kind for kind in kinds if kind is not type(None)]
    return coerce(value, real[0]) if len(real) == 1 else value


def _equals_ignoring_case(word: Any, value: Any) -> bool:
    return isinstance(word, str) and isinstance(value, str) and word.lower() == value.strip().lower()


def _is_required(item: "dataclasses.Field[Any]") -> bool:
    return item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING


@cache
def _type_hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
