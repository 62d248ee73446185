"""The judge of ``bench.answers`` and its question set; nothing is downloaded."""

from argparse import Namespace
from collections import Counter
from typing import Any

import pytest

from bench import answers

QUESTION = {
    "id": "x-01",
    "corpus": "flask",
    "language": "en",
    "kind": "default",
    "question": "What is the default timeout?",
    "accept": [["Timeout", "5.0"], ["five seconds"]],
    "short": [["5"]],
}


def report(answer: str, **fields: Any) -> dict[str, Any]:
    return {"final_answer": answer, "status": "answered", "stop": {}} | fields


def judge(answer: str, question: dict[str, Any] = QUESTION, **fields: Any) -> dict[str, Any]:
    return answers.judge(question, report(answer, **fields), 1.0)


@pytest.mark.parametrize(
    ("text", "wanted", "is_there"),
    [
        ("The **default**\n  is `Timeout(5.0)`.", ["the default is", "timeout(5.0)"], True),
        ("It took 15.0 seconds", ["5.0"], False),
        ("version 0.5.0", ["5.0"], False),
        ("a value of 5.01", ["5.0"], False),
        ("64 and 1411 days", ["411"], False),
        ("age: 87,Female", ["87"], True),
        ("it isn’t “here” (2005–2015)", ["isn't", '"here"', "2005-2015"], True),
        ("Straße und MASSE", ["STRASSE"], True),
        ("only one of them", ["only", "both"], False),
    ],
)
def test_accepted_strings_match_whole_words_regardless_of_markup(text: str, wanted: list[str], is_there: bool) -> None:
    assert answers.holds(text, [wanted]) is is_there


def test_any_alternative_is_enough_but_all_its_strings_are_needed() -> None:
    assert judge("It is five seconds. [1]")["right_first"]
    assert not judge("The Timeout is long. [1]")["right_first"]


def test_only_the_beginning_of_the_first_excerpt_counts_as_first() -> None:
    row = judge("x " * answers.EXCERPT_CHARS + "five seconds")
    assert (row["right_first"], row["right_anywhere"]) == (False, True)


def test_both_sides_of_a_comparison_are_judged_together() -> None:
    excerpts = [{"text": "A Timeout ends a request."}, {"text": "A limit is 5.0."}, {"text": "five seconds"}]
    assert judge("", QUESTION | {"kind": "compare"}, excerpts=excerpts)["right_first"]
    assert not judge("", excerpts=excerpts)["right_first"]


def test_the_first_excerpt_is_judged_in_place_of_the_answer() -> None:
    excerpts = [{"text": "nothing here"}, {"text": "five seconds"}]
    row = judge("five seconds", excerpts=excerpts)
    assert (row["right_first"], row["right_anywhere"]) == (False, True)


def test_notices_above_the_answer_are_no_part_of_it() -> None:
    row = judge("> Written without a language model.\n\n> Another notice.\n\nIt is five seconds.")
    assert row["answer"] == "It is five seconds."


def test_a_short_answer_may_be_shorter_than_the_evidence() -> None:
    assert judge("see below", short_answer="5")["right_short"]
    assert not judge("see below", short_answer="50")["right_short"]
    assert not judge("five seconds")["right_short"]


@pytest.mark.parametrize(
    ("short", "is_right"),
    [
        ("No. It is five seconds.", True),
        ("no", True),
        ("Yes: five seconds", False),
        ("five seconds", True),
        ("", False),
    ],
)
def test_a_yes_or_no_must_be_the_right_one(short: str, is_right: bool) -> None:
    assert judge("…", QUESTION | {"verdict": "no"}, short_answer=short)["right_short"] is is_right


def test_a_refusal_is_neither_right_nor_a_claim() -> None:
    row = judge("five seconds", status="no_evidence")
    assert (row["refused"], row["claimed"], row["right_first"], row["right_anywhere"]) == (True, False, False, False)


@pytest.mark.parametrize(
    ("status", "sufficiency", "claimed"),
    [
        ("answered", None, True),
        ("partial", "yes", True),
        ("answered", "partly", False),
        ("answered", "no", False),
        ("no_evidence", "no", False),
    ],
)
def test_an_absent_answer_is_wrong_when_it_is_claimed(status: str, sufficiency: str | None, claimed: bool) -> None:
    absent = QUESTION | {"absent": True, "accept": []}
    row = judge("something", absent, status=status, stop={"sufficiency": sufficiency})
    assert row["claimed"] is claimed
    assert "right_first" not in row


def test_the_tables_count_answerable_and_absent_questions_apart() -> None:
    absent = QUESTION | {"absent": True, "accept": []}
    rows = [judge("five seconds"), judge("", status="no_evidence"), judge("something", absent)]
    first_row = answers.format_tables(rows).splitlines()[2]
    cells = [cell.strip() for cell in first_row.strip("|").split("|")]
    assert cells[:11] == ["all", "2", "0.50", "0.00", "0.00", "0.50", "0.50", "0.50", "1", "0.00", "1.00"]


def test_a_section_replaces_the_one_of_its_name(tmp_path) -> None:
    page = tmp_path / "page.md"
    for name, body in [("before", "one"), ("after", "two"), ("before", "three")]:
        answers.write_section(page, name, body)
    text = page.read_text()
    assert text.count("## before") == 1
    assert "three" in text
    assert "two" in text
    assert "one\n" not in text


def test_a_corpus_that_cannot_be_had_is_skipped_with_its_reason(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(answers.shutil, "which", lambda program: None)
    said = answers.fetch("maint-guide-de", tmp_path)
    assert "skipped" in said
    assert "maint-guide-de=1.2.53" in said
    assert "apt-get" in said
    assert not list(tmp_path.iterdir())


def test_only_the_chosen_readable_files_are_copied(tmp_path) -> None:
    said = answers.fetch("stdlib", tmp_path)
    assert said.startswith("stdlib:")
    assert (tmp_path / "stdlib" / "json" / "encoder.py").is_file()
    assert not list(tmp_path.rglob("__pycache__"))
    assert not (tmp_path / "stdlib" / "os.py").exists()
    assert answers.fetch("stdlib", tmp_path) == "stdlib: already there"


def test_the_question_set_is_complete_and_well_formed() -> None:
    questions = answers.load_questions()
    kinds = Counter(question["kind"] for question in questions)
    assert len(questions) >= 84
    assert len(kinds) == 10
    assert min(kinds.values()) >= 6
    assert kinds["not-in-corpus"] >= 12
    assert len({question["id"] for question in questions}) == len(questions)
    assert {question["corpus"] for question in questions} == set(answers.CORPORA)
    assert sum(question["language"] != "en" for question in questions) >= 12
    for question in questions:
        assert question["where"]
        is_absent = question["kind"] == "not-in-corpus"
        assert bool(question.get("absent")) is is_absent
        assert bool(question["accept"]) is not is_absent
        assert all(strings and all(strings) for strings in question["accept"] + question.get("short", []))
        # A question that holds its own answer would be judged right by any echo of it.
        assert is_absent or not answers.holds(question["question"], question["accept"]), question["id"]


def test_the_questions_about_refusing_are_complete() -> None:
    questions = answers.load_questions("refusing")
    assert {question["corpus"] for question in questions} == set(answers.REFUSING_CORPORA)
    assert len({question["id"] for question in questions}) == len(questions)
    assert {question["part"] for question in questions} == {"read", "held-out", "reworded"}
    for question in questions:
        assert bool(question["accept"]) is not bool(question.get("absent")), question["id"]


def test_answers_about_the_chat_stand_in_the_chat() -> None:
    text = "\n".join(file.read_text(encoding="utf-8") for file in answers.locate("chat", answers.HERE).iterdir())
    for question in answers.load_questions():
        if question["corpus"] == "chat" and not question.get("absent"):
            assert answers.holds(text, question["accept"]), question["id"]


def test_a_limit_takes_questions_from_the_whole_set() -> None:
    given = Namespace(corpus=None, kind=None, limit=26)
    chosen = answers.choose(answers.load_questions(), given)
    assert len(chosen) == 26
    assert len({question["corpus"] for question in chosen}) == len(answers.CORPORA)


def test_a_corpus_and_a_kind_narrow_the_questions() -> None:
    given = Namespace(corpus=["chat"], kind=["who"], limit=None)
    assert [question["id"] for question in answers.choose(answers.load_questions(), given)] == ["chat-02"]
