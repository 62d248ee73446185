"""List the files below some roots, without ignored, hidden, generated and binary files.

Symbolic links inside a folder are not followed: a link to a place inside would list a file twice, and a link to a place outside
would read files that the user did not name. A root that is itself a link is followed.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from suffice.errors import InputError
from suffice.search.files.read import UNSUPPORTED_SUFFIXES, find_unsupported_suffix, guess_format

_ALWAYS_SKIPPED = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file or folder that was skipped although the user may expect it, and why."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files below the roots, each root in sorted order, no file twice."""

    files: tuple[Path, ...]
    skipped: tuple[SkippedFile, ...]


@dataclass(frozen=True, slots=True)
class _GitIgnoreRules:
    """The patterns of one ``.gitignore``, and the path from its folder to the folder being walked."""

    spec: GitIgnoreSpec
    path_from_gitignore: str

    def enter_folder(self, name: str) -> "_GitIgnoreRules":
        return _GitIgnoreRules(self.spec, f"{self.path_from_gitignore}{name}/")


def list_files(roots: Sequence[Path], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> FileListing:
    """Return the files to read. A root is always included, even if it is hidden, ignored or binary.

    ``include`` and ``exclude`` are patterns as in a ``.gitignore``, relative to each root folder.
    """
    walker = _FileWalker(_make_spec(include), _make_spec(exclude))
    files: dict[str, Path] = {}
    for root in roots:
        if not os.path.exists(root):
            raise InputError(f"{root} does not exist; check the path.")
        if not root.is_dir():
            files.setdefault(os.path.realpath(root), root)
            continue
        real = os.path.realpath(root)
        if not os.access(root, os.R_OK | os.X_OK):
            raise InputError(f"{root} cannot be opened; check its permissions.")
        for below in walker.walk(root, "", _read_parent_gitignores(Path(real))):
            files.setdefault(os.path.join(real, below), root / below)
    return FileListing(tuple(files.values()), tuple(walker.skipped))


@dataclass(slots=True)
class _FileWalker:
    include: GitIgnoreSpec | None
    exclude: GitIgnoreSpec | None
    skipped: list[SkippedFile] = field(default_factory=list)

    def walk(self, root: Path, below: str, rules: list[_GitIgnoreRules]) -> Iterator[str]:
        """Yield paths relative to the root, in sorted order; ``below`` is empty or ends in a slash."""
        try:
            with os.scandir(root / below) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self.skipped.append(SkippedFile(root / below, f"cannot be opened ({error.strerror})"))
            return
        names = {entry.name for entry in entries}
        if below and "pyvenv.cfg" in names:
            return
        if ".gitignore" in names:
            rules = [*rules, *_read_gitignore(root / below, "")]
        for entry in entries:
            path = below + entry.name
            if entry.name.startswith(".") or entry.name in _ALWAYS_SKIPPED:
                continue
            if entry.is_symlink():
                self._record_skipped_link(root, path)
            elif entry.is_dir(follow_symlinks=False):
                if not _is_ignored(rules, entry.name + "/") and not self._is_excluded(path + "/"):
                    yield from self.walk(root, path + "/", [rule.enter_folder(entry.name) for rule in rules])
            elif self._is_wanted(root, path, entry, rules):
                yield path

    def _is_wanted(self, root: Path, path: str, entry: os.DirEntry[str], rules: list[_GitIgnoreRules]) -> bool:
        format = guess_format(entry.name)
        if format == "binary" or (self.include is not None and not self.include.match_file(path)):
            return False
        if self._is_excluded(path) or _is_ignored(rules, entry.name):
            return False
        if format == "unsupported":
            suffix = find_unsupported_suffix(entry.name)
            self.skipped.append(
                SkippedFile(root / path, f"{suffix} files cannot be read; {UNSUPPORTED_SUFFIXES[suffix]}")
            )
            return False
        if not entry.is_file(follow_symlinks=False):
            self.skipped.append(SkippedFile(root / path, "is not a regular file"))
            return False
        return True

    def _is_excluded(self, path: str) -> bool:
        return self.exclude is not None and self.exclude.match_file(path)

    def _record_skipped_link(self, root: Path, path: str) -> None:
        target = os.path.realpath(root / path)
        if not os.path.exists(target):
            self.skipped.append(SkippedFile(root / path, "is a broken symbolic link"))
        elif os.path.commonpath([target, os.path.realpath(root)]) != os.path.realpath(root):
            self.skipped.append(
                SkippedFile(
                    root / path, f"is a symbolic link to a place outside of the folder; name {target} to read it"
                )
            )


def _make_spec(patterns: Sequence[str]) -> GitIgnoreSpec | None:
    return GitIgnoreSpec.from_lines(patterns) if patterns else None


def _is_ignored(rules: list[_GitIgnoreRules], name: str) -> bool:
    """Whether git would ignore it: the nearest ``.gitignore`` with a matching pattern decides."""
    for rule in reversed(rules):
        verdict = rule.spec.check_file(rule.path_from_gitignore + name).include
        if verdict is not None:
            return verdict
    return False


def _read_gitignore(folder: Path, path_from_gitignore: str) -> list[_GitIgnoreRules]:
    try:
        text = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    spec = GitIgnoreSpec.from_lines(text.splitlines())
    return [_GitIgnoreRules(spec, path_from_gitignore)] if len(spec) else []


def _read_parent_gitignores(folder: Path) -> list[_GitIgnoreRules]:
    """Return the rules of the enclosing git checkout, outermost first.

    Rules that ignore the folder itself are left out, because the user named it.
    """
    top = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
    if top is None or top == folder:
        return []
    between = [parent for parent in reversed(folder.parents) if parent.is_relative_to(top)]
    found = [
        rule for parent in between for rule in _read_gitignore(parent, f"{folder.relative_to(parent).as_posix()}/")
    ]
    return [rule for rule in found if not rule.spec.match_file(rule.path_from_gitignore)]
