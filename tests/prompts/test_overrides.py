"""Prompts that a user replaces."""

from pathlib import Path

import pytest

from suffice.cli.app import main
from suffice.errors import InputError
from suffice.prompts.base import list_own_templates, load_built_in, load_template, override_prompts, read_built_in


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUFFICE_PROMPTS", str(tmp_path))
    (tmp_path / "writing").mkdir()
    return tmp_path


def test_file_replaces_the_built_in_text(folder: Path) -> None:
    (folder / "writing" / "prose.md").write_text("version: mine-2\n---\nWrite like Hemingway.\n")
    assert load_template("writing/prose").body.template == "Write like Hemingway."
    assert load_template("writing/prose").version == "mine-2"
    assert list(list_own_templates()) == ["writing/prose"]


def test_text_without_a_head_is_enough_and_keeps_the_keywords(folder: Path) -> None:
    (folder / "writing" / "research.md").write_text("Write briefly.")
    assert load_template("writing/research").body.template == "Write briefly."
    assert load_template("writing/research").keywords == load_built_in("writing/research").keywords


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("plan", "Plan $task.", "lacks"),
        ("writing/prose", "Write $well.", "unknown .well"),
        ("writing/prose", "It costs $ 5.", "names no input"),
        ("writing/prosa", "x", "did you mean writing/prose"),
    ],
)
def test_unusable_file_is_refused(folder: Path, name: str, text: str, problem: str) -> None:
    (folder / f"{name}.md").write_text(text)
    with pytest.raises(InputError, match=problem):
        list_own_templates()


def test_override_ends_with_its_block(folder: Path) -> None:
    with override_prompts({"writing/prose": "Write a poem."}):
        assert load_template("writing/prose").body.template == "Write a poem."
    assert load_template("writing/prose") is load_built_in("writing/prose")


def test_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "writing" / "prose.md").write_text(read_built_in("writing/prose") + "No adverbs.\n")
    for arguments, expected in (
        (["list"], "replaced by"),
        (["show", "writing/prose"], "No adverbs."),
        (["diff"], "+No adverbs."),
        (["diff", "writing/prose"], "+No adverbs."),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["prompts", *arguments])
        assert ended.value.code == 0
        assert expected in capsys.readouterr().out
    with pytest.raises(SystemExit) as ended:
        main(["prompts", "show", "writing/pros"])
    assert ended.value.code == 2
    assert "writing/prose" in capsys.readouterr().err
