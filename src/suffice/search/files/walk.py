"""Lists the files below some roots, the way a developer expects: no ignored, hidden, generated or binary files.

Symbolic links inside a folder are not followed: a link that stays inside would list a file twice, and one that leaves
would read what nobody pointed at. A root that is itself a link is followed. What a file holds is not looked at.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pathspec import GitIgnoreSpec

from suffice.errors import InputError
from suffice.search.files.formats import FOREIGN, family_of, suffix_of

_NEVER = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or folder that was passed over although somebody may have expected it, and why."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Listing:
    """What the roots hold, each root in sorted order, no file twice."""

    files: tuple[Path, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one ``.gitignore``; ``above`` is the walked folder's path below the folder that holds it."""

    spec: GitIgnoreSpec
    above: str

    def inside(self, name: str) -> "_Rules":
        return _Rules(self.spec, f"{self.above}{name}/")


def listing(roots: Sequence[Path], include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Listing:
    """The files to read. A root that is named is taken even if it is hidden, ignored or binary.

    ``include`` and ``exclude`` are patterns as in a ``.gitignore``, relative to each root folder.
    """
    walk = _Walk(_spec(include), _spec(exclude))
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
        for below in walk.files(root, "", _rules_above(Path(real))):
            files.setdefault(os.path.join(real, below), root / below)
    return Listing(tuple(files.values()), tuple(walk.skipped))


@dataclass(slots=True)
class _Walk:
    include: GitIgnoreSpec | None
    exclude: GitIgnoreSpec | None
    skipped: list[Skipped] = field(default_factory=list)

    def files(self, root: Path, below: str, rules: list[_Rules]) -> Iterator[str]:
        """Paths relative to the root, in sorted order; ``below`` is empty or ends in a slash."""
        try:
            with os.scandir(root / below) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            self.skipped.append(Skipped(root / below, f"cannot be opened ({error.strerror})"))
            return
        names = {entry.name for entry in entries}
        if below and "pyvenv.cfg" in names:
            return
        if ".gitignore" in names:
            rules = [*rules, *_rules_in(root / below, "")]
        for entry in entries:
            path = below + entry.name
            if entry.name.startswith(".") or entry.name in _NEVER:
                continue
            if entry.is_symlink():
                self._note_link(root, path)
            elif entry.is_dir(follow_symlinks=False):
                if not _ignored(rules, entry.name + "/") and not self._excluded(path + "/"):
                    yield from self.files(root, path + "/", [rule.inside(entry.name) for rule in rules])
            elif self._wanted(root, path, entry, rules):
                yield path

    def _wanted(self, root: Path, path: str, entry: os.DirEntry[str], rules: list[_Rules]) -> bool:
        family = family_of(entry.name)
        if family == "binary" or (self.include is not None and not self.include.match_file(path)):
            return False
        if self._excluded(path) or _ignored(rules, entry.name):
            return False
        if family == "foreign":
            suffix = suffix_of(entry.name)
            self.skipped.append(Skipped(root / path, f"{suffix} files cannot be read; {FOREIGN[suffix]}"))
            return False
        if not entry.is_file(follow_symlinks=False):
            self.skipped.append(Skipped(root / path, "is not a regular file"))
            return False
        return True

    def _excluded(self, path: str) -> bool:
        return self.exclude is not None and self.exclude.match_file(path)

    def _note_link(self, root: Path, path: str) -> None:
        target = os.path.realpath(root / path)
        if not os.path.exists(target):
            self.skipped.append(Skipped(root / path, "is a broken symbolic link"))
        elif os.path.commonpath([target, os.path.realpath(root)]) != os.path.realpath(root):
            self.skipped.append(Skipped(root / path, f"is a symbolic link out of the folder; name {target} to read it"))


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec | None:
    return GitIgnoreSpec.from_lines(patterns) if patterns else None


def _ignored(rules: list[_Rules], name: str) -> bool:
    """As git decides it: the nearest ``.gitignore`` with an opinion wins."""
    for rule in reversed(rules):
        verdict = rule.spec.check_file(rule.above + name).include
        if verdict is not None:
            return verdict
    return False


def _rules_in(folder: Path, above: str) -> list[_Rules]:
    try:
        text = (folder / ".gitignore").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    spec = GitIgnoreSpec.from_lines(text.splitlines())
    return [_Rules(spec, above)] if len(spec) else []


def _rules_above(folder: Path) -> list[_Rules]:
    """The rules of the enclosing git checkout, outermost first; none outside of one.

    Rules that ignore the folder itself are left out: it was named, so it is wanted.
    """
    top = next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
    if top is None or top == folder:
        return []
    between = [parent for parent in reversed(folder.parents) if parent.is_relative_to(top)]
    found = [rule for parent in between for rule in _rules_in(parent, f"{folder.relative_to(parent).as_posix()}/")]
    return [rule for rule in found if not rule.spec.match_file(rule.above)]
