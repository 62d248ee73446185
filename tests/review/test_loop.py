"""Every way in which a review ends, and that the best version is the one that goes out."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review.conftest import FIRST, Case, missing, scored, version

from suffice.errors import ModelError
from suffice.prompts import SynthesisResponse
from suffice.settings import ReviewRules
from suffice.testing import ScriptedModel
from suffice.text.tokens import estimate_tokens
from suffice.types import Bounds

UNREADABLE = scored(7, depth=None)


def test_a_good_answer_passes_at_once():
    case = Case([scored(9)])
    [judged] = case.play()
    assert (judged.composite, judged.passed) == (9.0, True)
    assert (case.told.ending, case.told.passed, case.told.kept) == ("passed", True, 1)
    assert case.review.best == FIRST
    assert case.roles == ["evaluate"]


def test_a_weak_answer_is_revised_until_it_passes():
    case = Case([scored(6, missing()), scored(8.5)], [version(2)])
    case.play()
    assert case.roles == ["evaluate", "revise", "evaluate"]
    assert case.review.best.answer == version(2).answer
    assert case.review.best.key_findings == FIRST.key_findings, (
        "a revision that gives no findings keeps those there are"
    )
    assert (case.told.ending, case.told.kept, case.told.composite) == ("passed", 2, 8.5)
    assert case.model.prompts[1].issues[0] == "depth, “Builders”: say when"


def test_a_long_text_is_condensed_to_what_the_judge_can_read():
    class Small(ScriptedModel):
        context = 4_096

    long = "\n\n".join(f"## Part {number}\n\n" + "Halloran Works built it [1]. " * 40 for number in range(20))
    case = Case([scored(9)], kind=Small)
    [judged] = case.play(SynthesisResponse(long))
    assert judged.passed
    [prompt] = case.model.prompts
    assert estimate_tokens(prompt.render()) + prompt.max_tokens <= Small.context
    assert all(f"## Part {number}\n" in prompt.render() for number in range(20))


def test_three_rounds_without_passing():
    case = Case([scored(5), scored(6), scored(7)], [version(2), version(3)])
    case.play()
    assert (case.told.ending, case.told.passed, case.told.kept, case.told.composite) == ("failed", False, 3, 7.0)
    assert case.roles == ["evaluate", "revise"] * 2 + ["evaluate"], "nothing is revised that nobody would read"


def test_the_same_score_twice_ends_it():
    case = Case([scored(6), scored(6)], [version(2)])
    case.play()
    assert case.told.ending == "no_progress"
    assert case.review.best == FIRST, "no better, so the first stays"


def test_a_revision_that_changes_nothing_is_not_read_again():
    case = Case([scored(6)], [FIRST])
    case.play()
    assert (case.told.ending, case.roles) == ("no_progress", ["evaluate", "revise"])


def test_a_worse_revision_is_taken_back():
    case = Case([scored(7), scored(5), scored(6)], [version(2), version(3)])
    case.play()
    assert case.review.best == FIRST
    assert (case.told.ending, case.told.kept, case.told.composite) == ("failed", 1, 7.0)


@pytest.mark.parametrize("nothing", [SynthesisResponse("  "), ModelError("dizzy")])
def test_an_empty_revision_ends_it(nothing):
    case = Case([scored(6)], [nothing])
    case.play()
    assert (case.told.ending, case.review.best) == ("empty_revision", FIRST)


def test_an_unreadable_evaluation_is_asked_for_once_more():
    case = Case([UNREADABLE, scored(9)])
    case.play()
    assert case.told.ending == "passed"
    assert not case.model.prompts[0].reminder
    assert case.model.prompts[1].reminder


@pytest.mark.parametrize("bad", [UNREADABLE, ModelError("no JSON"), scored(85), scored(7, depth=float("nan"))])
def test_an_evaluation_that_stays_unreadable_is_unknown_and_no_zero(bad):
    case = Case([bad])
    [judged] = case.play()
    assert (judged.scores, judged.composite, judged.passed) == (None, None, None)
    assert (case.told.ending, case.told.passed, case.told.composite, case.told.kept) == ("unreadable", None, None, 0)
    assert case.review.best == FIRST


def test_a_revision_that_nobody_could_read_is_not_kept():
    case = Case([scored(6), UNREADABLE], [version(2)])
    case.play()
    assert (case.told.ending, case.told.composite, case.review.best) == ("unreadable", 6.0, FIRST)


def test_a_claim_that_the_evidence_does_not_hold_never_gets_in():
    async def settle(text):
        return SynthesisResponse(text.answer.replace(" The king paid for it [1].", ""))

    invented = SynthesisResponse("## Builders\n\nHalloran Works built it in 1887 [1]. The king paid for it [1].")
    case = Case([scored(6), scored(9)], [invented], settle=settle)
    case.play()
    assert case.review.best.answer == "## Builders\n\nHalloran Works built it in 1887 [1]."
    assert "king" not in case.model.prompts[2].text.text, "the judge reads what would go out"


def test_a_revision_of_which_nothing_can_be_supported_is_empty():
    async def settle(text):
        return SynthesisResponse("")

    case = Case([scored(6)], [version(2)], settle=settle)
    case.play()
    assert (case.told.ending, case.review.best) == ("empty_revision", FIRST)


def test_no_round_begins_when_the_tokens_are_spent():
    case = Case([scored(6)], [version(2)], bounds=Bounds(tokens=1))
    case.play()
    assert (case.told.ending, case.roles) == ("budget", ["evaluate"])
    again = Case([scored(6)], bounds=Bounds(tokens=0))
    assert again.play() == []
    assert (again.told.ending, again.roles, again.review.best) == ("budget", [], FIRST)


def test_no_round_begins_when_the_time_is_up():
    times = iter([0.0, *[100.0] * 50])
    case = Case([scored(6)], bounds=Bounds(seconds=60), clock=lambda: next(times))
    case.play()
    assert (case.told.ending, case.roles) == ("budget", [])


def test_a_judge_who_takes_too_long_is_not_waited_for():
    class Slow(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(30)
            raise AssertionError

    case = Case([scored(6)], bounds=Bounds(seconds=0.05), kind=Slow)
    case.play()
    assert (case.told.ending, case.review.best) == ("budget", FIRST)


def test_a_panel_reads_in_parallel_and_the_middle_decides():
    def reads(prompt):
        who = next(word for word in ("practitioner", "doubt", "new to") if word in prompt.reader)
        return scored({"practitioner": 9, "doubt": 2, "new to": 9}[who], missing(problem=f"says the {who}"))

    case = Case([reads], rules=ReviewRules(panel=True))
    [judged] = case.play()
    assert case.roles == ["evaluate"] * 3
    assert (judged.composite, case.told.ending) == (9.0, "passed")
    assert len(judged.issues) == 3


def test_a_panel_goes_on_without_a_reader_who_cannot_be_read():
    def reads(prompt):
        return UNREADABLE if "doubt" in prompt.reader else scored(9)

    case = Case([reads], rules=ReviewRules(panel=True))
    case.play()
    assert (case.told.ending, case.told.composite) == ("passed", 9.0)


@pytest.mark.parametrize("written", [None, SynthesisResponse("")])
def test_without_a_text_there_is_no_review(written):
    case = Case([scored(9)])
    assert case.play(written) == []
    assert (case.told, case.review.best, case.roles) == (None, written, [])


@given(st.lists(st.integers(0, 10), min_size=1, max_size=5), st.integers(1, 5), st.floats(1, 10))
def test_what_goes_out_is_always_the_best_that_was_read(marks, rounds, mark):
    numbers = iter(range(2, 99))
    case = Case(
        [scored(score) for score in marks], [lambda prompt: version(next(numbers))], rules=ReviewRules(mark, rounds)
    )
    judged = case.play()
    read = [round.composite for round in judged]
    assert len(read) <= rounds
    assert case.told.composite == max(read)
    texts = [FIRST, *(version(number) for number in range(2, 99))]
    assert case.review.best.answer == texts[case.told.kept - 1].answer
    assert case.told.passed == (max(read) >= mark)
