"""The bill of a run: what was spent is in it, also when nobody waited for the answer."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import FakeLlm, Say

from suffice.models.base import Model, ModelWrapper, Reply, UsageTrackingModel
from suffice.models.cache import CachedModel
from suffice.models.fallback import FallbackModel, RoleRouter
from suffice.models.keep_alive import KeepAliveModel
from suffice.models.llm import Endpoint, LanguageModel
from suffice.models.prices import TokenPrice
from suffice.prompts import Plan, Prompt
from suffice.text.tokens import estimate_tokens
from suffice.types import Usage

ASK = Plan("When was the bridge opened?", 3)
PRICE = TokenPrice(1.0, 10.0)
BAD = Say("I would search the web.", usage=(100, 20))
SLOW = Say("{}", delay=30.0)

pytestmark = pytest.mark.usefixtures("no_waiting")

WRAPPED: dict[str, Callable[[LanguageModel, FakeLlm, Path], Model]] = {
    "bare": lambda model, server, folder: model,
    "cached": lambda model, server, folder: CachedModel(model, folder),
    "kept": lambda model, server, folder: KeepAliveModel(model, server.url, "fake-model"),
    "first": lambda model, server, folder: FallbackModel([model, CachedModel(model, folder)]),
    "by role": lambda model, server, folder: RoleRouter(model, {"draft": model}),
    "all": lambda model, server, folder: RoleRouter(
        FallbackModel([CachedModel(KeepAliveModel(model, server.url, "fake-model"), folder), model]), {"draft": model}
    ),
}


async def cut_off(model: UsageTrackingModel, server: FakeLlm, requests: int) -> None:
    """Ask, and hang up as soon as the server has so many requests."""
    task = asyncio.ensure_future(model(ASK))
    while len(server.requests) < requests and not task.done():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_what_was_answered_before_a_call_was_cut_off_is_billed(wrapped: str, tmp_path: Path) -> None:
    with FakeLlm([BAD, SLOW], routes={"/api/generate": {"done": True}}) as server:
        language = LanguageModel(Endpoint("openai", "fake-model", server.url), PRICE)
        model = UsageTrackingModel(WRAPPED[wrapped](language, server, tmp_path))
        asyncio.run(cut_off(model, server, 2))
    assert model.total == model.by_role["plan"]
    assert (model.total.calls, model.total.estimated, model.total.output_tokens) == (2, 1, 20)
    # The second prompt was on its way, so it may be billed: about as much as it has words.
    again = sum(estimate_tokens(message["content"]) for message in server.requests[1]["messages"])
    assert model.total.input_tokens == 100 + again
    assert model.total.usd == pytest.approx((100 + again) / 1e6 + 20 * 10 / 1e6)


def test_the_models_before_the_one_that_was_cut_off_are_billed() -> None:
    with FakeLlm([BAD, BAD, SLOW]) as server:
        endpoint = Endpoint("openai", "fake-model", server.url)
        model = UsageTrackingModel(FallbackModel([LanguageModel(endpoint, PRICE), LanguageModel(endpoint, PRICE)]))
        asyncio.run(cut_off(model, server, 3))
    assert (model.total.calls, model.total.output_tokens, model.total.estimated) == (3, 40, 1)


def test_an_answer_that_came_is_billed_though_what_follows_is_cut_off() -> None:
    came = asyncio.Event()

    class Dawdling(ModelWrapper):
        async def __call__(self, prompt: Prompt) -> Reply:
            reply = await self._model(prompt)
            came.set()
            await asyncio.Event().wait()
            return reply

    async def limited(model: UsageTrackingModel) -> None:
        task = asyncio.ensure_future(model(ASK))
        await came.wait()
        task.cancel()
        await asyncio.wait([task])

    with FakeLlm([Say('{"queries": []}', usage=(100, 20))]) as server:
        model = UsageTrackingModel(Dawdling(LanguageModel(Endpoint("openai", "fake-model", server.url), PRICE)))
        asyncio.run(limited(model))
    assert model.total == Usage(1, 100, 20, pytest.approx(300 / 1e6))


def test_who_is_cut_off_while_waiting_in_line_has_spent_nothing() -> None:
    async def second_in_line(model: UsageTrackingModel, server: FakeLlm) -> None:
        first = asyncio.ensure_future(LanguageModel(endpoint)(ASK))
        while not server.requests:
            await asyncio.sleep(0.01)
        second = asyncio.ensure_future(model(ASK))
        await asyncio.wait([second], timeout=0.1)
        for task in (second, first):
            task.cancel()
        await asyncio.wait([first, second])

    with FakeLlm([SLOW]) as server:
        endpoint = Endpoint("openai", "fake-model", server.url, concurrency=1)
        model = UsageTrackingModel(LanguageModel(endpoint, PRICE))
        asyncio.run(second_in_line(model, server))
    assert (model.total, len(server.requests)) == (Usage(), 1)
