"""What a computation may do, and that everything else is refused twice: before it runs, and by the sandbox itself."""

import asyncio
import os
import sys

import pytest

from suffice.tools import sandbox


def ran(code, seconds=sandbox.TIMEOUT_SECONDS):
    return asyncio.run(sandbox.run_program(code, seconds))


@pytest.fixture
def unchecked(monkeypatch):
    """The sandbox alone: the reading before it is switched off."""
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
def test_arithmetic_is_done(code, output):
    assert ran(code) == sandbox.ProgramResult(output)


@pytest.mark.parametrize(
    ("code", "why"),
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
        ("1 +", "no Python"),
        ("x" * 5000, "characters"),
        ("\x00", "no Python"),
    ],
)
def test_what_is_wrong_is_said_before_it_runs(code, why, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_monty", None)  # The sandbox is not even loaded.
    outcome = ran(code)
    assert why in outcome.error
    assert not outcome.output


@pytest.mark.parametrize(
    ("code", "why"),
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
def test_the_sandbox_refuses_by_itself(unchecked, tmp_path, monkeypatch, code, why):
    monkeypatch.chdir(tmp_path)
    outcome = ran(code, 0.5)
    assert why in outcome.error
    assert not outcome.output
    assert not list(tmp_path.iterdir())


def test_no_process_stays_behind():
    def children():
        with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
            return set(file.read().split())

    if not os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children"):
        pytest.skip("this system does not list a process's children")
    before = children()
    ran("print(1)")
    ran("while True: pass", 0.2)
    assert children() <= before


def test_long_output_is_cut():
    assert len(ran(f"print('ab' * {sandbox.MAX_CHARS})").output) == sandbox.MAX_CHARS
