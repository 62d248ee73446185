"""A strong model at the command line: what fits is read whole, and the planner knows what can be searched."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from fake_llm import FakeLlm, role_of, sensible

pytestmark = pytest.mark.usefixtures("no_waiting")
QUESTION = "When was the Forth Bridge opened?"


@pytest.fixture
def ask(suffice: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable:
    """Ask over two files with a model that writes prose and reads 32,000 tokens."""
    folder = tmp_path / "bridges"
    folder.mkdir()
    (folder / "forth.md").write_text("# Forth Bridge\n\nThe Forth Bridge was opened in 1890.\n")
    (folder / "tay.md").write_text("# Tay Bridge\n\nThe Tay Bridge fell down in 1879.\n")
    monkeypatch.setenv("SUFFICE_CONTEXT", "32000")
    monkeypatch.setenv("SUFFICE_WRITER", "prose")

    def call(question: str, *options: str) -> tuple[dict, list[dict]]:
        with FakeLlm(sensible) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            result = suffice("ask", question, "--docs", folder, "--json", *options)
        assert result.status == 0, result.err
        return json.loads(result.out), server.requests

    return call


def find_prompt(requests: list[dict], role: str) -> str:
    return next(body["messages"][0]["content"] for body in requests if role_of(body) == role)


def test_documents_that_fit_are_read_whole(ask: Callable) -> None:
    report, requests = ask(QUESTION)
    assert (report["stop"]["reason"], report["stop"]["round"]) == ("read_all", 1)
    assert "2 files" in report["stop"]["explanation"]
    draft = find_prompt(requests, "draft")
    assert "opened in 1890" in draft
    assert "fell down in 1879" in draft


def test_a_copy_of_a_document_is_shown_once(ask: Callable, tmp_path: Path) -> None:
    (tmp_path / "bridges" / "forth.txt").write_text("Forth Bridge\n\nThe Forth Bridge was opened in 1890.\n")
    (tmp_path / "bridges" / "other.txt").write_text("Forth Bridge\n\nThe Forth Bridge was opened in 1891.\n")
    report, requests = ask(QUESTION)
    assert "4 files" in report["stop"]["explanation"]
    draft = find_prompt(requests, "draft")
    assert draft.count("opened in 1890") == 1
    assert "opened in 1891" in draft


def test_of_a_passage_only_what_no_other_file_has_is_shown(ask: Callable, tmp_path: Path) -> None:
    """An export repeats a text between lines of its own; the lines stay, with their place."""
    text = "The Forth Bridge was opened in 1890.\n\nBest,\nAda"
    (tmp_path / "bridges" / "export.txt").write_text(
        f"Received by the clerk in 1891\n\n{text}\n\nSent on by Karl Lind\n"
    )
    (tmp_path / "bridges" / "forth.md").write_text(f"# Forth Bridge\n\n{text}\n")
    (tmp_path / "bridges" / "mail.txt").write_text(f"Bridge\n\n{text}\n\nEnd of the mails of Karl Lind\n")
    report, requests = ask(QUESTION)
    draft = find_prompt(requests, "draft")
    assert "without what copies repeat" in report["stop"]["explanation"]
    assert draft.count("opened in 1890") == 1
    for line in ("Received by the clerk in 1891", "Sent on by Karl Lind", "End of the mails of Karl Lind"):
        assert line in draft


@pytest.mark.parametrize("option", [("--stop", "fixed(1)"), ("--strategy", "reflect")], ids=["stop", "strategy"])
def test_what_the_user_named_is_not_replaced(ask: Callable, option: tuple[str, str]) -> None:
    report, _ = ask(QUESTION, *option)
    assert report["stop"]["reason"] != "read_all"


def test_the_planner_knows_the_files(ask: Callable) -> None:
    _, requests = ask(QUESTION, "--strategy", "reflect")
    plan = find_prompt(requests, "plan")
    assert "forth.md (1 kB)" in plan
    assert "give no queries" not in plan
    assert "other languages" not in plan


def test_where_all_is_read_the_planner_knows_the_files_and_its_notes_bind_nobody(ask: Callable) -> None:
    _, requests = ask(QUESTION)
    plan = find_prompt(requests, "plan")
    assert "forth.md (1 kB)" in plan
    assert "give no queries" in plan
    assert "counts as a query" not in plan


def test_plan_draft_check_and_review_are_told_the_date(ask: Callable) -> None:
    _, requests = ask(QUESTION)
    for role in ("plan", "draft", "check_draft", "evaluate"):
        assert f"Today is {date.today().isoformat()}." in find_prompt(requests, role)


def test_absences_are_gaps_and_the_plan_decides_the_breadth(
    suffice: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "forth.md").write_text("# Forth Bridge\n\nThe Forth Bridge was opened in 1890.\n")
    monkeypatch.setenv("SUFFICE_CONTEXT", "32000")
    monkeypatch.setenv("SUFFICE_WRITER", "prose")
    checked = [
        (1, "stated", "[1]", "The Forth Bridge was opened in 1890"),
        (2, "absence", "", ""),
        (3, "label", "", ""),
    ]
    answers = {
        "plan": {"queries": [], "complexity": "deep", "notes": "For engineers."},
        "check_draft": {
            "statements": [
                {"number": number, "role": role, "source": source, "words": words}
                for number, role, source, words in checked
            ]
        },
    }
    text = "The Forth Bridge was opened in 1890 [1]. No source gives its cost. More follows below."

    def answer(body: dict) -> str:
        role = role_of(body)
        return text if role == "draft" else json.dumps(answers[role]) if role in answers else sensible(body)

    with FakeLlm(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        question = "Wann wurde die Brücke über den Forth eröffnet?"
        report = json.loads(suffice("ask", question, "--docs", tmp_path, "--json", "--no-review").out)
        narrow = json.loads(
            suffice("ask", question, "--docs", tmp_path, "--json", "--no-review", "--breadth", "narrow").out
        )
    assert report["gaps"] == ["No source gives its cost."]
    assert report["open_questions"] == [], "the answer says it already"
    assert [claim["role"] for claim in report["claims"]] == ["stated", "absence"]
    assert "absence" in report["claims"][1]["note"]
    assert (report["metadata"]["breadth"], narrow["metadata"]["breadth"]) == ("broad", "narrow")
    draft = find_prompt(server.requests, "draft")
    assert "what they do not give is left out): For engineers." in draft


def test_the_planner_knows_the_languages(ask: Callable) -> None:
    report, requests = ask("Wann wurde die Brücke über den Forth eröffnet?", "--strategy", "reflect")
    assert "The documents are in other languages than the task: English." in find_prompt(requests, "plan")
    assert not any(notice["kind"] == "other_language" for notice in report["notices"])


def test_a_document_that_the_model_opens_is_read_whole(
    suffice: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder does not fit; the planner opens one file and the reflection another, which no query would find."""
    words = ("girder", "kettle", *(f"item{n}" for n in range(8)))
    for name, word in zip(("log.md", "diary.md", *(f"roll{n}.md" for n in range(8))), words, strict=True):
        days = (f"On day {n} of the works the {word} was noted once more by the clerk." for n in range(1, 21))
        text = "\n\n".join(f"## Day {n} of the {word}\n\n{day}" for n, day in enumerate(days, 1))
        (tmp_path / name).write_text(f"# {name}\n\n{text}\n")
    (tmp_path / "forth.md").write_text("# Forth Bridge\n\nThe Forth Bridge was opened in 1890.\n")
    monkeypatch.setenv("SUFFICE_CONTEXT", "9000")
    monkeypatch.setenv("SUFFICE_WRITER", "prose")
    asked: list[str] = []

    def answer(body: dict) -> str:
        asked.append(role := role_of(body))
        if role == "plan":
            return '{"queries": [{"query": "forth bridge opened"}], "open": ["log.md", "none.md"]}'
        if role == "reflect" and asked.count("reflect") == 1:
            return (
                '{"sufficient": false, "confidence": 0.2, "gaps": ["kettle"], "new_queries": [], "open": ["diary.md"]}'
            )
        return sensible(body)

    with FakeLlm(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = suffice("ask", QUESTION, "--docs", tmp_path, "--json", "--no-review")
    report = json.loads(result.out)
    assert report["stop"]["reason"] != "read_all"
    assert [len(record["queries"]) for record in report["stop"]["rounds"]] == [4, 1]
    first, second = (find_prompt(server.requests[n:], "reflect") for n in (0, asked.index("reflect") + 1))
    assert "diary.md (" in first
    for n in range(1, 21):
        assert f"On day {n} of the works the girder" in first
        assert f"On day {n} of the works the kettle" in first + second  # A query may have brought one before.


def test_without_a_model_the_other_language_is_named(suffice: Callable, tmp_path: Path) -> None:
    (tmp_path / "forth.md").write_text("# Forth Bridge\n\nThe Forth Bridge was opened in 1890.\n")
    result = suffice("ask", "Wann wurde die Brücke eröffnet?", "--docs", tmp_path, "--model", "extractive")
    assert result.status == 3
    assert "The documents are in another language than the question: English." in result.err


def test_the_prompts_of_a_run_can_be_read_as_they_were_sent(ask: Callable, suffice: Callable) -> None:
    _, requests = ask(QUESTION)
    shown = suffice("prompts", "--run", "last").out
    for body in requests:
        assert body["messages"][0]["content"].strip() in shown
    assert "draft, about" in shown


def test_a_run_without_a_language_model_has_no_prompts(suffice: Callable, docs: Path) -> None:
    suffice("ask", "Who decoded the waggle dance?", "--docs", docs, "--alpha", 1)
    result = suffice("prompts", "--run", "last")
    assert (result.status, result.err.count("\n")) == (2, 1)


def test_a_broad_question_is_not_written_as_a_fact(ask: Callable) -> None:
    _, requests = ask("Which bridges matter?", "--breadth", "broad")
    assert "The task asks for a fact" not in find_prompt(requests, "draft")
    _, requests = ask(QUESTION)
    assert "The task asks for a fact" in find_prompt(requests, "draft")
