"""The program as a whole: commands, help, version and closed pipes."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

COMMANDS = "ask resume search index check recheck explain replay doctor serve worker mcp runs memory lab keys".split()

# Published flags, which do not change; further ones may be added.
FLAGS = {
    "ask": """--docs --web --provider --include --exclude --strategy --memory --stop --tier --max-rounds --max-queries
        --max-sources --max-seconds --max-tokens --max-cost -k --per-round --alpha --with --no-review --no-wiggum
        --panel --model --strict --lenient --out --json --trace --continue --keep --no-keep --seed --quiet -q --debug""",
    "resume": "--out --json --trace --quiet -q --debug",
    "search": "--docs --web --provider --include --exclude -k --alpha --json --debug",
    "index": "--docs --include --exclude --debug",
    "check": "--docs --include --exclude --alpha --model --fix --format --baseline --receipt --json --debug",
    "recheck": "--debug",
    "explain": "--stop --debug",
    "replay": "--stop --corpus --sweep --json --debug",
    "lab fit": "--out --corpus --price --debug",
    "lab calibrate": "--rounds --corpus --file --debug",
    "runs": "-n --json --debug",
    "runs show": "--json --debug",
    "runs export": "--debug",
    "runs delete": "--all --debug",
    "memory search": "--json --debug",
    "memory forget": "--all --debug",
    "doctor": "--debug",
    "serve": "--host --port --docs --model --web --orders-only --runs --runs-per-user --runs-overall --debug",
    "worker": "--docs --runs --runs-per-user --runs-overall --debug",
    "keys create": "--active --per-minute --max-cost --debug",
    "keys list": "--debug",
    "keys revoke": "--debug",
    "mcp": "--docs --include --exclude --web --provider --alpha --model --port --debug",
}


def test_version(suffice: Callable) -> None:
    result = suffice("--version")
    assert (result.status, result.out, result.err) == (0, f"suffice {version('suffice')}\n", "")


def test_the_module_is_the_same_program(program: Callable) -> None:
    script = Path(sys.executable).with_name("suffice")
    by_script = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=300)
    assert program("--version").out == by_script.stdout


def test_help_names_every_command(suffice: Callable) -> None:
    result = suffice("--help")
    assert result.status == 0
    assert all(command in result.out for command in COMMANDS)


def test_help_lists_the_eight_everyday_commands_first(suffice: Callable) -> None:
    first, *more = suffice("--help").out.split("Commands:\n")[1].split("\n\n")
    names = {line.split()[0] for line in first.splitlines()}
    assert names == {"ask", "check", "search", "index", "runs", "explain", "serve", "doctor"}
    assert [group.splitlines()[0] for group in more] == ["More:", "Service and agents:", "Experiments:"]


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_without_quotes(suffice: Callable, command: str) -> None:
    result = suffice(command, "What", "is", "it", "--docs", ".")
    assert result.status == 2
    assert "Put the question in quotes" in result.err


def test_a_question_without_a_command(suffice: Callable) -> None:
    result = suffice("How long is the notice period?")
    assert (result.status, 'suffice ask "' in result.err) == (2, True)
    assert "suffice ask" not in suffice("serch").err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(suffice: Callable, command: str) -> None:
    result = suffice(command, "--help")
    assert (result.status, result.err) == (0, "")
    assert command in result.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen(suffice: Callable, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert len(suffice(command, "--help").out.splitlines()) <= 50


@pytest.mark.parametrize("command", FLAGS)
def test_published_flags_are_in_the_help(suffice: Callable, command: str) -> None:
    shown = suffice(*command.split(), "--help").out.replace(",", " ").split()
    assert not set(FLAGS[command].split()) - set(shown)


def test_the_help_of_ask_groups_its_options(suffice: Callable) -> None:
    lines = suffice("ask", "--help-all").out.splitlines()
    titles = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert len(titles) >= 5
    assert "{installed}" not in " ".join(lines)


@pytest.mark.parametrize(
    ("command", "has_stdin", "has_strategy"),
    [("ask", True, True), ("search", True, False), ("check", True, False), ("mcp", False, True)],
)
def test_help_offers_only_what_the_command_does(
    suffice: Callable, command: str, has_stdin: bool, has_strategy: bool
) -> None:
    shown = " ".join(suffice(command, "--help-all" if command == "ask" else "--help").out.split())
    assert ("folder; '-' reads standard input" in shown) == has_stdin
    assert ("unless the strategy sets" in shown) == has_strategy


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
    process = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=300)
    os.close(write)
    assert process.stderr == ""
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (["serve", "--docs", "."], "fastapi"),
        (["keys", "list"], "sqlalchemy"),
        (["resume"], "sqlalchemy"),
        (["mcp", "--docs", "."], "mcp"),
    ],
)
def test_a_command_without_its_packages_names_the_extra(tmp_path: Path, words: list[str], missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from suffice.cli.app import main; main({words!r})"
    environment = {**os.environ, "SUFFICE_DATA_DIR": str(tmp_path)}
    process = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert process.returncode == 2
    assert missing in process.stderr
    # From the folder or file that this installation came from, because no index is known to have the package.
    assert "pip install 'suffice[service] @ file://" in process.stderr
