"""Open questions: bounded, distinct, and unknown until one was added."""

from hypothesis import given
from hypothesis import strategies as st

from suffice.memory.open_questions import MAX_OPEN, MAX_QUESTION_CHARS, MAX_TOTAL, OpenQuestions

question = st.text(alphabet="ab ?éX\n1", max_size=12)


def opened(*texts):
    questions = OpenQuestions()
    for text in texts:
        questions.add(text)
    return questions


def test_the_count_is_unknown_at_first_and_zero_when_all_are_answered():
    questions = OpenQuestions()
    assert questions.open_count is None
    questions.add("Who built it?")
    assert questions.open_count == 1.0
    assert questions.resolve("who built it")
    assert questions.open_count == 0.0
    assert questions.get_next() is None


def test_a_question_is_added_once_even_after_it_was_answered():
    questions = opened("Who built it?", "WHO  built it")
    assert questions.open == ("Who built it?",)
    questions.resolve("Who built it?")
    assert not questions.add("who built it")
    assert questions.open == ()


def test_a_loosely_quoted_question_matches():
    questions = opened("Where was Ada Lind born?", "When was the bridge opened?")
    assert questions.find_match("where Ada Lind was born") == "Where was Ada Lind born?"
    assert questions.find_match("Who paid for it?") is None
    assert not questions.resolve("Who paid for it?")


def test_a_tried_question_goes_behind_the_others():
    questions = opened("first thing", "second thing")
    assert questions.get_next() == "first thing"
    questions.mark_tried("first thing")
    assert questions.get_next() == "second thing"
    questions.mark_tried("second thing")
    assert questions.get_next() == "first thing"


@given(st.lists(st.tuples(st.booleans(), question), max_size=80))
def test_it_is_bounded_whatever_is_added(steps):
    questions = OpenQuestions()
    ever = set()
    for resolves, text in steps:
        if resolves:
            questions.resolve(text)
        elif questions.add(text):
            ever.add(questions.open[-1])
        assert len(questions.open) <= MAX_OPEN
        assert len(set(questions.open)) == len(questions.open)
        assert (questions.open_count is None) == (not ever)
    assert len(ever) <= MAX_TOTAL


def test_endless_new_questions_come_to_an_end():
    questions = OpenQuestions()
    for n in range(200):
        questions.add(f"question number {n} " + "x" * 1000)
        questions.resolve(questions.get_next() or "")
    assert questions.open == ()
    assert all(len(text) <= MAX_QUESTION_CHARS for text in questions.rank_by_tries())
