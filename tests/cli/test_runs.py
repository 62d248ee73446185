"""Stored runs: ``suffice runs``, ``suffice memory``, ``ask --continue`` and ``explain RUN``."""

import json
from datetime import datetime

import pytest

QUESTION = "Who decoded the waggle dance of the honeybee?"


@pytest.fixture
def asked(suffice, docs):
    """Ask a first question; returns its run."""
    assert suffice("ask", QUESTION, "--docs", docs, "--quiet").status == 0
    return json.loads(suffice("runs", "--json").out.splitlines()[-1])["run"]


def test_without_stored_runs(suffice):
    assert "No runs" in suffice("runs").out
    assert "no findings" in suffice("memory", "search").out
    assert suffice("resume").out == "No interrupted runs.\n"
    assert suffice("resume", "--json").out == ""
    assert suffice("runs", "--json").out == suffice("memory", "search", "--json").out == ""


def test_a_run_is_listed_shown_and_explained(suffice, asked):
    assert f"{asked}  answered" in suffice("runs").out
    assert "Karl von Frisch" in suffice("runs", "show", "last").out
    assert json.loads(suffice("runs", "show", asked, "--json").out)["task"] == QUESTION
    assert "Why it stopped" in suffice("explain", asked).out
    assert "would have stopped" in suffice("explain", asked, "--stop", "fixed(1)").out


def test_a_refused_run_is_shown_with_what_is_nearest(suffice, docs):
    asked = suffice("ask", "Which medicine cures the sting of a honeybee?", "--docs", docs, "--quiet")
    assert asked.status == 3
    assert suffice("runs", "show", "last").out == asked.out
    assert "No answer" in asked.out


def test_runs_are_listed_newest_first_with_date_skill_and_folder(suffice, asked, docs):
    suffice("ask", f"/cite {QUESTION}", "--docs", docs, "--quiet")
    newest, oldest = suffice("runs").out.splitlines()
    assert oldest.startswith(asked)
    assert f"/cite {QUESTION}  ({docs})" in newest
    assert datetime.now().strftime("%Y-%m-%d") in newest


def test_a_run_is_exported(suffice, asked, tmp_path):
    for name in ("r.html", "r.md", "r.json", "trace.jsonl"):
        assert suffice("runs", "export", asked, tmp_path / name).status == 0
        assert (tmp_path / name).stat().st_size > 0
    assert suffice("explain", tmp_path / "trace.jsonl").status == 0
    assert suffice("runs", "export", asked, tmp_path / "r.doc").status == 2
    assert suffice("runs", "export", asked, tmp_path / "no" / "t.jsonl").status == 2


def test_deleting_a_run_deletes_its_findings(suffice, asked):
    result = suffice("runs", "delete")
    assert (result.status, "--all" in result.err) == (2, True)
    deleted = suffice("runs", "delete", asked).out
    assert "1 run" in deleted
    assert "1 finding" in deleted
    assert suffice("runs", "show", asked).status == 2
    assert suffice("memory", "search", "--json").out == ""
    assert "0 runs" in suffice("runs", "delete", "--all").out


def test_a_follow_up_searches_what_the_first_run_searched(suffice, asked, docs):
    result = suffice("ask", "How long do workers live?", "--continue", "last", "--json")
    report = json.loads(result.out)
    assert result.status == 0
    assert report["metadata"]["continues"] == asked
    assert "six weeks" in report["final_answer"]
    assert asked in result.err


def test_a_follow_up_searches_no_more_than_the_first_run_did(suffice, docs):
    (docs / "secrets").mkdir()
    (docs / "secrets" / "plan.md").write_text("Workers live six weeks and the secret queen is called Titania.\n")
    suffice("ask", QUESTION, "--docs", docs, "--exclude", "secrets/", "--quiet")
    result = suffice("ask", "What is the secret queen called?", "--continue", "last", "--json")
    assert "Titania" not in result.out


def test_a_missing_run(suffice, docs):
    for words in (["ask", "Why?", "--docs", docs, "--continue", "nope"], ["explain", "nope"], ["runs", "show", "nope"]):
        result = suffice(*words)
        assert result.status == 2
        assert "'nope'" in result.err
        assert result.err.count("\n") == 1


def test_findings_are_searched_and_deleted(suffice, asked):
    found = suffice("memory", "search", "waggle")
    assert "Karl von Frisch decoded the dance in 1927." in found.out
    assert "bees.md" in found.out
    number = json.loads(suffice("memory", "search", "--json").out)["id"]
    assert suffice("memory", "search", "submarines", "--json").out == ""
    assert "1 finding" in suffice("memory", "forget", number).out
    assert suffice("memory", "forget", number).status == 2
    assert suffice("memory", "forget").status == 2


def test_no_keep_stores_nothing(suffice, docs):
    suffice("ask", QUESTION, "--docs", docs, "--no-keep")
    assert suffice("runs", "--json").out == ""
