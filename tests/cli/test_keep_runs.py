"""``suffice runs``, ``suffice memory``, ``--continue`` and ``explain RUN`` as a person types them."""

import json

import pytest

QUESTION = "Who decoded the waggle dance of the honeybee?"


@pytest.fixture
def asked(suffice, docs):
    """A first question, answered; its run."""
    assert suffice("ask", QUESTION, "--docs", docs, "--quiet").status == 0
    return json.loads(suffice("runs", "--json").out.splitlines()[-1])["run"]


def test_no_run_yet(suffice):
    assert suffice("runs").out == "No run is kept yet; suffice ask keeps each one.\n"
    assert suffice("memory", "search").out == "Nothing is remembered yet.\n"


def test_a_run_is_listed_shown_and_explained(suffice, asked):
    assert f"{asked}  answered" in suffice("runs").out
    assert "Karl von Frisch" in suffice("runs", "show", "last").out
    assert json.loads(suffice("runs", "show", asked, "--json").out)["task"] == QUESTION
    assert "Why it stopped" in suffice("explain", asked).out
    assert "would have stopped" in suffice("explain", asked, "--stop", "fixed(1)").out


def test_a_run_is_exported(suffice, asked, tmp_path):
    for name in ("r.html", "r.md", "r.json", "trace.jsonl"):
        assert suffice("runs", "export", asked, tmp_path / name).status == 0
        assert (tmp_path / name).stat().st_size > 0
    assert suffice("explain", tmp_path / "trace.jsonl").status == 0
    assert suffice("runs", "export", asked, tmp_path / "r.doc").status == 2
    assert suffice("runs", "export", asked, tmp_path / "no" / "t.jsonl").status == 2


def test_deleting(suffice, asked):
    ended = suffice("runs", "delete")
    assert (ended.status, "--all" in ended.err) == (2, True)
    assert suffice("runs", "delete", asked).out == "Deleted 1 run and 1 finding.\n"
    assert suffice("runs", "show", asked).status == 2
    assert suffice("memory", "search").out == "Nothing is remembered yet.\n"
    assert suffice("runs", "delete", "--all").out == "Deleted 0 runs.\n"


def test_a_follow_up_searches_what_the_first_run_searched(suffice, asked, docs):
    ended = suffice("ask", "How long do workers live?", "--continue", "last", "--json")
    report = json.loads(ended.out)
    assert ended.status == 0
    assert report["metadata"]["continues"] == asked
    assert "six weeks" in report["final_answer"]
    assert f"going on from {asked}" in ended.err


def test_a_follow_up_searches_no_more_than_the_first_run_did(suffice, docs):
    (docs / "secrets").mkdir()
    (docs / "secrets" / "plan.md").write_text("Workers live six weeks and the secret queen is called Titania.\n")
    suffice("ask", QUESTION, "--docs", docs, "--exclude", "secrets/", "--quiet")
    ended = suffice("ask", "What is the secret queen called?", "--continue", "last", "--json")
    assert "Titania" not in ended.out


def test_a_run_that_is_not_there(suffice, docs):
    for words in (["ask", "Why?", "--docs", docs, "--continue", "nope"], ["explain", "nope"], ["runs", "show", "nope"]):
        ended = suffice(*words)
        assert ended.status == 2
        assert ended.err.strip() == "suffice: There is no run 'nope'; suffice runs lists those that are kept"


def test_what_was_found_out_is_searched_and_forgotten(suffice, asked):
    found = suffice("memory", "search", "waggle")
    assert "Karl von Frisch decoded the dance in 1927." in found.out
    assert "bees.md" in found.out
    number = json.loads(suffice("memory", "search", "--json").out)["id"]
    assert suffice("memory", "search", "submarines").out == "Nothing of it is remembered.\n"
    assert suffice("memory", "forget", number).out == "Forgot 1 finding.\n"
    assert suffice("memory", "forget", number).status == 2
    assert suffice("memory", "forget").status == 2


def test_a_run_need_not_be_kept(suffice, docs):
    suffice("ask", QUESTION, "--docs", docs, "--no-keep")
    assert suffice("runs").out.startswith("No run")
