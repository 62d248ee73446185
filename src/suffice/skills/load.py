"""The skills at hand: built in, of installed packages, of the user and of the project, in this order.

A later skill replaces an earlier one of the same name, except a built-in one: ``/deep`` means the same everywhere. A file that
cannot be used becomes a problem, which is told once and does not stop runs that do not need the skill.
"""

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path

from suffice import plugins
from suffice.errors import InputError
from suffice.skills.skill import Skill, parse_skill
from suffice.text.plain import read_text

FILE_NAME = "SKILL.md"
PROJECT_FOLDER = Path(".suffice") / "skills"
_LIBRARY = Path(str(files("suffice") / "skills" / "library"))


@dataclass(frozen=True)
class SkillSet:
    """Skills by name, and the files that cannot be used with the reason, by the name of their folder."""

    skills: dict[str, Skill]
    problems: dict[str, str]

    def get(self, name: str) -> Skill:
        """Return a skill; raise ``InputError`` with the nearest name for an unknown one, or with what is wrong with it."""
        skill = self.skills.get(name)
        if skill is not None:
            return skill
        if name in self.problems:
            raise InputError(f"The skill /{name} cannot be used: {self.problems[name]}")
        similar = get_close_matches(name, self.skills, 1)
        names = ", ".join(f"/{known}" for known in self.skills)
        hint = f"did you mean /{similar[0]}?" if similar else f"choose one of: {names}."
        raise InputError(f"There is no skill /{name}; {hint} To ask about the text itself, put it in quotes")


def load_skills(config_dir: Path, project_dir: Path) -> SkillSet:
    """Return all skills. ``config_dir`` is the user's configuration folder, ``project_dir`` the working directory."""
    built_in = _load_built_in()
    skills, problems = dict(built_in.skills), dict(built_in.problems)
    own = ((config_dir / "skills", "user"), (project_dir / PROJECT_FOLDER, "project"))
    for folder, origin in own:
        for path in _list_skill_files(folder):
            name = path.parent.name
            try:
                if name in built_in.skills and built_in.skills[name].origin == "built in":
                    raise InputError(
                        f"{path}: /{name} is built in and cannot be replaced; rename the folder and the skill"
                    )
                skills[name] = parse_skill(read_text(path), path, origin)
                problems.pop(name, None)
            except InputError as error:
                problems[name] = str(error)
    return SkillSet(skills, problems)


@cache
def _load_built_in() -> SkillSet:
    """Return the built-in skills and those of installed packages, which announce a class with their ``folder``."""
    code = {name: plugins.load_plugin("skills", name) for name in plugins.list_plugins("skills")}
    skills: dict[str, Skill] = {}
    problems: dict[str, str] = {}
    for path in _list_skill_files(_LIBRARY):
        skills[path.parent.name] = parse_skill(read_text(path), path, "built in", code.pop(path.parent.name, None))
    for name, own_code in code.items():
        try:
            if (folder := getattr(own_code, "folder", None)) is None:
                lack = f"has no attribute 'folder' with the path of its {FILE_NAME}"
                raise InputError(f"the class of the skill /{name} {lack}")
            path = Path(folder) / FILE_NAME
            skills[name] = parse_skill(read_text(path), path, "package", own_code)
        except InputError as error:
            problems[name] = str(error)
    return SkillSet(skills, problems)


def _list_skill_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.glob(f"*/{FILE_NAME}") if path.is_file())
    except OSError:
        return []
