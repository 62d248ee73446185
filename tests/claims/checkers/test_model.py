"""The model checker, after words and numbers."""

import asyncio

import pytest

from suffice.claims.checkers import CascadeChecker, LexicalChecker, ModelChecker
from suffice.prompts import CheckSupport, GradeSupport, SupportResponse
from suffice.testing import make_passage

SOURCE = make_passage("p", "Halloran Works put up the Meridian bridge in 1887, and nobody was hurt.", "Meridian bridge")
CLAIM = "Nobody came to harm when the Meridian bridge was erected by Halloran Works."


YES, NO = SupportResponse(True, 0.999), SupportResponse(False, 0.001)


def checker(answers, asked):
    """Words, then a model that answers from a list; the last answer repeats."""

    async def ask(question):
        asked.append(question)
        return answers[min(len(asked), len(answers)) - 1]

    return CascadeChecker(LexicalChecker(), ModelChecker(ask))


def checked(*answers, claim=CLAIM, passages=(SOURCE,)):
    asked = []
    found = asyncio.run(checker(answers, asked)(claim, passages))
    return [None if one is None else one.stance for one in found], asked


@pytest.mark.parametrize(
    ("answer", "stance"),
    [
        (YES, "supports"),
        (NO, None),
        (SupportResponse(True, 0.05), None),
        (SupportResponse(False, 0.05), None),
        (None, None),
    ],
)
def test_the_model_decides_what_words_leave_open(answer, stance):
    assert checked(answer)[0] == [stance]


@pytest.mark.parametrize(("mark", "stance"), [(1.0, "supports"), (0.0, None)])
def test_without_probabilities_the_model_is_asked_for_a_grade(mark, stance):
    stances, asked = checked(SupportResponse(True), SupportResponse(mark >= 0.5, mark))
    assert stances == [stance]
    assert [type(question) for question in asked] == [CheckSupport, GradeSupport]


def test_a_provider_without_probabilities_is_noticed_once():
    asked = []

    async def several():
        own = checker([SupportResponse(True), SupportResponse(True, 1.0)], asked)
        for who in ("she", "he", "we"):
            await own(f"{CLAIM[:-1]} as {who} saw.", [SOURCE])

    asyncio.run(several())
    assert [type(question) for question in asked] == [CheckSupport, GradeSupport, GradeSupport, GradeSupport]


def test_what_words_decide_costs_no_call():
    stances, asked = checked(NO, claim="Halloran Works put up the Meridian bridge in 1887.")
    assert stances == ["supports"]
    assert asked == []


def test_answers_are_cached():
    asked = []

    async def twice():
        own = checker([NO], asked)
        await own(CLAIM, [SOURCE])
        await own(CLAIM, [SOURCE, make_passage("q", f"{SOURCE.text} It rained.", "Meridian bridge")])

    asyncio.run(twice())
    assert len(asked) == 2


def test_a_yes_does_not_count_when_a_number_is_missing():
    claim = "Nobody came to harm when the Meridian bridge was erected by Halloran Works for 12 million."
    assert checked(YES, claim=claim)[0] == [None]


def test_a_model_that_does_not_answer_is_not_asked_again():
    asked = []

    async def several():
        own = checker([None], asked)
        for number in range(4):
            await own(f"{CLAIM} So said witness {number}.", [SOURCE])

    asyncio.run(several())
    assert len(asked) == 2


def test_one_failed_answer_does_not_stop_the_questions():
    async def several():
        own = checker([None, YES, None, YES], [])
        return [(await own(f"{CLAIM[:-1]} as {who} saw.", [SOURCE]))[0].stance for who in ("she", "he", "you", "we")]

    assert asyncio.run(several()) == [None, "supports", None, "supports"]


@pytest.mark.parametrize(
    ("prompt", "text", "answer"),
    [
        (CheckSupport, "YES", SupportResponse(True)),
        (CheckSupport, "no.", SupportResponse(False)),
        (GradeSupport, "8", SupportResponse(True, 0.8)),
        (GradeSupport, "10.", SupportResponse(True, 1.0)),
        (GradeSupport, "The mark is 0", SupportResponse(False, 0.0)),
    ],
)
def test_parsing_an_answer(prompt, text, answer):
    assert prompt.parse(text) == answer


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        (CheckSupport, ""),
        (CheckSupport, "maybe"),
        (CheckSupport, "YES or NO"),
        (GradeSupport, "no"),
        (GradeSupport, "42"),
    ],
)
def test_an_answer_that_cannot_be_parsed(prompt, text):
    with pytest.raises(ValueError, match="the answer must be"):
        prompt.parse(text)
