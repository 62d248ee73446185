"""``suffice mine``: reference pages that are refreshed when old. ``suffice skills`` and ``suffice tune`` as commands."""

import json
from pathlib import Path

import pytest

from suffice.cli.app import main


@pytest.fixture(autouse=True)
def _folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"SUFFICE_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("SUFFICE_MODEL", "extractive")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bees.txt").write_text("Karl von Frisch decoded the waggle dance of bees in 1927.\n")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_pages_are_written_once_and_refreshed_when_old(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("topics.txt").write_text("# my topics\nWho decoded the waggle dance?\n")
    arguments = ("mine", "--topics", "topics.txt", "--docs", "docs", "-q")
    assert run(*arguments) == 0
    page = tmp_path / "reference" / "who-decoded-the-waggle-dance.md"
    assert "Karl von Frisch" in page.read_text()
    assert "researched" in capsys.readouterr().out
    first = json.loads((tmp_path / "reference" / "index.json").read_text())
    assert run(*arguments) == 0
    assert "up to date" in capsys.readouterr().out
    assert json.loads((tmp_path / "reference" / "index.json").read_text()) == first
    assert run(*arguments, "--max-age", "0") == 0
    assert json.loads((tmp_path / "reference" / "index.json").read_text()) != first


def test_topic_without_evidence_has_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("mine", "How are submarines painted?", "--docs", "docs", "-q") == 3
    assert "submarines" in capsys.readouterr().err
    assert run("mine", "--docs", "docs") == 2


def test_skills_are_listed_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "config" / "skills"
    for name, text in (("brief", "---\nname: brief\ndescription: Short.\n---\nBe short."), ("bad", "nothing")):
        (own / name).mkdir(parents=True)
        (own / name / "SKILL.md").write_text(text)
    assert run("skills") == 0
    shown = capsys.readouterr()
    assert "/lit-review" in shown.out
    assert "Short. (user)" in shown.out
    assert "must begin with a head" in shown.err
    assert run("skills", "show", "/brief") == 0
    assert "Be short." in capsys.readouterr().out
    assert run("skills", "show", "breif") == 2
    assert "/brief" in capsys.readouterr().err
    assert run("ask", "/breif Who?", "--docs", "docs") == 2
    assert "/brief" in capsys.readouterr().err


def test_tune_says_that_a_prompt_without_effect_is_no_gain(capsys: pytest.CaptureFixture[str]) -> None:
    """The extractive model follows no instruction, so no text can be better."""
    rows = [json.dumps({"question": f"Who decoded the waggle dance {i}?", "held_out": i >= 5}) for i in range(9)]
    Path("suite.jsonl").write_text("\n".join(rows))
    Path("other.md").write_text("Write like a poet.")
    arguments = ("tune", "writing/prose", "--suite", "suite.jsonl", "--docs", "docs", "-q")
    assert run(*arguments, "--candidate", "other.md") == 0
    shown = capsys.readouterr().out
    assert "futile" in shown
    assert "No change was a real gain" in shown
    assert run(*arguments) == 2
    assert "language model" in capsys.readouterr().err
