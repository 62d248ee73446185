"""The program as a whole: commands, help, version and closed pipes."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

COMMANDS = "ask resume search index check explain replay doctor serve worker mcp runs memory lab keys".split()


def test_version(suffice: Callable) -> None:
    result = suffice("--version")
    assert (result.status, result.out, result.err) == (0, f"suffice {version('suffice')}\n", "")


def test_the_module_is_the_same_program(program: Callable) -> None:
    script = Path(sys.executable).with_name("suffice")
    by_script = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert program("--version").out == by_script.stdout


def test_help_names_every_command(suffice: Callable) -> None:
    result = suffice("--help")
    assert result.status == 0
    assert all(command in result.out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(suffice: Callable, command: str) -> None:
    result = suffice(command, "--help")
    assert (result.status, result.err) == (0, "")
    assert command in result.out


def test_without_arguments_the_help_is_shown(suffice: Callable) -> None:
    result = suffice()
    shown = result.out + result.err
    assert "\n" in shown.strip(), "the help has several lines"
    assert all(command in shown for command in COMMANDS)


@pytest.mark.parametrize("extra", [[], ["--json"]])
def test_a_closed_pipe_is_not_an_error(docs: Path, extra: list[str]) -> None:
    """As in ``suffice ask … | head -1``."""
    read, write = os.pipe()
    os.close(read)
    words = ["ask", "Who decoded the waggle dance?", "--docs", str(docs), "--alpha", "1", "--quiet", *extra]
    command = [sys.executable, "-m", "suffice", *words]
    process = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert process.stderr == ""
    assert process.returncode == 0
