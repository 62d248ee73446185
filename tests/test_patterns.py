"""No pattern is slow: ``re`` holds the interpreter's lock, so one that is stops every user of a service."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pattern_scan
import pytest

SCAN = Path(__file__).parent / "pattern_scan.py"


@pytest.mark.attack("slow patterns")
def test_every_pattern_takes_time_in_proportion_to_its_text() -> None:
    """New patterns are in it by themselves. Mend one by a class that cannot match what follows, or with ``(?>…)`` or ``++``."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    completed = subprocess.run(
        [sys.executable, str(SCAN)], capture_output=True, text=True, timeout=900, env=environment
    )
    assert completed.returncode == 0, completed.stderr
    result = json.loads(completed.stdout)
    assert result["patterns"] > 100
    listed = "\n".join(f"{place}  {attack}" for place, attack in result["slow"].items())
    assert not result["slow"], f"{len(result['slow'])} patterns are slow:\n{listed}"


@pytest.mark.parametrize("slow", [r"(a+)+$", r"\s+$", r"(?:x|y)*x\d", r"<!--.*?-->", r"a.*b.*c", r"[\w.]+@\w"])
def test_the_scan_finds_a_slow_pattern(slow: str) -> None:
    assert scan(slow) is not None


@pytest.mark.parametrize(
    "linear", [r"\d+", r"^\s*- ", r"(?<!\s)\s+$", r"a{1,9}b", r"[^\W\d_]++(?!x)", r"\b(?:one|two)\b"]
)
def test_the_scan_accepts_a_linear_pattern(linear: str) -> None:
    assert scan(linear) is None


def scan(text: str) -> str | None:
    earlier = signal.signal(signal.SIGPROF, pattern_scan._stop)
    try:
        return pattern_scan.find_attack(re.compile(text), {"search"})
    finally:
        signal.signal(signal.SIGPROF, earlier)
