"""Run options as pydantic fields, for the HTTP bodies and the arguments of MCP tools."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from suffice.options import OPTIONS, RunOptions

Name = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[\w.:/-]+$")]
GateText = Annotated[str, StringConstraints(min_length=1, max_length=2000)]

# Over the wire these options are text.
_TEXT_TYPES: dict[str, Any] = {
    "breadth": Name,
    "strategy": Name,
    "memory": Name | None,
    "model": Name | None,
    "stop": GateText | None,
    "continues": Name | None,
}


def option_fields(names: Iterable[str], *, with_aliases: bool) -> dict[str, tuple[Any, Any]]:
    """Return the type and the pydantic field of each option, with the range that a request may use."""
    types: dict[str, Any] = {**{each.name: each.type for each in fields(RunOptions)}, **_TEXT_TYPES}
    defaults = {field.name: field.default for field in fields(RunOptions)}
    found = {}
    for name in names:
        option = OPTIONS[name]
        limits: dict[str, Any] = {
            "ge": option.minimum,
            "gt": option.above,
            "le": option.maximum if option.request_maximum is None else option.request_maximum,
        }
        found[name] = (types[name], Field(defaults[name], description=option.doc, **limits))
        for alias in option.aliases if with_aliases else ():
            found[alias] = (types[name], Field(defaults[name], description=f"Alias of {name}.", **limits))
    return found
