"""The lock file for development: it pins what pyproject.toml asks for, by hash, and names no index."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
PINS = re.findall(
    r"^([\w.-]+)==([\w.!+]+)(?: ;[^\\\n]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", LOCK, re.M
)


def _list_requirements() -> list[Requirement]:
    """Return the dependencies of the package and of the extras that development needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = [Requirement(text) for text in (*project["dependencies"], *extras["dev"])]
    [own] = [requirement for requirement in requirements if requirement.name == "suffice"]
    requirements += [Requirement(text) for extra in sorted(own.extras) for text in extras[extra]]
    return [requirement for requirement in requirements if requirement.name != "suffice"]


def test_every_dependency_is_pinned_to_a_version_it_allows() -> None:
    pinned: dict[str, list[str]] = {}
    for name, version, _ in PINS:
        pinned.setdefault(name, []).append(version)
    for requirement in _list_requirements():
        versions = pinned.get(canonicalize_name(requirement.name), [])
        assert any(requirement.specifier.contains(version) for version in versions), (
            f"{requirement} is not in requirements-dev.lock; run: make lock"
        )


def test_the_lock_file_holds_nothing_but_pins_and_hashes() -> None:
    lines = LOCK.splitlines()
    pins = [line for line in lines if re.match(r"[\w.-]+==", line)]
    assert len(pins) == len(PINS), "a pin has no hash"
    assert all(line.startswith("#") or line in pins or line.startswith("    --hash=sha256:") for line in lines)
    assert not re.search(r"://|file:|(?m:^|\s)/", LOCK)
