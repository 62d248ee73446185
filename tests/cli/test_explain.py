"""``suffice explain``: why a recorded run stopped, and where another gate would have stopped it."""

from collections.abc import Callable
from pathlib import Path

import pytest

QUESTION = "When did Karl von Frisch decode the dance, and who designed the Eiffel Tower?"


@pytest.fixture
def trace(suffice: Callable, docs: Path, tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "-k", 1, "--stop", "fixed(2)", "--trace", path)
    assert result.status == 0
    return path


def test_why_it_stopped(suffice: Callable, trace: Path) -> None:
    result = suffice("explain", trace)
    text = " ".join(result.out.split())
    assert (result.status, result.err) == (0, "")
    assert QUESTION in text
    assert "Stopped after 2 rounds" in text


def test_where_another_gate_would_have_stopped(suffice: Callable, trace: Path) -> None:
    earlier = suffice("explain", trace, "--stop", "fixed(1)")
    later = suffice("explain", trace, "--stop", "fixed(5)")
    same = suffice("explain", trace, "--stop", "budget(rounds=2)")
    assert "would have stopped it after round 1 of 2" in earlier.out
    assert "missed 1 passage" in earlier.out
    assert "would not have stopped" in later.out
    assert "after round 2 of 2" in same.out
    assert "missed nothing" in same.out
    assert (earlier.status, later.status, same.status) == (0, 0, 0)


def test_an_invalid_gate(suffice: Callable, trace: Path) -> None:
    result = suffice("explain", trace, "--stop", "nope(")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "nope" in result.err


def test_a_trace_that_ends_within_a_line(suffice: Callable, trace: Path) -> None:
    whole = trace.read_bytes()
    trace.write_bytes(whole[:-20])
    result = suffice("explain", trace, "--stop", "fixed(1)")
    assert result.status == 0
    assert "Stopped after 2 rounds" in " ".join(result.out.split())
    assert "would have stopped" in result.out


def test_a_trace_that_ends_within_a_character(suffice: Callable, trace: Path) -> None:
    trace.write_bytes(trace.read_bytes()[:-2] + '{"type": "é'.encode()[:-1])
    assert suffice("explain", trace).status == 0


def test_a_source_with_unusual_line_ends(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    (docs / "rare.txt").write_text(
        "The waggle dance\u2028was decoded\x85by Frisch.\x0cIt is a dance.\n", encoding="utf-8"
    )
    suffice("ask", "Who decoded the waggle dance?", "--docs", docs, "--alpha", 1, "--trace", "rare.jsonl")
    result = suffice("explain", tmp_path / "rare.jsonl")
    assert result.status == 0, result.err


def test_a_run_that_was_cut_off_before_it_stopped(suffice: Callable, trace: Path) -> None:
    lines = trace.read_text(encoding="utf-8").splitlines(keepends=True)
    trace.write_text("".join(line for line in lines if '"stopped"' not in line and '"report"' not in line))
    result = suffice("explain", trace)
    assert result.status == 0
    assert "cut off after round 2" in " ".join(result.out.split())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"# Bees\n\nNo trace.\n",
        b"\xff\xfe\x00binary",
        b"[1, 2]\n",
        b'"type"\n',
        b'{"type": "started"}\n',
        b'{"type": "round"}\n',
        b'{"type": "round", "index": 1, "queries": "x", "passages": 3}\n',
        b'{"type": ["round"]}\n',
        b'{"type": "round", "index": 1, "queries": ["q"], "passages": [{}], "readings": {}}\n',
        b'{"type": "round", "index": 1, "queries": ["q"], "passages": []}\n{"type": "stopped", "stop": 7}\n',
    ],
)
def test_a_file_that_is_not_a_trace(suffice: Callable, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(content)
    result = suffice("explain", path, "--stop", "fixed(1)")
    assert result.status == 2, result.err
    assert result.err.count("\n") == 1
    assert "other.jsonl" in result.err


def test_a_missing_trace(suffice: Callable, tmp_path: Path) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path):
        result = suffice("explain", path)
        assert (result.status, result.err.count("\n")) == (2, 1)
