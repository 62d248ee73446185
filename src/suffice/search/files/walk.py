"""List the files below some roots, without ignored, hidden, generated and binary files.

Symbolic links inside a folder are not followed: a link to a place inside would list a file twice, and a link to a place outside
would read files that the user did not name. A root that is itself a link is followed.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from suffice.errors import InputError
from suffice.search.files.gitignore import IgnorePatterns
from suffice.search.files.read import UNSUPPORTED_SUFFIXES, find_unsupported_suffix, guess_format

_ALWAYS_SKIPPED = frozenset({"node_modules", "__pycache__"})
# Far more than real ones have; a folder from someone else must not keep the processor busy with its rules.
_MAX_GITIGNORE_BYTES = 64 * 1024
_MAX_PATTERNS = 5_000  # Of all ``.gitignore`` files that hold for one folder.


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
class _GitIgnore:
    """The patterns of one ``.gitignore``. Its folder is ``below`` the root, or ``above`` is the way from it to the root."""

    patterns: IgnorePatterns
    below: str = ""
    above: str = ""

    def judge(self, path: str) -> bool | None:
        return self.patterns.judge(self.above + path.removeprefix(self.below))


def list_files(roots: Sequence[Path], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> FileListing:
    """Return the files to read. A root is always included, even if it is hidden, ignored or binary.

    ``include`` and ``exclude`` are patterns as in a ``.gitignore``, relative to each root folder.
    """
    walker = _FileWalker(IgnorePatterns(include or ["*"]), IgnorePatterns(exclude))
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
        for below in walker.walk(root, walker.read_parent_gitignores(Path(real))):
            files.setdefault(os.path.join(real, below), root / below)
    return FileListing(tuple(files.values()), tuple(walker.skipped))


@dataclass(slots=True)
class _FileWalker:
    include: IgnorePatterns
    exclude: IgnorePatterns
    skipped: list[SkippedFile] = field(default_factory=list)

    def walk(self, root: Path, rules: list[_GitIgnore]) -> Iterator[str]:
        """Yield paths relative to the root, in sorted order."""
        # Files, and folders with the rules that hold in them.
        pending: list[tuple[str, list[_GitIgnore] | None]] = [("", rules)]
        while pending:
            path, folder_rules = pending.pop()
            if folder_rules is None:
                yield path
            else:
                pending += reversed(list(self._list_folder(root, path, folder_rules)))

    def _list_folder(
        self, root: Path, below: str, rules: list[_GitIgnore]
    ) -> Iterator[tuple[str, list[_GitIgnore] | None]]:
        """Yield the files of one folder and, with their rules, the folders in it, in sorted order.

        The path of a folder below the root is empty or ends in a slash.
        """
        try:
            with os.scandir(root / below) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self._skip(root / below, f"cannot be opened ({error.strerror})")
            return
        names = {entry.name for entry in entries}
        if below and "pyvenv.cfg" in names:
            return
        if ".gitignore" in names:
            rules = self._add_gitignore(root / below, rules, below=below)
        for entry in entries:
            path = below + entry.name
            if entry.name.startswith(".") or entry.name in _ALWAYS_SKIPPED:
                continue
            if entry.is_symlink():
                self._record_skipped_link(root, path)
            elif entry.is_dir(follow_symlinks=False):
                if not _is_ignored(rules, path + "/") and not self.exclude.matches(path + "/"):
                    yield path + "/", rules
            elif self._is_wanted(root, path, entry, rules):
                yield path, None

    def _is_wanted(self, root: Path, path: str, entry: os.DirEntry[str], rules: list[_GitIgnore]) -> bool:
        format = guess_format(entry.name)
        if format == "binary" or not self.include.matches(path):
            return False
        if self.exclude.matches(path) or _is_ignored(rules, path):
            return False
        if format == "unsupported":
            suffix = find_unsupported_suffix(entry.name)
            self._skip(root / path, f"{suffix} files cannot be read; {UNSUPPORTED_SUFFIXES[suffix]}")
            return False
        if not entry.is_file(follow_symlinks=False):
            self._skip(root / path, "is not a regular file")
            return False
        return True

    def read_parent_gitignores(self, folder: Path) -> list[_GitIgnore]:
        """Return the rules of the enclosing git checkout, outermost first.

        Rules that ignore the folder itself are left out, because the user named it.
        """
        top = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
        if top is None or top == folder:
            return []
        rules: list[_GitIgnore] = []
        for parent in reversed(folder.parents):
            if parent.is_relative_to(top):
                rules = self._add_gitignore(parent, rules, above=f"{folder.relative_to(parent).as_posix()}/")
        return [rule for rule in rules if not rule.patterns.matches(rule.above)]

    def _add_gitignore(
        self, folder: Path, rules: list[_GitIgnore], *, below: str = "", above: str = ""
    ) -> list[_GitIgnore]:
        """Return the rules with those of the folder's ``.gitignore``, if it has one that can be used."""
        path = folder / ".gitignore"
        try:
            status = path.lstat()
            if not stat.S_ISREG(status.st_mode):  # As git does, no link is followed; a pipe would never end.
                self._skip(path, "is not a regular file, so its patterns are not used")
                return rules
            if status.st_size > _MAX_GITIGNORE_BYTES:
                limit = f"{_MAX_GITIGNORE_BYTES // 1024} kB"
                self._skip(path, f"is larger than {limit}, so its patterns are not used")
                return rules
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return rules
        patterns = IgnorePatterns(text.splitlines())
        if sum(len(rule.patterns) for rule in rules) + len(patterns) > _MAX_PATTERNS:
            why = f"has patterns beyond the {_MAX_PATTERNS:,} that may hold in one folder; they are not used"
            self._skip(path, why)
            return rules
        return [*rules, _GitIgnore(patterns, below, above)] if len(patterns) else rules

    def _record_skipped_link(self, root: Path, path: str) -> None:
        target = os.path.realpath(root / path)
        if not os.path.exists(target):
            self._skip(root / path, "is a broken symbolic link")
        elif os.path.commonpath([target, os.path.realpath(root)]) != os.path.realpath(root):
            self._skip(root / path, f"is a symbolic link to a place outside of the folder; name {target} to read it")

    def _skip(self, path: Path, why: str) -> None:
        self.skipped.append(SkippedFile(path, why))


def _is_ignored(rules: list[_GitIgnore], path: str) -> bool:
    """Whether git would ignore it: the nearest ``.gitignore`` with a matching pattern decides."""
    return next((verdict for rule in reversed(rules) if (verdict := rule.judge(path)) is not None), False)
