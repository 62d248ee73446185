"""Where parts are found by name: one entry-point group a seam. Built-in parts are registered in the same way as a stranger's.

suffice.models  suffice.searches  suffice.providers  suffice.memories  suffice.strategies  suffice.gates  suffice.meters
"""

from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from suffice.errors import InputError


@cache
def _load_entry_points(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"suffice.{group}")}


def list_plugins(group: str) -> list[str]:
    return sorted(_load_entry_points(group))


def load_plugin(group: str, name: str) -> Any:
    """The part registered under a name; an ``InputError`` that lists what there is otherwise."""
    entry = _load_entry_points(group).get(name)
    if entry is None:
        near = get_close_matches(name, list_plugins(group), 1)
        hint = (
            f"did you mean {near[0]!r}?"
            if near
            else f"choose one of: {', '.join(list_plugins(group)) or 'none installed'}"
        )
        raise InputError(f"There is no {_SINGULAR.get(group, group)} named {name!r}; {hint}")
    try:
        return entry.load()
    except ImportError as error:
        raise InputError(f"The {_SINGULAR.get(group, group)} {name!r} cannot be loaded: {error}") from error


_SINGULAR = {
    "models": "model",
    "searches": "search",
    "providers": "search provider",
    "memories": "memory",
    "strategies": "strategy",
    "gates": "gate",
    "meters": "meter",
}
