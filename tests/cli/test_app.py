"""The program as a whole: its names, its help, its version, and a reader that goes away."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

COMMANDS = ["ask", "search", "index", "explain", "replay", "doctor"]


def test_version(suffice: Callable) -> None:
    ended = suffice("--version")
    assert (ended.status, ended.out, ended.err) == (0, f"suffice {version('suffice')}\n", "")


def test_the_module_is_the_same_program(program: Callable) -> None:
    script = Path(sys.executable).with_name("suffice")
    assert program("--version").out == subprocess.run([script, "--version"], capture_output=True, text=True).stdout


def test_help_names_every_command(suffice: Callable) -> None:
    ended = suffice("--help")
    assert ended.status == 0
    assert all(command in ended.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(suffice: Callable, command: str) -> None:
    ended = suffice(command, "--help")
    assert (ended.status, ended.err) == (0, "")
    assert command in ended.out


def test_no_words_at_all_show_the_help(suffice: Callable) -> None:
    ended = suffice()
    shown = ended.out + ended.err
    assert "\n" in shown.strip(), "the help is set in lines, not squeezed into one"
    assert all(command in shown for command in COMMANDS)


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_reader_that_goes_away_is_no_error(docs: Path, extra: list[str]) -> None:
    """As in ``suffice ask … | head -1``."""
    read, write = os.pipe()
    os.close(read)
    words = ["ask", "Who decoded the waggle dance?", "--docs", str(docs), "--alpha", "1", "--quiet", *extra]
    done = subprocess.run([sys.executable, "-m", "suffice", *words], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 0
