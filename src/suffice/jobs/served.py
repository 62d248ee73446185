"""The collections that a process serves, and the tags by which another process knows whether it serves the same ones.

A run belongs to the collections it was asked of. Another process may work on it, and show it, if it has collections of the
same names that share a tag with them:

- the place: the resolved paths and addresses; on a database that several machines share, also the name of the host. It stays
  the same while files are edited, so a service that starts again finds its runs.
- on a database that several machines share also the content: the relative path and size of each file that would be indexed,
  and the addresses. It is the same where a copy of the folder lies at another path or on another machine.

Files that are edited without a change of their size do not change the tag: it tells folders apart, it does not check a copy.
"""

import hashlib
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from suffice.jobs.requests import JobRequest, parse_request
from suffice.models.llm.endpoint import is_local
from suffice.search.engines.address import is_address, remove_secrets, split_address
from suffice.search.files.walk import list_files

Tags = Mapping[str, Collection[str]]


class ServedCollections:
    """The collections of this process by name.

    ``host`` is this machine's name if other machines share the database of the runs, otherwise ``None``.
    """

    def __init__(self, collections: Mapping[str, Sequence[str]], host: str | None = None) -> None:
        self.collections = dict(collections)
        self._host = host
        self._current: dict[str, list[str]] = {}
        self.tags: dict[str, list[str]] = {name: [] for name in collections}
        """All tags that each collection had since this process started, so that a run waits through a change of the files."""

    def read_tags(self) -> None:
        """Read the tags of the collections as they are now. This lists all files if several machines share the database."""
        current = {name: self._compute_tags(paths) for name, paths in self.collections.items()}
        self.tags = {name: list(dict.fromkeys([*self.tags[name], *tags])) for name, tags in current.items()}
        self._current = current

    @property
    def digest(self) -> str:
        """A digest of the latest tags: the same wherever the same collections are served."""
        return _digest(sorted((name, tags[-1]) for name, tags in self._current.items()))

    def bind(self, request: JobRequest) -> JobRequest:
        """Return the request with the names and tags of the collections it searches: all of them if it names none."""
        names = request.collections or tuple(self.collections)
        return replace(request, collections=names, tags={name: self._current[name] for name in names})

    def serves(self, request: JobRequest) -> bool:
        return shares_tags(self.tags, request)

    def accepts(self, stored_request: str) -> bool:
        """The same of the stored JSON of a request."""
        return self.serves(parse_request(stored_request))

    def _compute_tags(self, paths: Sequence[str]) -> list[str]:
        place = _digest([self._host, *(remove_secrets(path) for path in paths)])
        return [place] if self._host is None else [place, _digest([self._describe_content(path) for path in paths])]

    def _describe_content(self, path: str) -> list[object]:
        if is_address(path):
            location, parts, _ = split_address(path)
            is_here = not location or is_local(path)
            return [self._host if is_here else None, location.rpartition("@")[2], *parts]
        root = Path(path)
        below = root if root.is_dir() else root.parent
        return [[os.path.relpath(file, below), _get_size(file)] for file in list_files([root]).files]


def shares_tags(tags: Tags, request: JobRequest) -> bool:
    """Whether each collection of a request has a tag in common with the one of the same name."""
    if request.tags is None:  # Stored by an earlier version.
        return all(name in tags for name in request.collections)
    return all(not set(tags.get(name, ())).isdisjoint(own) for name, own in request.tags.items())


def _get_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # Deleted since it was listed.
        return -1


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode("utf-8", "surrogateescape")).hexdigest()[:24]
