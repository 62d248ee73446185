"""Fixtures: a small folder of documents, and the program, called in this process or started as a new one."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from suffice.cli.app import main

BEES = """# Bees

The waggle dance of the honeybee tells nestmates where flowers are.
Its angle shows the direction relative to the sun, and its duration
shows the distance. Karl von Frisch decoded the dance in 1927.

## Hives

A hive holds one queen. Workers live six weeks in summer.
"""
BRIDGE = """The Forth Bridge was opened in 1890. It is a cantilever railway bridge near Edinburgh.
Benjamin Baker and John Fowler designed the Forth Bridge.
"""


@dataclass(frozen=True)
class Result:
    """What a command returned and printed."""

    status: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def _clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test an empty working directory, cache and environment."""
    for name in list(os.environ):
        if name.startswith(("SUFFICE_", "RESEARCH_")) or name.endswith(("_API_KEY", "_URL")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "bees.md").write_text(BEES, encoding="utf-8")
    (folder / "bridge.txt").write_text(BRIDGE, encoding="utf-8")
    return folder


@pytest.fixture
def suffice(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Call the command line within this process, which is quick."""

    def call(*arguments: object, stdin: bytes | None = None) -> Result:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Result(int(exit.value.code or 0), printed.out, printed.err)

    return call


@pytest.fixture
def program() -> Callable[..., Result]:
    """Start the command line as a new process."""

    def call(*arguments: object, stdin: bytes | None = None, **environment: str) -> Result:
        if "PYTHONPATH" in environment:
            environment["PYTHONPATH"] += os.pathsep + os.environ["PYTHONPATH"]
        process = subprocess.run(
            [sys.executable, "-m", "suffice", *map(str, arguments)],
            input=stdin if stdin is not None else b"",
            capture_output=True,
            timeout=300,
            env={**os.environ, **environment},
        )
        return Result(process.returncode, process.stdout.decode(), process.stderr.decode())

    return call


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str, str], str]:
    """Install a third-party package from its source and entry points; returns the folder for PYTHONPATH."""

    def install(source: str, entry_points: str) -> str:
        site = tmp_path / "site"
        info = site / "thirdparty-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "thirdparty.py").write_text(source, encoding="utf-8")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
        return str(site)

    return install
