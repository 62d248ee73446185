"""Open questions: bounded, without doubles, unknown while nobody set one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.memory.predicates import MAX_OPEN, MAX_QUESTION_CHARS, MAX_TOTAL, OpenQuestions

quick = settings(deadline=None, max_examples=100)
question = st.text(alphabet="ab ?éX\n1", max_size=12)


def opened(*questions):
    predicates = OpenQuestions()
    for text in questions:
        predicates.add(text)
    return predicates


def test_nobody_asked_is_unknown_and_all_answered_is_zero():
    predicates = OpenQuestions()
    assert predicates.open_count is None
    predicates.add("Who built it?")
    assert predicates.open_count == 1.0
    assert predicates.resolve("who built it")
    assert predicates.open_count == 0.0
    assert predicates.get_next() is None


def test_a_question_is_opened_once_and_never_again_after_it_was_answered():
    predicates = opened("Who built it?", "WHO  built it")
    assert predicates.open == ("Who built it?",)
    predicates.resolve("Who built it?")
    assert not predicates.add("who built it")
    assert predicates.open == ()


def test_a_question_quoted_loosely_is_still_meant():
    predicates = opened("Where was Ada Lind born?", "When was the bridge opened?")
    assert predicates.find("where Ada Lind was born") == "Where was Ada Lind born?"
    assert predicates.find("Who paid for it?") is None
    assert not predicates.resolve("Who paid for it?")


def test_what_was_tried_goes_behind_the_others():
    predicates = opened("first thing", "second thing")
    assert predicates.get_next() == "first thing"
    predicates.tried("first thing")
    assert predicates.get_next() == "second thing"
    predicates.tried("second thing")
    assert predicates.get_next() == "first thing"


@quick
@given(st.lists(st.tuples(st.booleans(), question), max_size=80))
def test_it_is_bounded_whatever_is_asked(steps):
    predicates = OpenQuestions()
    ever = set()
    for resolves, text in steps:
        if resolves:
            predicates.resolve(text)
        elif predicates.add(text):
            ever.add(predicates.open[-1])
        assert len(predicates.open) <= MAX_OPEN
        assert len(set(predicates.open)) == len(predicates.open)
        assert (predicates.open_count is None) == (not ever)
    assert len(ever) <= MAX_TOTAL


def test_an_extractor_that_asks_for_ever_comes_to_an_end():
    predicates = OpenQuestions()
    for n in range(200):
        predicates.add(f"question number {n} " + "x" * 1000)
        predicates.resolve(predicates.get_next() or "")
    assert predicates.open == ()
    assert all(len(text) <= MAX_QUESTION_CHARS for text in predicates.rank_by_tries())
