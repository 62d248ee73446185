"""Job requests: a question, the run's options and the collections it searches, and their stored JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from suffice.engine.bounds import BOUND_OPTIONS
from suffice.engine.config import RunConfig
from suffice.errors import InputError
from suffice.models.base import is_language_model
from suffice.options import RunOptions
from suffice.search.engines.address import is_address, remove_secrets

DEFAULT_COLLECTION = "default"  # The collection of a path without a name.


@dataclass(frozen=True)
class JobRequest:
    """A requested run.

    A run of the service names ``collections``, and once it is accepted has ``tags`` that identify each of them (see
    ``served``); a run of the command line has a ``working_dir``, to which its relative paths refer.
    """

    question: str
    options: RunOptions = RunOptions()
    collections: tuple[str, ...] = ()
    working_dir: str | None = None
    tags: Mapping[str, Sequence[str]] | None = field(default=None, compare=False)

    def to_json(self) -> str:
        """Return the request as JSON without secrets of addresses; options that have their default value are left out."""
        chosen = {
            field.name: _to_json_value(getattr(self.options, field.name))
            for field in fields(RunOptions)
            if getattr(self.options, field.name) != field.default
        }
        stored = {"task": self.question, "options": chosen, "collections": self.collections, "folder": self.working_dir}
        return json.dumps(stored if self.tags is None else stored | {"tags": self.tags})


def parse_request(text: str) -> JobRequest:
    """Parse what ``JobRequest.to_json`` wrote, also in version 0.1."""
    stored = json.loads(text)
    options = dict(stored["options"])
    # Version 0.1 stored limits as a nested object.
    options |= {BOUND_OPTIONS[name]: value for name, value in options.pop("bounds", {}).items()}
    if options.pop("with_leads", False):
        options["interventions"] = ["leads", *options.get("interventions", ())]
    collections = tuple(stored["collections"])
    return JobRequest(stored["task"], RunOptions(**options), collections, stored["folder"], stored.get("tags"))


def parse_collections(texts: Sequence[str]) -> dict[str, list[str]]:
    """Parse ``NAME=PATH`` or ``PATH`` arguments; a bare path belongs to the collection ``default``.

    A path may also be the address of a corpus.
    """
    collections: dict[str, list[str]] = {}
    for text in texts:
        name, separator, path = text.partition("=")
        if not separator or not name.replace("-", "").replace("_", "").isalnum():
            name, path = DEFAULT_COLLECTION, text
        if is_address(path):
            collections.setdefault(name, []).append(path)
            continue
        if not Path(path).expanduser().exists():
            raise InputError(f"--docs {text}: there is no file or folder {path}")
        collections.setdefault(name, []).append(str(Path(path).expanduser().resolve()))
    return collections


def resolve_collections(request: JobRequest, collections: Mapping[str, Sequence[str]]) -> RunOptions:
    """Return the request's options with the paths of its collections as documents.

    A request without names searches all collections; an accepted one has the names of those that there were.
    """
    if request.working_dir is not None:
        return request.options
    names = request.collections or (tuple(collections) if request.tags is None else ())
    for name in names:
        if name not in collections:
            raise InputError(f"There is no collection {name!r}; choose from: {', '.join(collections) or '(none)'}")
    return replace(request.options, docs=[path for name in names for path in collections[name]])


def has_paid_calls(config: RunConfig) -> bool:
    """Whether a run makes calls that are worth journaling; the extractive model over our own indexes makes none."""
    return is_language_model(config.model) or not getattr(config.search, "is_own_index", False)


def _to_json_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_to_json_value(item) for item in value]
    if isinstance(value, str):
        return remove_secrets(value)
    if value is None or isinstance(value, int | float | bool):
        return value
    raise InputError(f"A {type(value).__name__} object cannot be stored with a run; give its name instead")
