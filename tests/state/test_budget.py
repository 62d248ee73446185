"""One budget: what is left of each bound, and when it is spent."""

import asyncio

import pytest

from suffice.state.budget import Budget
from suffice.types import Bounds, Usage


class Ledger:
    def __init__(self, **usage):
        self.total = Usage(1, **usage)


def make_budget(bounds=Bounds(), *, queries=(), now=0.0, **usage):
    clock = iter([0.0])
    return Budget(bounds, Ledger(**usage), list(queries), lambda: next(clock, now))


def test_without_bounds_nothing_is_limited_or_spent():
    budget = make_budget(queries=["a"], now=1e9, input_tokens=10**9, usd=10.0**9)
    assert (budget.seconds_left, budget.tokens_left, budget.queries_left) == (None, None, None)
    assert not budget.is_spent()


def test_what_is_left_never_falls_below_zero():
    budget = make_budget(
        Bounds(seconds=10, tokens=100, queries=3), queries="abcd", now=99, input_tokens=90, output_tokens=20
    )
    assert (budget.seconds_used, budget.tokens_used, budget.queries_used) == (99, 110, 4)
    assert (budget.seconds_left, budget.tokens_left, budget.queries_left) == (0, 0, 0)


@pytest.mark.parametrize(
    ("bounds", "is_spent", "is_spent_without_time"),
    [
        (Bounds(seconds=5), True, False),
        (Bounds(seconds=5.5), False, False),
        (Bounds(tokens=30), True, True),
        (Bounds(tokens=31), False, False),
        (Bounds(usd=0.5), True, True),
        (Bounds(usd=0.51), False, False),
        (Bounds(rounds=1, queries=1, sources=1), False, False),
    ],
)
def test_a_budget_is_spent_when_time_tokens_or_money_are_used_up(bounds, is_spent, is_spent_without_time):
    budget = make_budget(bounds, queries="ab", now=5.0, input_tokens=20, output_tokens=10, usd=0.5)
    assert budget.is_spent() is is_spent
    assert budget.is_spent(include_time=False) is is_spent_without_time


def test_an_unknown_cost_cannot_trigger_the_budget():
    assert not make_budget(Bounds(usd=0.000001), input_tokens=10**6).is_spent()


def test_the_time_limit_interrupts_work():
    async def work(bounds):
        async with Budget(bounds, Ledger(), []).time_limit():
            await asyncio.sleep(0.02)
        return "done"

    assert asyncio.run(work(Bounds())) == "done"
    with pytest.raises(TimeoutError):
        asyncio.run(work(Bounds(seconds=0.001)))


def test_the_tokens_of_a_round_are_those_since_the_last_call():
    ledger = Ledger(input_tokens=7)
    budget = Budget(Bounds(), ledger, [])
    assert (budget.take_round_tokens(), budget.take_round_tokens()) == (7, 0)
    ledger.total += Usage(1, 3, 2)
    assert budget.take_round_tokens() == 5


def test_what_is_left_is_said_in_one_line_where_a_bound_is_set():
    def describe(done, used=0, **bounds):
        return make_budget(Bounds(**bounds), input_tokens=used).describe_left(done)

    assert describe(1, rounds=4) == "You have 3 rounds of search left."
    assert describe(3, rounds=4) == "You have 1 round of search left."
    assert describe(9) == describe(0, 100, tokens=4_000) == "", "no bound, or enough tokens"
    assert describe(2, 3_512, rounds=4, tokens=4_000) == "You have 2 rounds of search and about 500 tokens left."
