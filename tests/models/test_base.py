"""The Model seam: attributes pass through wrappers, and the usage of a run includes calls that were cancelled."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import FakeLlm, Say

from suffice.models.base import (
    Model,
    ModelWrapper,
    Reply,
    UsageTrackingModel,
    get_context,
    has_price,
    is_language_model,
    supports_vision,
)
from suffice.models.extractive import ExtractiveModel
from suffice.models.keep_alive import KeepAliveModel
from suffice.models.llm.endpoint import Endpoint
from suffice.models.llm.model import LanguageModel
from suffice.models.prices import TokenPrice
from suffice.models.routing import FallbackModel, RoleRouter
from suffice.prompts.base import Prompt
from suffice.prompts.planning import Plan
from suffice.testing import ScriptedModel
from suffice.text.tokens import estimate_tokens
from suffice.types import Usage

PROMPT = Plan("When was the bridge opened?", 3)
PRICE = TokenPrice(1.0, 10.0)
BAD = Say("I would search the web.", usage=(100, 20))
SLOW = Say("{}", delay=30.0)

pytestmark = pytest.mark.usefixtures("no_waiting")

WRAPPERS: dict[str, Callable[[LanguageModel, FakeLlm, Path], Model]] = {
    "bare": lambda model, server, folder: model,
    "keep alive": lambda model, server, folder: KeepAliveModel(model, server.url, "fake-model"),
    "first": lambda model, server, folder: FallbackModel([model, model]),
    "by role": lambda model, server, folder: RoleRouter(model, {"draft": model}),
    "all": lambda model, server, folder: RoleRouter(
        FallbackModel([KeepAliveModel(model, server.url, "fake-model"), model]), {"draft": model}
    ),
}


async def cancel_after(model: UsageTrackingModel, server: FakeLlm, requests: int) -> None:
    """Ask, and cancel as soon as the server has received so many requests."""
    task = asyncio.ensure_future(model(PROMPT))
    async with asyncio.timeout(120):
        while len(server.requests) < requests and not task.done():
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_exchanges_before_a_cancelled_call_are_counted(wrapper: str, tmp_path: Path) -> None:
    with FakeLlm([BAD, SLOW], routes={"/api/generate": {"done": True}}) as server:
        language = LanguageModel(Endpoint("openai", "fake-model", server.url), PRICE)
        model = UsageTrackingModel(WRAPPERS[wrapper](language, server, tmp_path))
        asyncio.run(cancel_after(model, server, 2))
    assert model.total == model.by_role["plan"]
    assert (model.total.calls, model.total.estimated, model.total.output_tokens) == (2, 1, 20)
    # The second prompt was sent, so it may be billed: its tokens are estimated.
    again = sum(estimate_tokens(message["content"]) for message in server.requests[1]["messages"])
    assert model.total.input_tokens == 100 + again
    assert model.total.usd == pytest.approx((100 + again) / 1e6 + 20 * 10 / 1e6)


def test_models_that_failed_before_a_cancelled_one_are_counted() -> None:
    with FakeLlm([BAD, BAD, SLOW]) as server:
        endpoint = Endpoint("openai", "fake-model", server.url)
        model = UsageTrackingModel(FallbackModel([LanguageModel(endpoint, PRICE), LanguageModel(endpoint, PRICE)]))
        asyncio.run(cancel_after(model, server, 3))
    assert (model.total.calls, model.total.output_tokens, model.total.estimated) == (3, 40, 1)


def test_a_response_is_counted_although_a_wrapper_is_cancelled_after_it() -> None:
    answered = asyncio.Event()

    class SlowModel(ModelWrapper):
        async def __call__(self, prompt: Prompt) -> Reply:
            reply = await self.wrapped(prompt)
            answered.set()
            await asyncio.Event().wait()
            return reply

    async def cancel(model: UsageTrackingModel) -> None:
        task = asyncio.ensure_future(model(PROMPT))
        await answered.wait()
        task.cancel()
        await asyncio.wait([task])

    with FakeLlm([Say('{"queries": []}', usage=(100, 20))]) as server:
        model = UsageTrackingModel(SlowModel(LanguageModel(Endpoint("openai", "fake-model", server.url), PRICE)))
        asyncio.run(cancel(model))
    assert model.total == Usage(1, 100, 20, pytest.approx(300 / 1e6))


def test_a_call_cancelled_while_it_waits_for_its_turn_costs_nothing() -> None:
    async def second_in_line(model: UsageTrackingModel, server: FakeLlm) -> None:
        first = asyncio.ensure_future(LanguageModel(endpoint)(PROMPT))
        assert await asyncio.to_thread(server.asked.wait, 120)
        second = asyncio.ensure_future(model(PROMPT))
        await asyncio.wait([second], timeout=0.1)
        for task in (second, first):
            task.cancel()
        await asyncio.wait([first, second])

    with FakeLlm([SLOW]) as server:
        endpoint = Endpoint("openai", "fake-model", server.url, concurrency=1)
        model = UsageTrackingModel(LanguageModel(endpoint, PRICE))
        asyncio.run(second_in_line(model, server))
    assert (model.total, len(server.requests)) == (Usage(), 1)


def test_a_model_is_a_language_model_unless_it_says_otherwise(tmp_path: Path) -> None:
    language, extractive = ScriptedModel({}), ExtractiveModel()
    assert is_language_model(language)
    assert not is_language_model(extractive)
    for wrapped in (
        UsageTrackingModel(extractive),
        RoleRouter(extractive, {"draft": extractive}),
    ):
        assert not is_language_model(wrapped)
    assert is_language_model(RoleRouter(extractive, {"draft": language}))
    assert is_language_model(FallbackModel([language, extractive]))
    assert not is_language_model(FallbackModel([extractive, language]))


def test_wrappers_pass_on_the_attributes_of_a_model(tmp_path: Path) -> None:
    endpoint = Endpoint("openai", "fake-model", "http://127.0.0.1:9/v1", context=4096, supports_vision=True)
    model = UsageTrackingModel(LanguageModel(endpoint))
    assert (model.name, model.local, get_context(model), supports_vision(model)) == (
        "openai:fake-model",
        True,
        4096,
        True,
    )
    assert not has_price(model)
    assert model.endpoint is endpoint
