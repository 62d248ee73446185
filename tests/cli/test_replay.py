"""``suffice replay``: gates over recorded runs, as a table and as JSON."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

EPISODE = {
    "id": "q",
    "question": "Who?",
    "gold": ["a", "c"],
    "rounds": [{"queries": [f"q{n}"], "passages": [{"id": id, "text": id}], "tokens": 5} for n, id in enumerate("abc")],
}
KEYS = {
    "gate", "mean_rounds", "mean_tokens", "recall", "all_gold", "answer_f1", "fire_rate", "abstained", "lift", "lift_ci",
    "gap_closed", "stops",
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "episodes.jsonl"
    path.write_text(f"{json.dumps(EPISODE)}\n" * 3)
    return path


def test_as_json(suffice: Callable, file: Path) -> None:
    ended = suffice("replay", file, "--stop", "fixed(2)", "--stop", "exhaustion | budget(rounds=1)", "--json")
    rows = json.loads(ended.out)["gates"]
    assert (ended.status, ended.err) == (0, "")
    assert all(set(row) == KEYS for row in rows)
    assert rows[0]["gate"] == "fixed(2)"
    assert rows[0]["stops"] == [2, 2, 2]
    assert rows[1]["stops"] == [1, 1, 1]
    assert {"fixed(1)", "fixed(2)", "fixed(3)", "oracle"} <= {row["gate"] for row in rows}


def test_as_a_table(suffice: Callable, file: Path) -> None:
    ended = suffice("replay", file, "--stop", "fixed(2)")
    assert ended.status == 0
    assert "oracle" in ended.out
    assert "fixed(2)" in ended.out


def test_a_trace_can_be_replayed(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    suffice("ask", "Who decoded the waggle dance?", "--docs", docs, "--alpha", 1, "--trace", trace)
    ended = suffice("replay", trace, "--stop", "fixed(1)", "--json")
    assert ended.status == 0, ended.err
    assert json.loads(ended.out)["gates"][0]["stops"] == [1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.jsonl", "--stop", "fixed(1)"),
        (".", "--stop", "fixed(1)"),
        ("episodes.jsonl",),
        ("episodes.jsonl", "--stop", "nope"),
        ("episodes.jsonl", "--stop", "fixed(1)", "--corpus", "missing.jsonl"),
        ("episodes.jsonl", "--stop", "fixed(1)", "--out", "x.docx"),
        ("episodes.jsonl", "--stop", "fixed(1)", "--out", "nowhere/x.md"),
    ],
)
def test_bad_input(suffice: Callable, file: Path, arguments: tuple[str, ...]) -> None:
    ended = suffice("replay", *arguments)
    assert ended.status == 2, ended.err
    assert ended.err.count("\n") == 1
    assert "this is a bug" not in ended.err
