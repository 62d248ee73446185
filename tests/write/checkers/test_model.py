"""The model's reading, and checkers put together."""

import asyncio

import pytest

from suffice.asks import Support, SupportResponse
from suffice.testing import passage
from suffice.write.checkers import standard

SOURCE = passage("p", "Halloran Works put up the Meridian bridge in 1887, and nobody was hurt.", "Meridian bridge")
CLAIM = "Nobody came to harm when the Meridian bridge was erected by Halloran Works."


def checked(*answers, claim=CLAIM, passages=(SOURCE,)):
    asked = []

    async def ask(question):
        asked.append(question)
        return answers[min(len(asked), len(answers)) - 1]

    found = asyncio.run(standard(None, ask)(claim, passages))
    return [None if one is None else one.stance for one in found], asked


@pytest.mark.parametrize(
    ("answer", "stance"),
    [
        (SupportResponse("SUPPORTS", 9), "supports"),
        (SupportResponse("SUPPORTS"), "supports"),
        (SupportResponse("SUPPORTS", 4), None),
        (SupportResponse("CONTRADICTS", 8), "contradicts"),
        (SupportResponse("NEITHER", 10), None),
        (SupportResponse("SUPPORTS", 1, {"SUPPORTS": 0.999, "CONTRADICTS": 0.0, "NEITHER": 0.001}), "supports"),
        (SupportResponse("SUPPORTS", 10, {"SUPPORTS": 0.4, "CONTRADICTS": 0.25, "NEITHER": 0.35}), None),
        (SupportResponse("NEITHER", 10, {"SUPPORTS": 0.0, "CONTRADICTS": 0.999, "NEITHER": 0.001}), "contradicts"),
        (None, None),
    ],
)
def test_what_words_leave_open_the_model_decides(answer, stance):
    assert checked(answer)[0] == [stance]


def test_what_words_settle_costs_no_call():
    stances, asked = checked(SupportResponse("NEITHER", 10), claim="Halloran Works put up the Meridian bridge in 1887.")
    assert stances == ["supports"]
    assert asked == []


def test_a_claim_that_is_checked_again_costs_nothing_again():
    asked = []

    async def ask(question):
        asked.append(question)
        return SupportResponse("NEITHER", 9)

    async def twice():
        checker = standard(None, ask)
        await checker(CLAIM, [SOURCE])
        await checker(CLAIM, [SOURCE, passage("q", f"{SOURCE.text} It rained.", "Meridian bridge")])

    asyncio.run(twice())
    assert len(asked) == 2


def test_a_yes_does_not_count_over_a_figure():
    claim = "Nobody came to harm when the Meridian bridge was erected by Halloran Works for 12 million."
    assert checked(SupportResponse("SUPPORTS", 10), claim=claim)[0] == [None]


def test_a_model_that_does_not_answer_is_not_asked_again_and_again():
    asked = []

    async def ask(question):
        asked.append(question)

    async def several():
        checker = standard(None, ask)
        for number in range(4):
            await checker(f"{CLAIM} So said witness {number}.", [SOURCE])

    asyncio.run(several())
    assert len(asked) == 2


def test_one_answer_that_cannot_be_read_does_not_silence_it():
    answers = [None, SupportResponse("SUPPORTS", 9), None, SupportResponse("SUPPORTS", 9)]

    async def ask(question):
        return answers.pop(0)

    async def several():
        checker = standard(None, ask)
        return [
            (await checker(f"{CLAIM[:-1]} as {who} saw.", [SOURCE]))[0].stance for who in ("she", "he", "you", "we")
        ]

    assert asyncio.run(several()) == [None, "supports", None, "supports"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("SUPPORTS 9", SupportResponse("SUPPORTS", 9)),
        ("contradicts, 10.", SupportResponse("CONTRADICTS", 10)),
        ("NEITHER", SupportResponse("NEITHER")),
    ],
)
def test_reading_the_line(text, answer):
    assert Support.read(text) == answer


@pytest.mark.parametrize("text", ["", "maybe", "SUPPORTS or NEITHER"])
def test_a_line_that_is_none(text):
    with pytest.raises(ValueError, match="SUPPORTS"):
        Support.read(text)
