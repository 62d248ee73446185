"""The skills of one question: those that it names at its start, and those that its words activate."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suffice.errors import InputError
from suffice.skills.load import SkillSet, load_skills
from suffice.skills.skill import Skill
from suffice.storage.findings import StoredFinding

_COMMAND = re.compile(r"\s*/([A-Za-z][\w-]*)(?=\s|\Z)")
_NEGATED = re.compile(r"\b(?:not?|without|isn't|needn't)(?:\s+\w+){0,2}\s*\Z", re.IGNORECASE)


@dataclass(frozen=True)
class ActiveSkill:
    """A skill of a run, and why it is active."""

    skill: Skill
    why: str
    is_automatic: bool = False


@dataclass(frozen=True)
class Workspace:
    """What the code of a skill may read besides the search: the documents of the run, and the user's data folder."""

    docs: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    uses_web: bool = False
    data_dir: Path | None = None
    """The folder for stored findings; ``None`` where a run stores nothing, as in a service."""
    findings: tuple[StoredFinding, ...] | None = None
    """In a service: what earlier runs of the same key found."""


@dataclass(frozen=True)
class ActiveSkills:
    """The skills of a run, in the order in which they act."""

    active: tuple[ActiveSkill, ...] = ()
    workspace: Workspace = field(default_factory=Workspace)

    @property
    def skills(self) -> tuple[Skill, ...]:
        return tuple(one.skill for one in self.active)

    @property
    def needs_search(self) -> bool:
        """Whether the run searches; a skill that works from stored findings does not."""
        return not any(getattr(skill.code, "needs_no_search", False) for skill in self.skills)

    def to_metadata(self) -> list[dict[str, str]]:
        """Return which skills were active and why, as the report states it."""
        return [{"name": one.skill.name, "why": one.why, "origin": one.skill.origin} for one in self.active]


def parse_command(question: str) -> tuple[tuple[str, ...], str]:
    """Split the slash commands at the start of a question from the rest. A slash later is text.

    >>> parse_command("/deep /cite How do bees dance?")
    (('deep', 'cite'), 'How do bees dance?')
    >>> parse_command("What does GET /jobs do?"), parse_command("/etc/hosts has which format?")
    (((), 'What does GET /jobs do?'), ((), '/etc/hosts has which format?'))
    """
    names: list[str] = []
    rest = question.strip()
    while found := _COMMAND.match(rest):
        names.append(found[1].lower())
        rest = rest[found.end() :].strip()
    return tuple(dict.fromkeys(names)), rest


def choose_skills(
    question: str, config_dir: Path, *, automatic: bool = True, notify: Callable[[str], None] = lambda message: None
) -> tuple[str, tuple[ActiveSkill, ...]]:
    """Return the question without its slash commands, and the skills that are active for it.

    Raises ``InputError`` for an unknown skill, before anything else happens. Skills of the project act only when named: they
    may have come with a folder of documents.
    """
    names, task = parse_command(question)
    known = load_skills(config_dir, Path.cwd())
    active = [ActiveSkill(known.get(name), f"the question begins with /{name}") for name in names]
    if names and not any(character.isalnum() for character in task):
        raise InputError(f"Write your question or text after /{names[-1]}. {active[-1].skill.description}")
    if automatic:
        active += _find_automatic(task, known, {one.skill.name for one in active})
        for problem in known.problems.values():
            notify(problem)
    replacing = [one.skill.name for one in active if "instead" in one.skill.hooks]
    if len(replacing) > 1:
        raise InputError(
            f"/{replacing[0]} and /{replacing[1]} both replace the search and cannot be combined; leave one of them out"
        )
    return task, tuple(active)


def merge_options(active: tuple[ActiveSkill, ...]) -> dict[str, Any]:
    """Return the options that the skills set; a later skill wins over an earlier one, a named one over an automatic one."""
    ordered = sorted(active, key=lambda one: not one.is_automatic)
    return {name: value for one in ordered for name, value in one.skill.options.items()}


def _find_automatic(task: str, known: SkillSet, taken: set[str]) -> list[ActiveSkill]:
    found = []
    for skill in known.skills.values():
        if skill.name in taken or skill.origin == "project" or "instead" in skill.hooks:
            continue
        for word in skill.activates:
            match = re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", task, re.IGNORECASE)
            if match and not _NEGATED.search(task, 0, match.start()) and not _is_quoted(task, match.start()):
                found.append(ActiveSkill(skill, f'the question says "{match.group()}"', is_automatic=True))
                break
    return found


def _is_quoted(text: str, position: int) -> bool:
    """Whether a position is inside quotation marks or code: there the word is a name."""
    before = text[:position]
    return any(before.count(mark) % 2 for mark in ('"', "`")) or before.count("“") > before.count("”")
