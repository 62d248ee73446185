"""The documentation is true: its commands exist, those of the first page work, and the reference leaves nothing out."""

import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import suffice
from suffice import plugins, settings
from suffice.cli.app import app, main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(?:\w+)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
sys.path.insert(0, str(ROOT / "docs"))


def list_commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each call of suffice in the code blocks of a page, without comments and other programs."""
    for block in FENCE.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            if not re.match(r"(?:\$ )?(?:[^#]*(?:\||&&) )?suffice [a-z]+(?! .*─)", line):
                continue
            lexer = shlex.shlex(line.removeprefix("$ "), posix=True, punctuation_chars="|&>;")
            lexer.whitespace_split = True
            words: list[str] = []
            for word in [*lexer, "&&"]:
                if word in ("|", "&&", ">", ";"):
                    if words[:1] == ["suffice"]:
                        yield words[1:]
                    words = []
                else:
                    words.append(word)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_exist_with_their_options(page: Path) -> None:
    for line in list_commands(page):
        command: Any = typer.main.get_command(app)
        words = list(line)
        while words and getattr(command, "commands", None):
            assert words[0] in command.commands, line
            command = command.commands[words.pop(0)]
        flags = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
        used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= flags | {"--help"}, line


def test_no_command_needs_a_published_package() -> None:
    """Until it is published, a reader has a clone or a wheel. The entry for the registry is for afterwards."""
    files = [ROOT / "Makefile", ROOT / "pyproject.toml", *PAGES]
    for folder in ("deploy", "examples", "integrations", "src", "docs"):
        files += [
            path for path in (ROOT / folder).rglob("*.*") if path.suffix in (".py", ".sh", ".md", ".json", ".toml")
        ]
    assumed = re.compile(
        r"uvx --from '?suffice|(?:pip|pipx|uv tool) (?:install|run) (?:--spec )?'?suffice(?!\[\{)|\"uvx\""
    )
    found = [path for path in files if assumed.search(path.read_text(encoding="utf-8"))]
    assert found == [ROOT / "integrations/server.json"]


def test_commands_of_the_first_page_work(tmp_path: Path) -> None:
    """In the order of the page, as a new user would type them."""
    program = str(Path(sys.executable).parent / "suffice")
    environment = {
        **os.environ,
        "SUFFICE_DATA_DIR": str(tmp_path / "data"),
        "SUFFICE_CACHE_DIR": str(tmp_path / "cache"),
    }
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    outputs = {}
    for line in list_commands(ROOT / "docs" / "start.md"):
        done = subprocess.run([program, *line], cwd=tmp_path, env=environment, capture_output=True, text=True)
        outputs[line[0] + str(len(outputs))] = (done.returncode, done.stdout)
        assert "Traceback" not in done.stderr, line
    codes = {name.rstrip("0123456789"): code for name, (code, _) in outputs.items()}
    assert codes == {"doctor": 0, "ask": 0, "explain": 0, "check": 1}
    text = "".join(out for _, out in outputs.values())
    assert "It may be raised once a year" in text
    assert "cause 38 % of the heat losses" in text
    assert "saves 1,480 EUR a year" in text
    assert "3 supported · 1 contradicted" in text
    assert (tmp_path / "answer.html").exists()


# What a page needs that a test has not: a language model, the web, a database, a server that runs on, or hours.
NEEDS = (
    "--model",
    "--web",
    "--provider",
    "postgres://",
    "serve",
    "mcp",
    "tune",
    "lab run",
    "path/to",
    "─▶",
    "runs/grid",
)
GUIDES = ("../README", "usage", "skills", "stopping", "tuning", "lab", "beside", "models", "web")


def test_commands_of_the_guides_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command that needs only this machine ends without an error, in a folder that has what the pages name."""
    examples = ROOT / "examples/documents"
    for name, target in {
        "examples": ROOT / "examples",
        "contracts": examples / "contracts",
        "handbook": examples / "contracts",
        "history": examples / "contracts",
        "src": examples / "project/src",
        "docs": examples / "project/docs",
        "papers": examples / "papers",
        "chat.json": examples / "chat/release-channel.jsonl",
        "report.md": examples / "project/docs/retry.md",
        "bench": ROOT / "bench",
    }.items():
        (tmp_path / name).symlink_to(target)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"The release is due on Friday.\n")))
    (tmp_path / "runs").mkdir()
    run("ask", "How long is the notice period?", "--docs", "contracts/", "--trace", "run.jsonl")
    (tmp_path / "runs/one.jsonl").write_bytes((tmp_path / "run.jsonl").read_bytes())
    ran = 0
    for page in GUIDES:
        for line in list_commands(ROOT / "docs" / f"{page}.md"):
            if any(need in " ".join(line) for need in NEEDS):
                continue
            words = [
                found for word in line for found in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
            ]
            status = run(*words)
            shown = capsys.readouterr()
            # 1: a check found a claim that does not hold; 3: the documents do not answer.
            assert status in (0, 1, 3), (line, shown.err)
            assert "this is a bug" not in shown.err, line
            ran += 1
    assert ran >= 24


EXAMPLE = re.compile(r"^## (A \w+)\n.*?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("part", "shown"),
    [
        ("A gate", "Stopped after"),
        ("A search", "since version 3"),
        ("A skill", "terms"),
    ],
)
def test_examples_of_own_parts_run(
    part: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "contracts").symlink_to(ROOT / "examples/documents/contracts")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    examples = dict(EXAMPLE.findall((ROOT / "docs/extend.md").read_text(encoding="utf-8")))
    exec(compile(examples[part], part, "exec"), {"__name__": "__main__"})
    assert shown in capsys.readouterr().out


def test_the_example_of_a_strategy_runs_as_a_plug_in(tmp_path: Path) -> None:
    """As pip would install it: the module, and the entry point of its metadata."""
    page = (ROOT / "docs/extend.md").read_text(encoding="utf-8")
    metadata = tmp_path / "angles-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: angles\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[suffice.strategies]\nangles = angles:AngleStrategy\n")
    (tmp_path / "angles.py").write_text(dict(EXAMPLE.findall(page))["A strategy"])
    (tmp_path / "contracts").symlink_to(ROOT / "examples/documents/contracts")
    [words] = [line for line in list_commands(ROOT / "docs/extend.md") if "angles" in line]
    environment = {**os.environ, "SUFFICE_DATA_DIR": "data", "SUFFICE_CACHE_DIR": "cache"}
    environment["PYTHONPATH"] = os.pathsep.join((str(tmp_path), os.environ["PYTHONPATH"]))
    command = [sys.executable, "-m", "suffice", *words, "--verbose"]  # Shows the queries.
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "What is the notice period? deadline" in done.stdout, done.stderr


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


def test_the_reference_leaves_nothing_out() -> None:
    from generate_reference import PAGES, list_commands

    text = {name: render() for name, render in PAGES.items()}
    commands = [path for path, _ in list_commands(typer.main.get_command(app), "suffice")]
    assert len(commands) > 20
    assert all(f"## {path}\n" in text["commands"] for path in commands)
    assert all(f"## {name}\n" in text["python"] for name in suffice.__all__)
    assert all(f"## {name}\n" in text["gates"] for name in plugins.list_plugins("gates"))
    assert "## POST /run\n" in text["http"]
    assert "{installed}" not in text["commands"]
    source = Path(settings.__file__).read_text(encoding="utf-8")
    variables = set(re.findall(r'values(?:\.get)?[\[(]"((?:SUFFICE|RESEARCH|HARNESS|MAX|PYTHON)_[A-Z_]+)"', source))
    assert variables
    missing = {name for name in variables if name not in text["settings"]}
    assert not missing
