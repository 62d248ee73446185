"""A language model over a server with every known fault: the prompt is answered all the same or fails by name, and the
reply shows every step. At the end: log-probabilities."""

import asyncio
import json
import time
from math import log

import pytest
from fake_llm import FakeLlm, Say, Script

from suffice.errors import ModelDeclined, ModelError, ModelOutputError
from suffice.models.base import Reply
from suffice.models.llm.endpoint import Endpoint
from suffice.models.llm.model import LanguageModel
from suffice.models.prices import TokenPrice
from suffice.prompts.base import Prompt, TextResponse
from suffice.prompts.judging import Evaluate
from suffice.prompts.lab import RewriteNotes, TrialAnswer
from suffice.prompts.planning import Plan, PlannedQuery, PlanResponse, ProposeQuery
from suffice.prompts.vision import DescribeImage
from suffice.text.tokens import estimate_tokens
from suffice.types import Image, Note

PLAN = '{"queries": [{"query": "forth bridge", "intent": "when"}], "complexity": "simple"}'
PLANNED = PlanResponse((PlannedQuery("forth bridge", "when"),), "simple")
PROMPT = Plan("When was the bridge opened?", 3)

pytestmark = pytest.mark.usefixtures("no_waiting")


def ask(script: Script, prompt: Prompt = PROMPT, **endpoint: object) -> tuple[Reply[PlanResponse], list[dict]]:
    """Return the reply and the requests that it took."""
    with FakeLlm(script) as server:
        model = LanguageModel(Endpoint("openai", "fake-model", server.url, **endpoint), TokenPrice(1.0, 10.0))
        return asyncio.run(model(prompt)), server.requests


def kinds(reply: Reply[PlanResponse]) -> list[str]:
    return [failure.kind for failure in reply.failures]


def test_a_clean_response_costs_one_call() -> None:
    reply, requests = ask([PLAN])
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
def test_an_untidy_response_is_read_without_a_second_call(text: str) -> None:
    reply, requests = ask([text])
    assert reply.answer == PLANNED
    assert len(requests) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529])
def test_a_transient_fault_is_retried(status: int) -> None:
    reply, requests = ask([Say(status=status), Say(status=status), PLAN])
    assert reply.answer == PLANNED
    assert [(failure.kind, failure.attempt, failure.retryable) for failure in reply.failures] == [
        ("Retried", 1, True),
        ("Retried", 2, True),
    ]
    assert len(requests) == reply.usage.calls == 3


def test_a_lasting_fault_fails_after_three_attempts() -> None:
    with pytest.raises(ModelError, match=r"fake-model at 127\.0\.0\.1.*it did not work") as failed:
        ask([Say(status=500)])
    assert failed.value.retryable
    assert len(failed.value.failures) == 2
    assert failed.value.usage.calls == 3


@pytest.mark.parametrize(("status", "says"), [(401, "API key"), (404, "does not exist"), (402, "failed")])
def test_a_permanent_fault_is_not_retried(status: int, says: str) -> None:
    with pytest.raises(ModelError, match=says) as failed:
        ask([Say(status=status)])
    assert not failed.value.retryable
    assert failed.value.usage.calls == 1


def test_retry_after_is_honoured(no_waiting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # Wait in real time.
    began = time.monotonic()
    reply, _ = ask([Say(status=429, headers={"Retry-After": "1"}), PLAN])
    assert reply.answer == PLANNED
    assert time.monotonic() - began >= 1.0


def test_a_long_retry_after_is_a_failure() -> None:
    with pytest.raises(ModelError, match="600 seconds") as failed:
        ask([Say(status=429, headers={"Retry-After": "600"}), PLAN])
    assert failed.value.usage.calls == 1


def test_a_timeout_is_retried_and_may_be_billed() -> None:
    reply, _ = ask([Say(PLAN, delay=60.0), PLAN], timeout=2)
    assert reply.answer == PLANNED
    assert "SUFFICE_TIMEOUT" in reply.failures[0].message
    assert reply.usage.estimated == 1  # The prompt was sent, so it may be billed.


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
def test_a_bad_response_is_requested_once_more(bad: str | Say) -> None:
    reply, requests = ask([bad, PLAN])
    assert reply.answer == PLANNED
    assert len(requests) == reply.usage.calls == 2
    assert "BadAnswer" in kinds(reply)


def test_the_second_request_says_what_was_wrong() -> None:
    _, requests = ask(['{"queries": 5}', PLAN])
    assert [message["role"] for message in requests[1]["messages"]] == ["user", "assistant", "user"]
    assert "$.queries" in requests[1]["messages"][-1]["content"]


def test_the_second_request_includes_the_image() -> None:
    picture = Image("sign.png", "image/png", "digest", b"a sign")
    reply, requests = ask([Say(None), "It reads 1890."], DescribeImage("When was it opened?", picture))
    assert reply.answer.text == "It reads 1890."
    for request in requests:
        assert [part["type"] for part in request["messages"][0]["content"]] == ["text", "image_url"]


def test_the_complete_part_of_a_truncated_response_is_used() -> None:
    cut = Say('{"queries": [{"query": "a"}, {"query": "b", "int', finish="length")
    reply, _ = ask([cut, cut])
    assert reply.answer.queries == (PlannedQuery("a"),)
    assert kinds(reply) == ["BadAnswer", "Repaired"]
    assert "limit of 800 tokens" in reply.failures[0].message


def test_an_endless_text_is_cut_off_at_a_sentence() -> None:
    prompt = DescribeImage("When was it opened?", Image("sign.png", "image/png", "digest", b"a sign"))
    reply, requests = ask(["It reads 1890. " * 70_000], prompt)
    assert 90_000 < len(reply.answer.text) < 110_000
    assert reply.answer.text.endswith("It reads 1890.")
    assert kinds(reply) == ["CutOff"]
    assert len(requests) == 1


def test_an_unreadable_response_names_the_role_and_the_reason() -> None:
    with pytest.raises(ModelOutputError, match=r"'plan'.*no JSON") as failed:
        ask(["I would search the web."])
    assert failed.value.usage.calls == 2
    assert failed.value.usage.input_tokens == 20


@pytest.mark.parametrize(
    "said", [Say("", finish="content_filter"), Say("The bridge was", finish="content_filter"), Say("")]
)
def test_a_model_that_is_filtered_or_writes_nothing_has_declined(said: Say) -> None:
    with pytest.raises(ModelDeclined, match=r"'plan'") as failed:
        ask([said])
    assert failed.value.usage.calls == (2 if said.finish == "stop" else 1), "a filter decides the same again"


@pytest.mark.parametrize("depth", ["null", "85", "-1", "NaN", '"good"'])
def test_an_evaluation_without_a_usable_score_is_asked_for_again(depth: str) -> None:
    scores = dict.fromkeys(("relevance", "completeness", "grounded", "specificity", "structure"), 8)
    bad, good = (json.dumps({**scores, "depth": "DEPTH"}).replace('"DEPTH"', value) for value in (depth, "7"))
    reply, requests = ask([bad, good], Evaluate("Who?", "You are fair.", "", (), (), Note("Halloran Works [1].", ())))
    assert (reply.answer.depth, len(requests)) == (7, 2)


@pytest.mark.parametrize("unreadable", ["NONE", "Word for word:\n- It was built in 1887 [1]"])
def test_notes_that_cannot_be_read_are_asked_for_again(unreadable: str) -> None:
    reply, requests = ask(
        [unreadable, "It was built in 1887 [1]."], RewriteNotes("When?", (), (Note("1887", ("[1]",)),), 3)
    )
    assert (reply.answer.notes, len(requests)) == ("It was built in 1887 [1].", 2)


def test_items_over_the_limit_are_dropped() -> None:
    many = json.dumps({"queries": [{"query": f"q{i}"} for i in range(10)]})
    reply, _ = ask([many])
    assert [planned.query for planned in reply.answer.queries] == ["q0", "q1", "q2"]
    assert kinds(reply) == ["TooMany"]


def test_tokens_are_estimated_when_the_server_reports_none() -> None:
    reply, _ = ask([Say(PLAN, usage=None)])
    assert reply.usage.estimated == 1
    assert reply.usage.input_tokens > 50
    assert reply.usage.output_tokens > 10


def test_a_reset_connection_is_retried() -> None:
    reply, _ = ask([Say(PLAN, reset=True), PLAN])
    assert (reply.answer, kinds(reply)) == (PLANNED, ["Retried"])


def test_a_server_without_schemas_is_asked_by_prompt_alone() -> None:
    with FakeLlm([Say("no response_format here", status=400), PLAN, PLAN]) as server:
        model = LanguageModel(Endpoint("openai", "fake-model", server.url))

        async def twice() -> list[Reply[PlanResponse]]:
            return [await model(PROMPT), await model(PROMPT)]

        first, second = asyncio.run(twice())
    assert [failure.kind for failure in first.failures] == ["SchemaRefused"]
    assert second.failures == ()
    assert "response_format" not in server.requests[1]
    assert "response_format" not in server.requests[2]


def test_an_unreachable_server_is_an_error() -> None:
    with FakeLlm() as server:
        url = server.url
    with pytest.raises(ModelError, match="cannot be reached"):
        asyncio.run(LanguageModel(Endpoint("openai", "fake-model", url))(PROMPT))


def test_a_prompt_that_does_not_fit_is_not_sent() -> None:
    with FakeLlm([PLAN]) as server:
        model = LanguageModel(Endpoint("openai", "fake-model", server.url, context=50))
        with pytest.raises(ModelError, match="reads 50"):
            asyncio.run(model(PROMPT))
    assert server.requests == []


@pytest.mark.parametrize("context", [450, 786, 4096, 20_000])
@pytest.mark.parametrize("think", [False, True])
def test_the_output_limit_fits_into_the_context(context: int, think: bool) -> None:
    with FakeLlm(["I would search the web.", PLAN]) as server:
        endpoint = Endpoint("openai", "Qwen3-8B", server.url, context=context, think=think)
        assert asyncio.run(LanguageModel(endpoint)(PROMPT)).answer == PLANNED
    for request in server.requests:
        assert 1 <= request["max_tokens"] <= context - count_sent_tokens(request)
    if context > 4000:
        assert server.requests[0]["max_tokens"] > PROMPT.max_tokens  # Room for thoughts.


def count_sent_tokens(request: dict) -> int:
    """Return about how many tokens the server has to read."""
    return sum(estimate_tokens(message["content"]) for message in request["messages"])


@pytest.mark.parametrize("bad", ["word " * 2_000, "東京都は大きい。" * 1_000], ids=["spaced", "dense"])
@pytest.mark.parametrize("context", [450, 786, 1_000, 1_300, 2_000, None])
def test_the_second_request_fits_into_the_context(bad: str, context: int | None) -> None:
    reply, requests = ask([bad, PLAN], context=context)
    assert reply.answer == PLANNED
    first, second = requests
    roles = [message["role"] for message in second["messages"]]
    if context is None:
        assert len(second["messages"][1]["content"]) == 4_000
        return
    assert count_sent_tokens(second) + second["max_tokens"] <= context
    if len(roles) == 3:  # What is shown of the bad response leaves room for a good one.
        assert second["max_tokens"] >= PROMPT.max_tokens
    else:
        assert first["messages"][0]["content"] in second["messages"][0]["content"]
        assert "there is no JSON" in second["messages"][0]["content"]
    assert roles == (["user", "assistant", "user"] if context > 1_000 else ["user"])


def test_without_room_for_a_second_request_the_response_is_salvaged() -> None:
    reply, requests = ask(
        ['{"queries": [{"query": "a"}, {"query": "b", "int'], context=estimate_tokens(PROMPT.render()) + 5
    )
    assert reply.answer.queries == (PlannedQuery("a"),)
    assert (len(requests), kinds(reply)) == (1, ["BadAnswer", "Repaired"])
    assert "not asked again" in reply.failures[0].message


def test_thinking_is_turned_off_unless_allowed() -> None:
    with FakeLlm(["<think>let me see</think>forth bridge opening"]) as server:
        prompt = ProposeQuery("When?", "", (), (), ())
        quiet = asyncio.run(LanguageModel(Endpoint("openai", "Qwen3-8B", server.url))(prompt))
        asyncio.run(LanguageModel(Endpoint("openai", "Qwen3-8B", server.url, think=True))(prompt))
    assert quiet.answer.query == "forth bridge opening"
    off, on = server.requests
    assert off["chat_template_kwargs"] == {"enable_thinking": False}
    assert (off["max_tokens"], on["max_tokens"]) == (8192, 16384)
    assert "chat_template_kwargs" not in on


def test_a_cancelled_call_closes_the_connection() -> None:
    async def cancelled(server: FakeLlm) -> None:
        task = asyncio.ensure_future(LanguageModel(Endpoint("openai", "fake-model", server.url))(PROMPT))
        await asyncio.to_thread(server.asked.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.disconnected.wait, 5)

    with FakeLlm([Say(PLAN, delay=30.0)]) as server:
        asyncio.run(cancelled(server))


TRIAL = TrialAnswer("Where is it?", (Note("It is in Bad Ischl.", ("[1]",)),))


def draft_trial_answers(script: Script, times: int) -> tuple[list[Reply[TextResponse]], list[dict]]:
    with FakeLlm(script) as server:
        model = LanguageModel(Endpoint("openai", "fake-model", server.url))

        async def ask_repeatedly() -> list[Reply[TextResponse]]:
            return [await model(TRIAL) for _ in range(times)]

        return asyncio.run(ask_repeatedly()), server.requests


def draft_trial_answer(script: Script) -> tuple[Reply[TextResponse], list[dict]]:
    [reply], requests = draft_trial_answers(script, 1)
    return reply, requests


def test_a_server_that_rejects_log_probabilities_is_asked_without_them() -> None:
    replies, requests = draft_trial_answers([Say("logprobs are not supported", status=400), "Graz"], times=2)
    assert [failure.kind for reply in replies for failure in reply.failures] == ["LikelihoodsRefused"]
    assert [reply.answer for reply in replies] == [TextResponse("Graz")] * 2
    assert ["logprobs" in request for request in requests] == [True, False, False]


def test_the_lead_of_each_token_comes_with_a_short_answer() -> None:
    tokens = [
        {"Bad": log(0.7), "Graz": log(0.2)},
        {" I": log(0.6), " Ga": log(0.4)},
        {"schl": log(0.99)},
        {".": log(0.5), "": log(0.5)},
        {"\n": log(0.9)},
        {"Or": log(0.1), "No": log(0.09)},
        {"<|im_end|>": log(0.9)},
    ]
    reply, [request] = draft_trial_answer([Say("Bad Ischl.\nOr", tokens=tokens)])
    assert (request["logprobs"], request["top_logprobs"]) == (True, 2)
    assert reply.answer.text == "Bad Ischl."
    assert reply.answer.margins == pytest.approx((0.5, 0.2, 0.99))


@pytest.mark.parametrize(
    "said", [Say("Graz"), Say("<think>Hm</think>Graz", tokens=[{"Graz": -0.1}])], ids=("none", "thoughts")
)
def test_without_usable_log_probabilities_a_short_answer_has_no_leads(said: Say) -> None:
    reply, _ = draft_trial_answer([said])
    assert reply.answer == TextResponse("Graz")
