"""How sure a model is of its word: from the provider's log-probabilities where it gives them, and without them where not."""

import asyncio
from math import log

import pytest
from fake_llm import FakeLlm, Say, Script

from suffice.models.base import Reply
from suffice.models.llm import Endpoint, LanguageModel
from suffice.prompts import CheckSupport, SupportResponse
from suffice.types import Note

ASK = CheckSupport("The bridge was opened in 1890.", (Note("It was opened in 1890.", (), "Forth Bridge"),))


def asked(script: Script, times: int = 1) -> tuple[list[Reply[SupportResponse]], list[dict]]:
    with FakeLlm(script) as server:
        model = LanguageModel(Endpoint("openai", "fake-model", server.url))

        async def all_of_them() -> list[Reply[SupportResponse]]:
            return [await model(ASK) for _ in range(times)]

        return asyncio.run(all_of_them()), server.requests


def test_the_likelihoods_of_the_two_words_come_with_the_answer() -> None:
    first = {"YES": log(0.5), " yes": log(0.1), "NO": log(0.2), "Y": log(0.01), "The": log(0.19)}
    [reply], [request] = asked([Say("YES", first=first)])
    assert request["logprobs"] is True
    assert request["top_logprobs"] >= 2
    assert reply.answer.yes
    assert reply.answer.sure == pytest.approx(0.61 / 0.81)


def test_without_them_the_answer_is_what_it_says() -> None:
    [reply], _ = asked(["NO"])
    assert reply.answer == SupportResponse(False)


@pytest.mark.parametrize(
    "said",
    [
        Say("I think YES", first={"I": -0.1, "YES": -2.0}),
        Say("<think>NO?</think>YES", first={"<think>": -0.1, "YES": -2.0}),
        Say("YES", first={"The": -0.1}),
    ],
    ids="prose think nothing".split(),
)
def test_likelihoods_of_something_else_are_not_taken(said: Say) -> None:
    [reply], _ = asked([said])
    assert reply.answer == SupportResponse(True)


def test_a_server_that_refuses_them_is_asked_without_from_then_on() -> None:
    replies, requests = asked([Say("logprobs are not supported", status=400), "YES"], times=2)
    assert [failure.kind for reply in replies for failure in reply.failures] == ["LikelihoodsRefused"]
    assert [reply.answer for reply in replies] == [SupportResponse(True)] * 2
    assert ["logprobs" in request for request in requests] == [True, False, False]


def test_an_answer_that_is_asked_for_again_has_the_likelihoods_of_its_own() -> None:
    unsure = Say("YES or NO", first={"YES": log(0.9), "NO": log(0.1)})
    [reply], _ = asked([unsure, Say("NO", first={"NO": log(0.8), "YES": log(0.2)})])
    assert (reply.answer.yes, reply.answer.sure) == (False, pytest.approx(0.2))
