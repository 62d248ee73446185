"""``suffice skills``: list and show the skills that a question can begin with."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from suffice import settings
from suffice.cli.options import JSON, CommandGroup, argument
from suffice.cli.output import print_error

if TYPE_CHECKING:
    from suffice.skills.load import SkillSet
    from suffice.skills.skill import Skill

skills_app = CommandGroup("skills", invoke_without_command=True)


@skills_app.callback()
def list_skills(context: typer.Context, as_json: bool = JSON) -> None:
    """List and show skills: ways of working such as /deep that a question can begin with.

    Your own are folders with a SKILL.md in ~/.config/suffice/skills/ or .suffice/skills/; see docs/skills.md.
    """
    if context.invoked_subcommand is not None:
        return
    known = _load()
    width = max(len(name) for name in known.skills) + 3
    for skill in known.skills.values():
        if as_json:
            print(json.dumps(_to_row(skill), ensure_ascii=False))
        else:
            origin = "" if skill.origin == "built in" else f" ({skill.origin})"
            print(f"{'/' + skill.name:<{width}}{skill.description}{origin}")
    for problem in known.problems.values():
        print_error(problem)


@skills_app.command()
def show(
    name: str = argument(..., "The name of the skill, with or without the slash.", "NAME"), as_json: bool = JSON
) -> None:
    """Show where a skill acts, what it sets and what it tells the writer."""
    skill = _load().get(name.lstrip("/").lower())
    if as_json:
        row = {**_to_row(skill), "queries": skill.queries, "instruction": skill.instruction}
        print(json.dumps(row, ensure_ascii=False, indent=2))
        return
    print(f"/{skill.name}  ({skill.origin}, {skill.path})\n{skill.description}\n")
    print(f"acts        {', '.join(skill.hooks)}")
    if skill.activates:
        print(f"activated   by {', '.join(skill.activates)}")
    if skill.options:
        print(f"sets        {', '.join(f'{option}={value}' for option, value in skill.options.items())}")
    if skill.queries:
        print(f"searches    {'; '.join(skill.queries)}")
    if skill.instruction:
        print(f"\n{skill.instruction}")


def _to_row(skill: "Skill") -> dict[str, Any]:
    names = ("name", "description", "origin", "hooks", "activates", "options")
    return {name: getattr(skill, name) for name in names} | {"path": str(skill.path)}


def _load() -> "SkillSet":
    from suffice.skills.load import load_skills

    return load_skills(settings.load().config_dir, Path.cwd())
