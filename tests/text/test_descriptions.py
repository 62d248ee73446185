"""What a question describes instead of naming it."""

import pytest

from suffice.text.descriptions import find_descriptions


def described(question):
    return [description.question for description in find_descriptions(question)]


@pytest.mark.parametrize(
    ("question", "description"),
    [
        ("Who is the mayor of the town where Ada Lind was born?", "What is the town where Ada Lind was born?"),
        ("Who leads the party in which Ada Lind held a seat?", "What is the party in which Ada Lind held a seat?"),
        ("Who married the governor who signed the Velburg law?", "Who is the governor who signed the Velburg law?"),
        ("What is the seat of the county sharing a border with Ulm?", "What is the county sharing a border with Ulm?"),
        ("What currency has the country Ada Lind is from?", "What is the country Ada Lind is from?"),
        ("In which year did the author of The Grey Mill die?", "Who is the author of The Grey Mill?"),
        ('Who sang "Dawn" with the composer of "Dusk"?', 'Who is the composer of "Dusk"?'),
        ("Who owns the label of the Grey Mill singer?", "Who is the Grey Mill singer?"),
        ("Who is the father of Ada Lind's husband?", "Who is Ada Lind's husband?"),
        ("Who was Ada Lind's mother's teacher?", "Who is Ada Lind's mother?"),
        ("The state where Ada Lind died has how many counties?", "What is the state where Ada Lind died"),
    ],
)
def test_a_description_is_a_question_of_its_own(question, description):
    assert described(question)[0].startswith(description)


@pytest.mark.parametrize(
    "question",
    [
        "Who is the mayor of Graz?",
        "What is the capital of the Velburg Republic?",
        "Who is Ada Lind's husband?",
        "Who wrote The Grey Mill?",
        "How do I set a timeout?",
        "When is a worker considered dead?",
        "Was ist die Hauptstadt von Belgien?",
        "",
        "???",
    ],
)
def test_what_is_asked_for_is_no_description(question):
    assert described(question) == []


def test_of_nested_descriptions_the_inner_one_comes_first():
    assert described("Who rules the country where the composer of Dawn lived?") == [
        "Who is the composer of Dawn?",
        "What is the country where the composer of Dawn lived?",
    ]


def test_a_clause_ends_at_a_comma():
    (found,) = find_descriptions("When did the country where Velburg lies, join the union?")
    assert found.question == "What is the country where Velburg lies?"
    assert not found.is_open


def test_a_clause_before_the_verb_of_the_question_is_open():
    (found,) = find_descriptions("When did the river that feeds Lake Ulm freeze?")
    assert found.is_open
    assert found.is_subject
    (found,) = find_descriptions("Who crossed the river that feeds Lake Ulm?")
    assert found.is_open
    assert not found.is_subject


@pytest.mark.parametrize(
    "part", ["the a ", "Ada of ", "the thing making ", "Ada's ", "the town where Ada was born and ", '"']
)
def test_a_text_that_is_no_question_takes_no_time(part):
    find_descriptions("the singer of " + part * 50)
    assert find_descriptions(part * 5_000) == []
