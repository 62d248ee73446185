"""``/github``: a repository from a local clone or export: its README, its structure and its issues, beside the answer.

Issues are read from a JSON file whose name has "issues" in it, as ``gh issue list --json`` writes it.
Nothing is fetched; with ``--web`` the usual web search runs besides.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from suffice.answers import Statement
from suffice.claims.verify import Checked
from suffice.errors import InputError
from suffice.search.files.walk import list_files
from suffice.skills.hooks import SkillCode, SkillContext, add_section, cite_words
from suffice.skills.sentences import list_sentences
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_markdown
from suffice.types import Passage, Place

MAX_ISSUES = 500
_MAX_BYTES = 20_000_000
_SHOWN_ISSUES = 8
_SHOWN_FOLDERS = 15
_README_CHARS = 4_000


class GithubSkill(SkillCode):
    async def before_search(self, context: SkillContext) -> None:
        roots = [Path(path) for path in context.workspace.docs if Path(path).is_dir()]
        if not roots:
            raise InputError("/github reads a local clone or export of a repository; name its folder with --docs")
        self._described: list[Passage] = []
        self._issues: list[tuple[Passage, dict[str, Any]]] = []
        for root in roots:
            files = list_files([root], context.workspace.include, context.workspace.exclude).files
            self._described += filter(None, (_read_readme(root), _describe_structure(root, files)))
            issues = ((path, issue) for path in files for issue in _read_issues(path))
            self._issues += [(_make_issue_passage(*one), one[1]) for one in islice(issues, MAX_ISSUES)]
        wanted = content_stems(context.run.task)
        self._issues.sort(key=lambda one: -len(wanted & content_stems(f"{one[0].title} {one[0].text}")))
        await context.add_passages(self._described, pin=True)
        await context.add_passages([passage for passage, _ in self._issues[:_SHOWN_ISSUES]])

    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        evidence, statements = context.run.evidence, list[Statement]()
        for passage in self._described:
            own = list(list_sentences(evidence, [passage]))
            statements += [sentence.statement for sentence in own[: 1 if passage.kind == "markdown" else 4]]
        statements += [
            cite_words(escape_markdown(passage.text.splitlines()[0]), evidence.get_handle(passage))
            for passage, _ in self._issues[:_SHOWN_ISSUES]
        ]
        kept, verdicts = await context.keep_supported(statements)
        states = Counter(str(issue.get("state", "unknown")).lower() for _, issue in self._issues)
        context.metadata["github"] = {"issues": dict(states), "read": [one.location for one in self._described]}
        if not kept:
            return written
        lines = "\n".join(f"- {statement.text}" for statement in kept)
        written = add_section(written, f"### The repository\n\n{lines}", verdicts)
        draft = replace(written.draft, origin="written" if context.has_language_model else "skill")
        return replace(written, draft=draft)


def _read_readme(root: Path) -> Passage | None:
    found = (path for path in sorted(root.iterdir()) if path.is_file() and path.stem.lower() == "readme")
    if (path := next(found, None)) is None:
        return None
    text = path.read_text(encoding="utf-8", errors="replace")[:_README_CHARS]
    place = Place(str(path), (1, 1 + text.count("\n")))
    return Passage(f"readme:{path}", text, "README", place, "markdown") if text.strip() else None


def _describe_structure(root: Path, files: tuple[Path, ...]) -> Passage:
    """Return the structure in sentences that can be cited: counts by kind of file and by folder."""
    kinds = Counter(path.suffix or path.name for path in files)
    folders = Counter(path.relative_to(root).parts[0] for path in files if len(path.relative_to(root).parts) > 1)
    shown = ", ".join(f"{count} {suffix}" for suffix, count in kinds.most_common(8))
    text = f"The repository {root.resolve().name} has {len(files)} readable files: {shown}."
    if folders:
        listed = ", ".join(f"{name}/ ({count})" for name, count in folders.most_common(_SHOWN_FOLDERS))
        text += f"\nIts folders and how many of them they hold: {listed}."
    return Passage(f"structure:{root}", text, f"Structure of {root.resolve().name}", Place(str(root)), "structure")


def _read_issues(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix.lower() != ".json" or "issue" not in f"{path.parent.name}/{path.name}".lower():
        return
    try:
        if path.stat().st_size > _MAX_BYTES:
            return
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return  # The search reads the file as text and reports what is wrong with it.
    for issue in loaded if isinstance(loaded, list) else [loaded]:
        if isinstance(issue, dict) and isinstance(issue.get("title"), str):
            yield issue


def _make_issue_passage(path: Path, issue: dict[str, Any]) -> Passage:
    number, state = issue.get("number", "?"), str(issue.get("state", "unknown")).lower()
    title = " ".join(issue["title"].split())
    labels = [label.get("name", "") if isinstance(label, dict) else str(label) for label in issue.get("labels") or []]
    text = f"Issue {number} ({state}{', ' if labels else ''}{', '.join(labels)}): {title}.\n{issue.get('body') or ''}"
    return Passage(f"issue:{path}:{number}", text.strip(), title, Place(str(path), record=str(number)), "issue")
