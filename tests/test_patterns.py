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
IN_CHILD = "runs in a child process with a limit on processor time"
SHORT = "is given at most 1,000 characters, for which it takes less than 0.05 s"
# Patterns that may be slow, each with the reason. Mend a new one instead of adding it.
ALLOWED = {
    "suffice.search.files.code._KEYWORD": IN_CHILD,
    "suffice.search.files.code._FUNCTION_ASSIGNMENT": IN_CHILD,
    "suffice.search.files.code._SIGNATURE": IN_CHILD,
    "suffice.search.files.code._SHELL": IN_CHILD,
    "suffice.search.files.code._TABLE_HEADER": IN_CHILD,
    "suffice.search.files.code._KEY": IN_CHILD,
    "suffice.search.files.markdown._TAG": IN_CHILD,
    "suffice.search.files.markdown._INLINE": IN_CHILD,
    "suffice.search.files.markup._LINE": IN_CHILD,
    "suffice.search.files.markup._LOOKS_LIKE_ASCIIDOC": IN_CHILD,
    "suffice.search.files.read._JSONL_RECORD": IN_CHILD,
    "suffice.text.descriptions._PATTERNS": SHORT,
    "suffice.text.descriptions._OWNED_PATTERN": SHORT,
}


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
    slow = {place: attack for place, attack in result["slow"].items() if place.partition("[")[0] not in ALLOWED}
    listed = "\n".join(f"{place}  {attack}" for place, attack in slow.items())
    assert not slow, f"{len(slow)} patterns are slow:\n{listed}"


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
