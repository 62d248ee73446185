"""The GitHub Action: its script over a git repository of its own, with the variables that a workflow sets."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SCRIPT = ROOT / "integrations" / "github" / "check.sh"
TRUE = "A hive holds one queen.\n"
WRONG = "Karl von Frisch decoded the dance in 1972.\n"


def git(folder: Path, *arguments: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", str(folder), *own, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, docs: Path) -> Path:
    """A repository whose one commit has documents and a text with an old finding."""
    (tmp_path / ".gitignore").write_text("*\n!docs\n!docs/*\n!*.md\n")
    (tmp_path / "old.md").write_text(WRONG)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "First")
    return tmp_path


@pytest.fixture
def commit(repository: Path) -> Callable[..., str]:
    """Write files, commit them and return the commit before."""

    def commit(**files: str) -> str:
        before = git(repository, "rev-parse", "HEAD")
        for name, text in files.items():
            (repository / f"{name}.md").write_text(text)
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "--allow-empty", "--message", "Change")
        return before

    return commit


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    program = tmp_path / "suffice"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m suffice "$@"\n')
    program.chmod(0o755)
    given = {
        "SUFFICE": str(program),
        "DOCS": "docs/bees.md\ndocs/bridge.txt",
        "FILES": "*.md\n:!docs",
        "BASELINE": "",
        "FORMAT": "github",
        "SARIF_FILE": "suffice.sarif",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }

    def run(folder: Path = tmp_path, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **given, **variables}
        return subprocess.run(["bash", str(SCRIPT)], cwd=folder, env=environment, capture_output=True, text=True)

    return run


def test_only_changed_texts_are_checked(commit: Callable, run: Callable) -> None:
    before = commit(**{"new notes": TRUE + WRONG, "docs/other": "Bees fly."})
    result = run(BASE=before)
    assert result.returncode == 1, result.stderr
    [finding] = [line for line in result.stdout.splitlines() if line.startswith("::")]
    assert finding.startswith("::error")
    assert "file=new notes.md,line=2" in finding
    assert run(BASE=commit(**{"new notes": TRUE})).returncode == 0


def test_no_changed_text_and_a_removed_one(repository: Path, commit: Callable, run: Callable) -> None:
    (repository / "old.md").unlink()
    result = run(BASE=commit(), SUFFICE="/does/not/exist")
    assert (result.returncode, result.stderr) == (0, "")
    assert "nothing to check" in result.stdout


@pytest.mark.parametrize("base", ["", "0" * 40])
def test_without_a_commit_before_all_texts_are_checked(repository: Path, run: Callable, base: str) -> None:
    result = run(BASE=base)
    assert result.returncode == 1, result.stderr
    assert "file=old.md" in result.stdout


def test_old_findings_do_not_block(suffice: Callable, commit: Callable, run: Callable) -> None:
    suffice("check", "old.md", "--docs", "docs", "--receipt", "claims.json")
    before = commit(old=f"{TRUE}\n{WRONG}")
    assert run(BASE=before).returncode == 1
    assert run(BASE=before, BASELINE="claims.json").returncode == 0


@pytest.mark.parametrize(
    ("variables", "said"),
    [({"BASELINE": "no.json"}, "no.json"), ({"DOCS": "nowhere"}, "nowhere"), ({"DOCS": ""}, "--docs")],
)
def test_what_cannot_be_done_exits_with_status_2(commit: Callable, run: Callable, variables: dict, said: str) -> None:
    result = run(BASE=commit(new=TRUE), FORMAT="sarif", **variables)
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("output").exists()


def test_sarif_goes_to_a_file_that_the_next_step_is_told(tmp_path: Path, commit: Callable, run: Callable) -> None:
    result = run(BASE=commit(new=WRONG), FORMAT="sarif")
    assert result.returncode == 1
    assert (tmp_path / "output").read_text() == "sarif=suffice.sarif\n"
    [found] = json.loads((tmp_path / "suffice.sarif").read_text())["runs"][0]["results"]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "new.md"


def test_a_shallow_checkout_fetches_the_commit_before(tmp_path: Path, commit: Callable, run: Callable) -> None:
    before = commit(new=WRONG)
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path}", "clone")
    result = run(tmp_path / "clone", BASE=before)
    assert "file=new.md" in result.stdout, result.stderr
    assert "old.md" not in result.stdout
    unknown = run(tmp_path / "clone", BASE="1" * 40)
    assert unknown.returncode == 2
    assert "::error" in unknown.stdout


def test_the_action_gives_the_script_what_it_reads() -> None:
    steps = ACTION["runs"]["steps"]
    assert ACTION["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" for step in steps if "run" in step)
    [step] = [step for step in steps if step.get("id") == "check"]
    assert SCRIPT.relative_to(ROOT).as_posix() in step["run"]
    read = set(re.findall(r"\$\{?([A-Z_]+)", SCRIPT.read_text(encoding="utf-8")))
    assert read - {"GITHUB_OUTPUT"} == step["env"].keys()
    used = re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(used) == ACTION["inputs"].keys()
    assert {value.split("@")[0] for step in steps if (value := step.get("uses"))} == {"actions/setup-python"}
