"""Escape sequences in documents, their names and their titles never reach the terminal, in any command."""

from pathlib import Path

import pytest

from suffice.cli.terminal import SafeConsole

NASTY = "\x1b]0;owned\x07\x1b[31mred\x1b[2J\x9b5mblink\x08\x08\x1b]52;c;ZXZpbA==\x1b\\ \x1bPq\x1b\\"
FORBIDDEN = {chr(code) for code in (*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0))} | {"\r"}
TEXT = f"# Tea {NASTY}\n\nTea has been grown in Assam {NASTY} since 1837, when {NASTY} the first garden opened at Chabua.\n"
QUESTION = "Since when has tea been grown in Assam?"

pytestmark = pytest.mark.attack("escape sequences for the terminal")


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    folder = tmp_path / "nasty"
    folder.mkdir()
    (folder / "te\x1b[31ma.md").write_text(TEXT, encoding="utf-8")
    (folder / "broken\x1b[31m.pdf").write_bytes(b"no pdf")
    return folder


def assert_clean(text: str) -> None:
    assert not FORBIDDEN & set(text), [text[max(0, at - 20) : at + 20] for at, c in enumerate(text) if c in FORBIDDEN][
        :3
    ]


def test_no_command_prints_them(suffice, nasty: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    answer = tmp_path / "answer.md"
    answer.write_text(f"Tea has been grown in Assam {NASTY} since 1837.\n", encoding="utf-8")
    docs = ("--docs", nasty)
    commands = [
        ("ask", QUESTION, *docs, "--model", "extractive", "--trace", trace),
        ("ask", f"{QUESTION} {NASTY}", *docs, "--model", "extractive", "--json"),
        ("search", "tea Assam", *docs),
        ("search", "tea Assam", *docs, "--json"),
        ("index", nasty),
        ("check", answer, *docs),
        ("explain", trace),
        ("replay", trace, "--stop", "fixed(1)"),
        ("runs",),
        ("runs", "show", "last"),
        ("memory", "search"),
        ("search", f"x{NASTY}", "--docs", tmp_path / "no\x1b[31m"),
        ("no\x1b[31mcommand",),
    ]
    seen = ""
    for command in commands:
        result = suffice(*command)
        seen += result.out
        assert_clean(result.out)
        assert_clean(result.err)
    assert "1837" in seen


def test_a_terminal_keeps_its_own_colours(capsys) -> None:
    console = SafeConsole(force_terminal=True, color_system="standard", highlight=False, width=80)
    console.print(f"[bold]{NASTY}[/bold]")
    printed = capsys.readouterr().out
    assert "\x1b[1m" in printed
    assert "owned" not in printed
    assert "\x1b[31m" not in printed
