"""What a skill is, and how its ``SKILL.md`` is read.

    ---
    name: brief
    description: Answers in three sentences for a busy reader.
    metadata:
      suffice-activates: in short, briefly
      suffice-options: tier=simple, k=3
      suffice-queries: $task overview; $task summary
      suffice-hooks: before_search, before_writing
    ---
    Write three sentences at most.

The hooks follow from what the file has, unless it names them: options and queries act before the search, the text before the
writing. With ``after_writing`` the text is instead an instruction for rewriting the finished answer.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from suffice.errors import InputError
from suffice.gates.parse import split_list

HOOKS = ("before_search", "before_writing", "after_writing", "instead")
"""Where a skill acts: before the search, before the writing, after the writing, or in place of search and writing."""
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
MAX_NAME_CHARS = 64  # Limits of the Agent Skills layout.
MAX_DESCRIPTION_CHARS = 1024
MAX_FILE_CHARS = 50_000  # A longer instruction would crowd out the evidence.
# Options that a skill may set. Not what is searched, which model reads it or what is stored: a skill that came with a folder of
# documents must not send them anywhere.
OPTION_NAMES = (
    *("strategy", "memory", "stop", "tier", "max_rounds", "max_queries", "max_sources", "max_seconds", "max_tokens"),
    *("k", "per_round", "alpha", "interventions", "review", "panel", "strict"),
)
_PREFIX = "suffice-"
_FIELDS = ("activates", "options", "queries", "hooks")


@dataclass(frozen=True)
class Skill:
    """A skill: its texts, the options it sets, and where it acts."""

    name: str
    description: str
    instruction: str = ""
    """How to write the answer, or with ``after_writing`` how to rewrite it."""
    hooks: tuple[str, ...] = ()
    activates: tuple[str, ...] = ()
    """Words of a question that activate the skill by themselves."""
    options: Mapping[str, Any] = field(default_factory=dict)
    queries: tuple[str, ...] = ()
    """Queries to ask in the first round; ``$task`` is the question."""
    origin: str = "built in"
    """``built in``, ``package``, ``user`` or ``project``."""
    path: Path | None = None
    code: type | None = None
    """A subclass of ``SkillCode``."""


def parse_skill(text: str, path: Path, origin: str, code: type | None = None) -> Skill:
    """Return the skill of a ``SKILL.md``; raise ``InputError`` with the first thing that is wrong."""

    def fail(problem: str) -> InputError:
        return InputError(f"{path}: {problem}")

    if len(text) > MAX_FILE_CHARS:
        raise fail(f"has {len(text):,} characters, but at most {MAX_FILE_CHARS:,} are allowed; move details elsewhere")
    head, body = _split_head(text, fail)
    name = _get_text(head, "name", fail)
    if not NAME.match(name) or len(name) > MAX_NAME_CHARS:
        raise fail(f"the name {name!r} must consist of small letters, digits and single hyphens")
    if name != path.parent.name:
        raise fail(f"the name {name!r} must be that of its folder, {path.parent.name!r}; rename one of them")
    description = _get_text(head, "description", fail)
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise fail(f"the description must have at most {MAX_DESCRIPTION_CHARS} characters")
    values = _get_own_values(head, fail)
    options = _parse_options(values.get("options", ""), fail)
    queries = tuple(part.strip() for part in values.get("queries", "").split(";") if part.strip())
    skill = Skill(
        name=name,
        description=description,
        instruction=body,
        activates=tuple(word.strip().lower() for word in values.get("activates", "").split(",") if word.strip()),
        options=options,
        queries=queries,
        origin=origin,
        path=path,
        code=code,
    )
    hooks = _choose_hooks(values.get("hooks", ""), skill, fail)
    if not hooks:
        raise fail("does nothing; write an instruction below the head, or set suffice-options or suffice-queries")
    return replace(skill, hooks=hooks)


def _split_head(text: str, fail: Any) -> tuple[Mapping[str, Any], str]:
    import yaml

    found = re.match(r"\ufeff?---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|\Z)(.*)\Z", text, re.DOTALL)
    if found is None:
        raise fail("must begin with a head between two lines '---' that has name and description")
    try:
        head = yaml.safe_load(found[1])
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = "" if mark is None else f" in line {mark.line + 2}"
        raise fail(f"its head is not YAML{where}: {getattr(error, 'problem', None) or 'it cannot be read'}") from None
    if not isinstance(head, Mapping):
        raise fail("its head must have lines such as 'name: …' and 'description: …'")
    return head, found[2].strip()


def _get_text(head: Mapping[str, Any], name: str, fail: Any) -> str:
    value = head.get(name)
    if not isinstance(value, str) or not value.strip():
        raise fail(f"its head has no {name}; add a line '{name}: …'")
    return " ".join(value.split())


def _get_own_values(head: Mapping[str, Any], fail: Any) -> dict[str, str]:
    """Return the values under ``metadata`` that are meant for suffice, without the prefix of their names."""
    metadata = head.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise fail("metadata must be a list of 'name: value' lines")
    own = {str(name).removeprefix(_PREFIX): value for name, value in metadata.items() if str(name).startswith(_PREFIX)}
    for name, value in own.items():
        if name not in _FIELDS:
            raise fail(f"{_PREFIX}{name} is not known; use {', '.join(_PREFIX + known for known in _FIELDS)}")
        if not isinstance(value, str | int | float):
            raise fail(f"{_PREFIX}{name} must be one line of text")
    return {name: str(value) for name, value in own.items()}


def _parse_options(text: str, fail: Any) -> dict[str, Any]:
    """Parse ``tier=deep, stop=fixed(3), panel=true``; a comma inside brackets belongs to the value."""
    options: dict[str, Any] = {}
    for part in split_list(text):
        name, separator, value = (piece.strip() for piece in part.partition("="))
        if not separator or name not in OPTION_NAMES:
            raise fail(f"suffice-options: {part!r} is not one of NAME=VALUE with {', '.join(OPTION_NAMES)}")
        options[name] = _parse_value(value)
    return options


def _parse_value(text: str) -> Any:
    """Return a number or a truth value; anything else is a text."""
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except ValueError:
        return text


def _choose_hooks(text: str, skill: Skill, fail: Any) -> tuple[str, ...]:
    """Return the hooks that the file names, else those that follow from what it has; code adds its own."""
    own = () if skill.code is None else tuple(hook for hook in HOOKS if hook in vars(skill.code))
    named = tuple(part.strip() for part in text.split(",") if part.strip())
    if unknown := [hook for hook in named if hook not in HOOKS]:
        raise fail(f"suffice-hooks: {unknown[0]!r} is not a hook; use {', '.join(HOOKS)}")
    if not named:
        acts_before_search = bool(skill.options or skill.queries)
        acts_before_writing = bool(skill.instruction) and not {"after_writing", "instead"} & set(own)
        named = (*(["before_search"] * acts_before_search), *(["before_writing"] * acts_before_writing))
    if "instead" in named and "instead" not in own:
        raise fail("the hook 'instead' needs Python code; register a class under the entry point suffice.skills")
    if {"before_writing", "after_writing"} & set(named) - set(own) and not skill.instruction:
        raise fail("has no instruction; write one below the head")
    return tuple(hook for hook in HOOKS if hook in {*named, *own})
