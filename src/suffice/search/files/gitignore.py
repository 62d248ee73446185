"""Patterns as in a ``.gitignore``, matched in time proportional to pattern and path, however many stars a pattern has.

A pattern is a list of names. A star inside a name is matched by the standard library's ``fnmatch``, which never takes a choice
back; ``**`` stands for any number of folders and takes back only the last choice.
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_MAX_CHARS = 1_000  # Of one pattern; longer ones are left out.
_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """``names`` holds one test for each name of a path, and ``None`` for ``**``, which is never the last one."""

    names: tuple[Callable[[str], object] | None, ...]
    is_negated: bool
    is_for_folders: bool

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """Whether the pattern matches the path or a folder above it."""
        at = i = resume = 0
        last_any = -1
        while i < len(self.names):
            test = self.names[i]
            if test is None:
                last_any, resume = i, at
                i += 1
            elif at < len(path) and test(path[at]):
                at, i = at + 1, i + 1
            elif last_any >= 0 and resume < len(path):
                resume += 1
                at, i = resume, last_any + 1
            else:
                return False
        return at < len(path) or is_folder or not self.is_for_folders


class IgnorePatterns:
    """The patterns of one ``.gitignore``, or of ``--include`` and ``--exclude``."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns = [pattern for line in lines if (pattern := _parse(line)) is not None]

    def __len__(self) -> int:
        return len(self._patterns)

    def judge(self, path: str) -> bool | None:
        """Return whether the last pattern that matches includes the path; ``None`` if none does. A folder ends in a slash."""
        names, is_folder = path.strip("/").split("/"), path.endswith("/")
        for pattern in reversed(self._patterns):
            if pattern.matches(names, is_folder):
                return not pattern.is_negated
        return None

    def matches(self, path: str) -> bool:
        return self.judge(path) is True


def _parse(line: str) -> _Pattern | None:
    stripped = line.rstrip(" ")
    if stripped.endswith("\\") and stripped != line:
        stripped += " "  # The space is escaped.
    if not stripped or stripped.startswith("#") or len(stripped) > _MAX_CHARS:
        return None
    text = stripped.removeprefix("!")
    names = [name for name in text.split("/") if name]
    if not names:
        return None
    if "/" not in text.rstrip("/"):
        names.insert(0, "**")
    if names[-1] == "**":
        names[-1] = "*"  # Everything inside; what a folder holds is matched with it.
    tests = [None if name == "**" else _make_test(name) for name in names]
    return _Pattern(tuple(tests), is_negated=text != stripped, is_for_folders=text.endswith("/"))


def _make_test(name: str) -> Callable[[str], object]:
    escaped = re.sub(r"\\(.)", lambda match: f"[{match[1]}]" if match[1] in _WILDCARDS else match[1], name)
    if not _WILDCARDS.intersection(escaped):
        return escaped.__eq__
    return re.compile(fnmatch.translate(escaped.replace("[^", "[!"))).match
