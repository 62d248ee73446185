"""How many calls a provider gets at a time and a minute: as the server sees it, over all models of the process."""

import asyncio
from collections.abc import Sequence

import pytest
from fake_llm import FakeLlm, Say

from suffice.errors import ModelError
from suffice.models.llm import Endpoint, LanguageModel
from suffice.prompts import ProposeQuery

ASK = ProposeQuery("When was the bridge opened?", "", (), (), ())


async def all_of(models: Sequence[LanguageModel], times: int) -> None:
    """Every model is asked so many times, all at once."""
    await asyncio.gather(*(model(ASK) for model in models for _ in range(times)))


@pytest.mark.parametrize("calls", [1, 3])
def test_no_more_calls_at_a_time_than_allowed(calls: int) -> None:
    with FakeLlm([Say("forth bridge", delay=0.1)]) as server:
        asyncio.run(all_of([LanguageModel(Endpoint("openai", "a", server.url, concurrency=calls))], 6))
    assert (server.busiest, len(server.requests)) == (calls, 6)


def test_all_models_of_a_server_share_its_limit() -> None:
    with FakeLlm([Say("forth bridge", delay=0.1)]) as server:
        models = [LanguageModel(Endpoint("openai", name, server.url, concurrency=2)) for name in "abc"]
        asyncio.run(all_of(models, 2))
    assert (server.busiest, len(server.requests)) == (2, 6)


def test_another_server_has_a_limit_of_its_own() -> None:
    with FakeLlm([Say("forth bridge", delay=30.0)]) as busy, FakeLlm(["forth bridge"]) as free:

        async def beside() -> None:
            held = asyncio.ensure_future(LanguageModel(Endpoint("openai", "a", busy.url, concurrency=1))(ASK))
            await asyncio.to_thread(busy.asked.wait, 20)
            await LanguageModel(Endpoint("openai", "a", free.url, concurrency=1))(ASK)
            held.cancel()
            await asyncio.wait([held])

        asyncio.run(beside())
    assert (len(busy.requests), len(free.requests)) == (1, 1)


def test_a_failed_call_makes_room_for_the_next() -> None:
    with FakeLlm([Say(status=401), "forth bridge"]) as server:
        model = LanguageModel(Endpoint("openai", "a", server.url, concurrency=1))

        async def both() -> list[object]:
            return await asyncio.gather(model(ASK), model(ASK), return_exceptions=True)

        replies = asyncio.run(both())
    assert sorted(isinstance(reply, ModelError) for reply in replies) == [False, True]


def test_no_more_calls_a_minute_than_allowed() -> None:
    with FakeLlm(["forth bridge"]) as server:
        endpoint = Endpoint("openai", "a", server.url, concurrency=8, per_minute=2)

        async def three() -> tuple[int, int]:
            tasks = [asyncio.ensure_future(LanguageModel(endpoint)(ASK)) for _ in range(3)]
            while sum(task.done() for task in tasks) < 2:
                await asyncio.sleep(0.01)
            answered, waiting = await asyncio.wait(tasks, timeout=0.2)  # The third one has half a minute to wait.
            for task in waiting:
                task.cancel()
            await asyncio.wait(tasks)
            return len(answered), len(server.requests)

        assert asyncio.run(three()) == (2, 2)
