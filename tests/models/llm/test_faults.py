"""A server that misbehaves in every way we know of: the ask is answered all the same, or fails by name, and all of it shows."""

import asyncio
import json
import time

import pytest
from fake_llm import FakeLlm, Say, Script

from suffice.errors import ModelError, ModelOutputError
from suffice.models.base import Reply
from suffice.models.llm import Endpoint, LanguageModel
from suffice.models.prices import TokenPrice
from suffice.prompts import DescribeImage, Plan, PlannedQuery, PlanResponse, Prompt, ProposeQuery
from suffice.text.tokens import estimate_tokens
from suffice.types import Image

PLAN = '{"queries": [{"query": "forth bridge", "intent": "when"}], "complexity": "simple"}'
PLANNED = PlanResponse((PlannedQuery("forth bridge", "when"),), "simple")
ASK = Plan("When was the bridge opened?", 3)

pytestmark = pytest.mark.usefixtures("no_waiting")


def asked(script: Script, prompt: Prompt = ASK, **endpoint: object) -> tuple[Reply[PlanResponse], list[dict]]:
    """The reply, and the requests that it took."""
    with FakeLlm(script) as server:
        model = LanguageModel(Endpoint("openai", "fake-model", server.url, **endpoint), TokenPrice(1.0, 10.0))
        return asyncio.run(model(prompt)), server.requests


def kinds(reply: Reply[PlanResponse]) -> list[str]:
    return [failure.kind for failure in reply.failures]


def test_a_plain_answer_costs_one_call() -> None:
    reply, requests = asked([PLAN])
    assert (reply.answer, reply.failures) == (PLANNED, ())
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.output_tokens) == (1, 10, 5)
    assert reply.usage.usd == pytest.approx((10 * 1.0 + 5 * 10.0) / 1e6)
    [request] = requests
    shape = request["response_format"]["json_schema"]["schema"]
    assert shape["properties"]["queries"]["maxItems"] == 3
    assert "$ref" not in json.dumps(shape)
    assert request["temperature"] == 0
    assert request["max_tokens"] == 800


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{PLAN}\n```",
        f"Sure! Here is the plan:\n\n{PLAN}\n\nI hope {{this}} helps.",
        f"<think>I could say {{'queries': []}}.</think>{PLAN}",
        f"thinking without a beginning</think>\n{PLAN}",
        PLAN.replace('"', "'"),
        PLAN.replace("}]", "},]"),
        f'{{"response": {PLAN}}}',
        PLAN.replace('"simple"', '"Simple"'),
        "\ufeff" + PLAN,
    ],
    ids="fence prose think unopened single trailing wrapped capital bom".split(),
)
def test_an_untidy_answer_is_read_without_asking_again(text: str) -> None:
    reply, requests = asked([text])
    assert reply.answer == PLANNED
    assert len(requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_passing_fault_is_tried_again(status: int) -> None:
    reply, requests = asked([Say(status=status), Say(status=status), PLAN])
    assert reply.answer == PLANNED
    assert [(failure.kind, failure.attempt, failure.retryable) for failure in reply.failures] == [
        ("Retried", 1, True),
        ("Retried", 2, True),
    ]
    assert len(requests) == reply.usage.calls == 3


def test_a_fault_that_does_not_pass_fails_after_three_attempts() -> None:
    with pytest.raises(ModelError, match=r"fake-model at 127\.0\.0\.1.*it did not work") as failed:
        asked([Say(status=500)])
    assert failed.value.retryable
    assert len(failed.value.failures) == 2
    assert failed.value.usage.calls == 3


@pytest.mark.parametrize(("status", "says"), [(401, "API key"), (404, "does not exist"), (402, "failed")])
def test_a_fault_that_stays_is_not_tried_again(status: int, says: str) -> None:
    with pytest.raises(ModelError, match=says) as failed:
        asked([Say(status=status)])
    assert not failed.value.retryable
    assert failed.value.usage.calls == 1


def test_the_server_says_when_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    import stamina

    stamina.set_testing(False)
    began = time.monotonic()
    reply, _ = asked([Say(status=429, headers={"Retry-After": "1"}), PLAN])
    assert reply.answer == PLANNED
    assert time.monotonic() - began >= 1.0


def test_a_server_that_wants_too_much_patience_has_failed() -> None:
    with pytest.raises(ModelError, match="600 seconds") as failed:
        asked([Say(status=429, headers={"Retry-After": "600"}), PLAN])
    assert failed.value.usage.calls == 1


def test_a_slow_server() -> None:
    reply, _ = asked([Say(PLAN, delay=5.0), PLAN], timeout=0.3)
    assert reply.answer == PLANNED
    assert "SUFFICE_TIMEOUT" in reply.failures[0].message
    assert reply.usage.estimated == 1  # It may be billed for what it read.


@pytest.mark.parametrize(
    "bad",
    [
        '{"queries": 5}',
        '{"queries": [{"query": "a"}], "complexity": "huge"}',
        '{"plan": "I would search the web"}',
        "I would search the web.",
        Say(None),
        Say(choices=False),
        Say(raw=b"<html>busy</html>"),
        Say(raw=b'{"id": "1", "choices": [{"index": 0, "message": {"role": "assistant", "content": "\xff\xfe"}}]}'),
    ],
    ids="types literal fields prose null choices html utf8".split(),
)
def test_a_bad_answer_is_asked_for_once_more(bad: str | Say) -> None:
    reply, requests = asked([bad, PLAN])
    assert reply.answer == PLANNED
    assert len(requests) == reply.usage.calls == 2
    assert "BadAnswer" in kinds(reply)


def test_the_second_asking_says_what_was_wrong() -> None:
    _, requests = asked(['{"queries": 5}', PLAN])
    assert [message["role"] for message in requests[1]["messages"]] == ["user", "assistant", "user"]
    assert "$.queries" in requests[1]["messages"][-1]["content"]


def test_the_second_asking_shows_the_picture_again() -> None:
    picture = Image("sign.png", "image/png", data=b"a sign")
    reply, requests = asked([Say(None), "It reads 1890."], DescribeImage("When was it opened?", picture))
    assert reply.answer.text == "It reads 1890."
    for request in requests:
        assert [part["type"] for part in request["messages"][0]["content"]] == ["text", "image_url"]


def test_what_is_complete_of_a_cut_answer_is_kept() -> None:
    cut = Say('{"queries": [{"query": "a"}, {"query": "b", "int', finish="length")
    reply, _ = asked([cut, cut])
    assert reply.answer.queries == (PlannedQuery("a"),)
    assert kinds(reply) == ["BadAnswer", "Repaired"]
    assert "limit of 800 tokens" in reply.failures[0].message


def test_what_cannot_be_read_fails_by_name() -> None:
    with pytest.raises(ModelOutputError, match="'plan': there is no JSON") as failed:
        asked(["I would search the web."])
    assert failed.value.usage.calls == 2
    assert failed.value.usage.input_tokens == 20


def test_ten_items_instead_of_three() -> None:
    many = json.dumps({"queries": [{"query": f"q{i}"} for i in range(10)]})
    reply, _ = asked([many])
    assert [planned.query for planned in reply.answer.queries] == ["q0", "q1", "q2"]
    assert kinds(reply) == ["TooMany"]


def test_a_server_that_does_not_count_is_estimated() -> None:
    reply, _ = asked([Say(PLAN, usage=None)])
    assert reply.usage.estimated == 1
    assert reply.usage.input_tokens > 50
    assert reply.usage.output_tokens > 10


def test_a_reset_connection() -> None:
    reply, _ = asked([Say(PLAN, reset=True), PLAN])
    assert (reply.answer, kinds(reply)) == (PLANNED, ["Retried"])


def test_a_server_without_schemas_is_asked_by_prompt_alone() -> None:
    with FakeLlm([Say("no response_format here", status=400), PLAN, PLAN]) as server:
        model = LanguageModel(Endpoint("openai", "fake-model", server.url))

        async def twice() -> list[Reply[PlanResponse]]:
            return [await model(ASK), await model(ASK)]

        first, second = asyncio.run(twice())
    assert [failure.kind for failure in first.failures] == ["SchemaRefused"]
    assert second.failures == ()
    assert "response_format" not in server.requests[1]
    assert "response_format" not in server.requests[2]


def test_nobody_there() -> None:
    with FakeLlm() as server:
        url = server.url
    with pytest.raises(ModelError, match="cannot be reached"):
        asyncio.run(LanguageModel(Endpoint("openai", "fake-model", url))(ASK))


def test_a_prompt_that_does_not_fit_is_never_sent() -> None:
    with FakeLlm([PLAN]) as server:
        model = LanguageModel(Endpoint("openai", "fake-model", server.url, context=50))
        with pytest.raises(ModelError, match="reads 50"):
            asyncio.run(model(ASK))
    assert server.requests == []


@pytest.mark.parametrize("context", [300, 786, 4096, 20_000])
@pytest.mark.parametrize("think", [False, True])
def test_no_answer_is_given_more_room_than_the_context_has(context: int, think: bool) -> None:
    with FakeLlm(["I would search the web.", PLAN]) as server:
        endpoint = Endpoint("openai", "Qwen3-8B", server.url, context=context, think=think)
        assert asyncio.run(LanguageModel(endpoint)(ASK)).answer == PLANNED
    for request in server.requests:
        assert 1 <= request["max_tokens"] <= context - sent(request)
    if context > 4000:
        assert server.requests[0]["max_tokens"] > ASK.max_tokens  # It may think all the same.


def sent(request: dict) -> int:
    """About how many tokens the server is given to read."""
    return sum(estimate_tokens(message["content"]) for message in request["messages"])


@pytest.mark.parametrize("bad", ["word " * 2_000, "東京都は大きい。" * 1_000], ids=["spaced", "dense"])
@pytest.mark.parametrize("context", [300, 786, 1_000, 1_100, 2_000, None])
def test_the_second_asking_fits_too(bad: str, context: int | None) -> None:
    reply, requests = asked([bad, PLAN], context=context)
    assert reply.answer == PLANNED
    first, second = requests
    roles = [message["role"] for message in second["messages"]]
    if context is None:
        assert len(second["messages"][1]["content"]) == 4_000
        return
    assert sent(second) + second["max_tokens"] <= context
    if len(roles) == 3:  # What is shown of the bad answer leaves room for a good one.
        assert second["max_tokens"] >= ASK.max_tokens
    else:
        assert first["messages"][0]["content"] in second["messages"][0]["content"]
        assert "there is no JSON" in second["messages"][0]["content"]
    assert roles == (["user", "assistant", "user"] if context > 1_000 else ["user"])


def test_there_may_be_no_room_to_ask_again() -> None:
    reply, requests = asked(
        ['{"queries": [{"query": "a"}, {"query": "b", "int'], context=estimate_tokens(ASK.render()) + 5
    )
    assert reply.answer.queries == (PlannedQuery("a"),)
    assert (len(requests), kinds(reply)) == (1, ["BadAnswer", "Repaired"])
    assert "not asked again" in reply.failures[0].message


def test_a_model_that_thinks_is_kept_from_it() -> None:
    with FakeLlm(["<think>let me see</think>forth bridge opening"]) as server:
        prompt = ProposeQuery("When?", "", (), (), ())
        quiet = asyncio.run(LanguageModel(Endpoint("openai", "Qwen3-8B", server.url))(prompt))
        asyncio.run(LanguageModel(Endpoint("openai", "Qwen3-8B", server.url, think=True))(prompt))
    assert quiet.answer.query == "forth bridge opening"
    off, on = server.requests
    assert off["chat_template_kwargs"] == {"enable_thinking": False}
    assert (off["max_tokens"], on["max_tokens"]) == (8192, 16384)
    assert "chat_template_kwargs" not in on


def test_a_cancelled_run_hangs_up() -> None:
    async def cancelled(server: FakeLlm) -> None:
        task = asyncio.ensure_future(LanguageModel(Endpoint("openai", "fake-model", server.url))(ASK))
        await asyncio.to_thread(server.asked.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.disconnected.wait, 5)

    with FakeLlm([Say(PLAN, delay=30.0)]) as server:
        asyncio.run(cancelled(server))
