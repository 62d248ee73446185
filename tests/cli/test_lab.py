"""``suffice lab run``, ``tables``, ``gaps`` and ``data`` from the command line."""

import json
from pathlib import Path

import pytest

from suffice.gates.parse import split_list


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "bees"
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(
        '{"id": "a", "title": "Bees", "text": "Karl von Frisch decoded the dance of bees."}\n'
        '{"id": "b", "title": "Karl von Frisch", "text": "Karl von Frisch was born in Vienna."}\n'
    )
    (folder / "questions.jsonl").write_text(
        '{"id": "q", "question": "Where was the decoder of the dance of bees born?", "answer": "Vienna", "gold": ["a", "b"]}\n'
    )
    return folder


def run(suffice, data, *options, out="grid"):
    return suffice("lab", "run", "--data", data, "--model", "extractive", "--alpha", "1", "--out", out, *options)


def test_a_grid_from_run_to_tables(suffice, data, tmp_path):
    result = run(suffice, data, "--harness", "ircot,iterretgen", "--answers-each-round")
    assert result.status == 0
    assert "14 cells, 14 runs to do" in result.err
    rows = [json.loads(line) for line in (tmp_path / "grid" / "rows.jsonl").read_text().splitlines()]
    assert len(rows) == 14
    assert "0 runs to do (14 done)" in run(suffice, data, "--harness", "ircot,iterretgen", "--answers-each-round").err
    tables = suffice("lab", "tables", "grid", "--csv", "csv", "--latex", "all.tex", "--figures", "figures")
    assert tables.status == 0
    assert "| bees | ircot |" in tables.out
    assert suffice("lab", "tables", "grid").out == tables.out
    assert (tmp_path / "csv" / "rows.csv").is_file()
    assert (tmp_path / "all.tex").is_file()
    assert (tmp_path / "figures" / "frontier-bees.svg").is_file()
    gaps = suffice("lab", "gaps", "grid")
    assert "| bees | ircot | baseline | 2 |" in gaps.out


def test_rows_without_text(suffice, data, tmp_path):
    assert run(suffice, data, "--harness", "ircot", "--memory", "baseline", "--no-text").status == 0
    text = (tmp_path / "grid" / "rows.jsonl").read_text()
    assert "Vienna" not in text
    assert "Frisch" not in text


def test_gaps_of_a_trace(suffice, docs, tmp_path):
    suffice("ask", "Who decoded the dance?", "--docs", docs, "--model", "extractive", "--trace", "run.jsonl")
    result = suffice("lab", "gaps", "run.jsonl")
    assert result.status == 0
    assert "run.jsonl" in result.out


def test_data_sets_are_listed_and_checked(suffice, data):
    listed = suffice("lab", "data").out
    assert all(name in listed for name in ("locomo", "musique", "hotpotqa", "sweqa", "CC BY-NC 4.0"))
    assert "1 questions" in suffice("lab", "data", data).out
    assert suffice("lab", "data", data.parent / "nowhere").status == 2


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--harness", "loop"), "loop"),
        (("--gate", "exhaustion(j=9)"), "exhaustion"),
        (("--part", "3"), "3/8"),
        (("-k", "many"), "many"),
        (("--preset", "all"), "belief"),
        (("--limits", "3/6"), "target"),
    ],
)
def test_wrong_options_are_explained(suffice, data, options, named):
    result = run(suffice, data, *options)
    assert result.status == 2
    assert named in result.err
    assert "Traceback" not in result.err


def test_an_experiment_needs_data(suffice):
    result = suffice("lab", "run", "--model", "extractive")
    assert (result.status, "--data" in result.err) == (2, True)


def test_a_paid_model_needs_a_yes(suffice, data, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    result = suffice("lab", "run", "--data", data, "--model", "openai:gpt-5.4-mini", "--out", "grid")
    assert result.status == 2
    assert "--yes" in result.err
    assert "US dollars" in result.err


def test_gates_are_split_outside_brackets():
    assert split_list("none, exhaustion(j=0.6, u=0.3) | fixed(3),judged") == [
        "none",
        "exhaustion(j=0.6, u=0.3) | fixed(3)",
        "judged",
    ]
