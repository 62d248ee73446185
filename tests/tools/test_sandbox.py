"""Arithmetic runs; everything else is refused twice: by the check before it runs, and by the sandbox itself."""

import asyncio
import os
import sys

import pytest

from suffice.tools import sandbox


def run(code, seconds=sandbox.TIMEOUT_SECONDS):
    return asyncio.run(sandbox.run_program(code, seconds))


@pytest.fixture
def unchecked(monkeypatch):
    """Turn off the check before the run, so that only the sandbox protects."""
    monkeypatch.setattr(sandbox, "find_violation", lambda code: "")


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("print(f'share: {3 / 8:.1%}')", "share: 37.5%"),
        ("import math\nmath.isqrt(50)", "7"),
        ("from datetime import date\n(date(1903, 5, 1) - date(1887, 5, 1)).days", "5843"),
        ("from decimal import Decimal\nprint(Decimal('0.1') + Decimal('0.2'))", "0.3"),
        ("total = sum([3, 4])\nprint(total)\nprint(total / 2)", "7\n3.5"),
    ],
)
def test_arithmetic_runs(code, output):
    assert run(code) == sandbox.ProgramResult(output)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import os", "imports os"),
        ("import os.path as p", "imports os"),
        ("from subprocess import run", "imports subprocess"),
        ("from . import x", "imports"),
        ("import socket", "imports socket"),
        ("open('/etc/passwd')", "uses open"),
        ("eval('1')", "uses eval"),
        ("().__class__.__base__", "uses __"),
        ("__import__('os')", "uses __import__"),
        ("1 +", "not valid Python"),
        ("x" * 5000, "characters"),
        ("\x00", "not valid Python"),
    ],
)
def test_a_forbidden_program_is_refused_before_it_runs(code, reason, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)  # Importing the sandbox would fail.
    result = run(code)
    assert reason in result.error
    assert not result.output


@pytest.mark.parametrize("place", ["/nonexistent/monty", None])
def test_without_the_sandbox_program_a_computation_is_refused(place, monkeypatch):
    if place:
        monkeypatch.setenv("MONTY_BIN", place)
    else:
        monkeypatch.delenv("MONTY_BIN", raising=False)
        monkeypatch.setenv("PATH", "/nonexistent")
        monkeypatch.setattr("sysconfig.get_path", lambda *names: "/nonexistent")
    result = run("print(1 + 1)")
    assert "could not be started" in result.error
    assert not result.output


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("while True: pass", "Timeout"),
        ("import time\ntime.sleep(60)", "Timeout"),
        ("x = 'a' * (2 * 10**9)", "Memory"),
        ("x = []\nwhile True: x.append('y' * 1_000_000)", "Memory"),
        ("10 ** 10 ** 9", "Memory"),
        ("def f(n): return f(n + 1)\nf(0)", "Recursion"),
        ("print('x' * 10**8)", "Memory"),
        ("open('/etc/passwd').read()", "Permission"),
        ("open('new.txt', 'w').write('x')", "Permission"),
        ("import pathlib\npathlib.Path('/etc/passwd').read_text()", "Permission"),
        ("import socket", "ModuleNotFound"),
        ("import urllib.request", "ModuleNotFound"),
        ("import subprocess", "ModuleNotFound"),
        ("import os\nos.system('true')", "AttributeError"),
        ("import os\nos.fork()", "AttributeError"),
        ("import os\nos.environ['PATH']", "not supported"),
        ("import ctypes", "ModuleNotFound"),
        ("1 / 0", "ZeroDivision"),
        ("pass", "printed nothing"),
    ],
)
def test_the_sandbox_alone_refuses_it(unchecked, tmp_path, monkeypatch, code, reason):
    monkeypatch.chdir(tmp_path)
    result = run(code, 0.5)
    assert reason in result.error
    assert not result.output
    assert not list(tmp_path.iterdir())


def test_no_process_is_left_behind():
    def children():
        with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
            return set(file.read().split())

    if not os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"):
        pytest.skip("this system does not list a process's children")
    before = children()
    run("print(1)")
    run("while True: pass", 0.2)
    assert children() <= before


def test_long_output_is_truncated():
    assert len(run(f"print('ab' * {sandbox.MAX_CHARS})").output) == sandbox.MAX_CHARS
