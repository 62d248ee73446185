"""Find parts of a run by name. Each kind of part is an entry-point group; built-in parts are registered in the same way.

suffice.models  suffice.searches  suffice.providers  suffice.memories  suffice.strategies  suffice.gates  suffice.meters
suffice.skills

A run never takes its search from ``suffice.searches``: pass a search to ``research(search=…)``. The group only lets packages
announce their searches, which ``suffice doctor`` lists.
"""

from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from suffice.errors import InputError

_SINGULAR = {"providers": "search provider", "searches": "search", "memories": "memory", "strategies": "strategy"}


def list_plugins(group: str) -> list[str]:
    """Return the names of the installed parts of a group, such as ``gates``."""
    return sorted(_load_entry_points(group))


def load_plugin(group: str, name: str) -> Any:
    """Return the part with this name; raise ``InputError`` if there is none or it cannot be imported."""
    kind = _SINGULAR.get(group, group.removesuffix("s"))
    entry = _load_entry_points(group).get(name)
    if entry is None:
        names = list_plugins(group)
        similar = get_close_matches(name, names, 1)
        hint = f"did you mean {similar[0]!r}?" if similar else f"choose one of: {', '.join(names) or 'none installed'}"
        raise InputError(f"There is no {kind} named {name!r}; {hint}")
    try:
        return entry.load()
    except ImportError as error:
        raise InputError(f"The {kind} {name!r} cannot be loaded: {error}") from error


@cache
def _load_entry_points(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"suffice.{group}")}
