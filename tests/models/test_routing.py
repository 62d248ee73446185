"""Fallback and routing by role: whichever model answers, every call is counted and the roles add up to the total."""

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import ModelError, ModelOutputError
from suffice.models.base import Reply, UsageTrackingModel
from suffice.models.routing import FallbackModel, RoleRouter
from suffice.prompts.base import Prompt, TextResponse
from suffice.prompts.outline import HypotheticalDocument
from suffice.prompts.planning import ProposeQuery, ProposeQueryResponse
from suffice.types import Failure, Usage

GAP = ProposeQuery("task", "", (), (), ())
GUESS = HypotheticalDocument("task", "topic")
ANSWERS = {"gap": ProposeQueryResponse("query"), "hypothetical": TextResponse("text")}


class Billed:
    """Answers or fails, and costs, as its script says."""

    def __init__(self, outcomes: list[tuple[bool, Usage]], name: str = "billed", context: int | None = None) -> None:
        self._outcomes = list(outcomes)
        self.name, self.local, self.context = name, False, context

    async def __call__(self, prompt: Prompt) -> Reply:
        answers, usage = self._outcomes.pop(0) if self._outcomes else (True, Usage(1, 1, 1, 0.0))
        failures = (Failure(prompt.role, "Retried", f"{self.name} retried"),)
        if not answers:
            raise ModelOutputError(f"{self.name} failed", usage=usage, failures=failures)
        return Reply(ANSWERS[prompt.role], usage, failures)


usages = st.builds(
    Usage,
    calls=st.integers(1, 3),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**4),
    usd=st.none() | st.integers(0, 100).map(float),
    estimated=st.integers(0, 1),
)
outcomes = st.lists(st.tuples(st.booleans(), usages), max_size=6)


@given(outcomes, outcomes, st.lists(st.sampled_from([GAP, GUESS]), max_size=8))
def test_the_roles_add_up_to_the_total(first: list, second: list, asks: list[Prompt]) -> None:
    spent: list[Usage] = []

    class Watched(Billed):
        async def __call__(self, prompt: Prompt) -> Reply:
            try:
                reply = await super().__call__(prompt)
            except ModelError as error:
                spent.append(error.usage)
                raise
            spent.append(reply.usage)
            return reply

    model = UsageTrackingModel(
        RoleRouter(FallbackModel([Watched(first), Watched(second)]), {"hypothetical": Watched(second)})
    )

    async def run() -> None:
        for prompt in asks:
            with suppress(ModelError):
                await model(prompt)

    asyncio.run(run())
    assert sum(model.by_role.values(), Usage()) == model.total == sum(spent, Usage())
    assert model.total.calls == sum(usage.calls for usage in spent)


def test_the_next_model_is_asked_and_the_failure_reported() -> None:
    model = FallbackModel(
        [Billed([(False, Usage(2, 20, 0, 0.5))], "first"), Billed([(True, Usage(1, 5, 5, 0.25))], "second")]
    )
    reply = asyncio.run(model(GAP))
    assert reply.answer == ProposeQueryResponse("query")
    assert reply.usage == Usage(3, 25, 5, 0.75)
    assert [failure.message for failure in reply.failures] == [
        "first retried",
        "first failed; asking the next model",
        "second retried",
    ]


def test_when_all_fail_the_last_error_carries_the_whole_usage() -> None:
    usage = Usage(1, 10, 0, 0.5)
    model = FallbackModel([Billed([(False, usage)], "first"), Billed([(False, usage)], "second")])
    with pytest.raises(ModelOutputError, match="second failed") as failed:
        asyncio.run(model(GAP))
    assert failed.value.usage == usage + usage
    assert len(failed.value.failures) == 3


def test_one_unknown_cost_makes_the_sum_unknown() -> None:
    assert (Usage(1, 1, 1, 0.5) + Usage(1, 1, 1)).usd is None
    assert (Usage(1, 1, 1, 0.5) + Usage()).usd == 0.5


def test_the_smallest_context_counts() -> None:
    assert FallbackModel([Billed([], context=8000), Billed([], context=4000), Billed([])]).context == 4000
    assert RoleRouter(Billed([]), {}).context is None
