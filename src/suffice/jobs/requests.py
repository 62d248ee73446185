"""What somebody ordered: a task, the options of the run and the operator's collections it may search, as stored text."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from suffice.api import Options
from suffice.engine.pipeline import RunConfig
from suffice.errors import InputError
from suffice.types import Bounds

DEFAULT_COLLECTION = "default"  # The collection of a path without a name.


@dataclass(frozen=True)
class JobRequest:
    """``collections`` are names the operator gave; ``folder`` is where relative paths start for a run of the command line."""

    task: str
    options: Options = Options()
    collections: tuple[str, ...] = ()
    working_dir: str | None = None

    def to_json(self) -> str:
        chosen = {
            item.name: _to_json_value(getattr(self.options, item.name))
            for item in fields(Options)
            if getattr(self.options, item.name) != item.default
        }
        return json.dumps(
            {"task": self.task, "options": chosen, "collections": self.collections, "folder": self.working_dir}
        )


def parse_request(text: str) -> JobRequest:
    stored = json.loads(text)
    options = dict(stored["options"])
    if "bounds" in options:
        options["bounds"] = Bounds(**options["bounds"])
    return JobRequest(stored["task"], Options(**options), tuple(stored["collections"]), stored["folder"])


def parse_collections(named: Sequence[str]) -> dict[str, list[str]]:
    """``NAME=PATH`` or ``PATH`` as the operator wrote them; a bare path belongs to the collection ``default``."""
    found: dict[str, list[str]] = {}
    for text in named:
        name, separator, path = text.partition("=")
        if not separator or not name.replace("-", "").replace("_", "").isalnum():
            name, path = DEFAULT_COLLECTION, text
        if not Path(path).expanduser().exists():
            raise InputError(f"--docs {text}: there is no file or folder {path}")
        found.setdefault(name, []).append(str(Path(path).expanduser().resolve()))
    return found


def resolve_collections(order: JobRequest, offered: Mapping[str, Sequence[str]]) -> Options:
    """The order's options with the collections' paths as documents; all of them when none was named."""
    if order.working_dir is not None:
        return order.options
    names = order.collections or tuple(offered)
    for name in names:
        if name not in offered:
            raise InputError(f"There is no collection {name!r}; choose from: {', '.join(offered) or 'none is offered'}")
    return replace(order.options, docs=[path for name in names for path in offered[name]])


def has_paid_calls(setup: RunConfig) -> bool:
    """Whether anything of this run costs more than to do it again: the extractive model over files does not."""
    from suffice.search.corpus.search import CorpusSearch

    return setup.model.name != "extractive" or not isinstance(setup.search, CorpusSearch)


def _to_json_value(value: Any) -> Any:
    if isinstance(value, Bounds):
        return {item.name: getattr(value, item.name) for item in fields(Bounds)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple):
        return [_to_json_value(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise InputError(f"A {type(value).__name__} object cannot be stored with a run; name the part instead")
