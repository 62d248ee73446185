"""What a journal gives back is what the call gave: answers, bills, failures and errors, in whichever order they came."""

import asyncio

import pytest
from bridge_story import ENOUGH, PASSAGES, plan

from suffice.errors import CutOff, InputError, ModelOutputError, SearchError, SearchRefused
from suffice.jobs import journal as journals
from suffice.jobs.journal import DurableModel, DurableSearch, Journal
from suffice.models.base import Reply, UsageTrackingModel, usage_listener
from suffice.prompts import Plan, Reflect
from suffice.testing import FixtureSearch, ScriptedModel
from suffice.types import Failure, Query, Usage


class Book:
    """Steps as the database keeps them, without one."""

    def __init__(self, monkeypatch):
        self.kept = {}

        async def run_step_async(options, call):
            self.kept[options["name"]] = await call()
            return self.kept[options["name"]]

        monkeypatch.setattr(journals.DBOS, "run_step_async", run_step_async)

    def journal(self, stopped=False):
        async def is_stopped():
            return stopped

        return Journal(dict(self.kept), is_cancelled=is_stopped, is_suspending=lambda: False)


@pytest.fixture
def book(monkeypatch):
    return Book(monkeypatch)


def twice(book, calls):
    """The outcomes of the calls, live and again from the journal; the second time nobody may be asked."""

    async def play(model, search):
        journal = book.journal()
        return [await call(DurableModel(model, journal), DurableSearch(search, journal)) for call in calls], journal

    return play


class Telling(ScriptedModel):
    async def __call__(self, prompt):
        reply = await super().__call__(prompt)
        return Reply(reply.answer, Usage(2, 30, 4, 0.25), (Failure("plan", "Rate", "too fast", True, 1),))


NOBODY = ScriptedModel({})
NOWHERE = FixtureSearch(default=SearchError("asked again"))


def test_answers_come_back_whole(book):
    calls = [
        lambda model, search: model(Plan("Who?", 3)),
        lambda model, search: search(Query("bridge"), 3),
        lambda model, search: model(Reflect("Who?", (), ("a",), (), (), 3)),
    ]
    play = twice(book, calls)
    live, _ = asyncio.run(play(Telling({"plan": [plan()], "reflect": [ENOUGH]}), FixtureSearch(default=PASSAGES)))
    again, _ = asyncio.run(play(NOBODY, NOWHERE))
    assert again == live
    assert live[0].usage.usd == 0.25
    assert live[0].failures[0].kind == "Rate"


@pytest.mark.parametrize(
    "error",
    [
        ModelOutputError(
            "unreadable", retryable=True, usage=Usage(1, 5, 1, 0.1), failures=(Failure("plan", "x", "y"),)
        ),
        InputError("no such model"),
    ],
)
def test_an_error_comes_back_as_it_was(book, error):
    async def caught(model, search):
        with pytest.raises(type(error)) as raised:
            await model(Plan("Who?", 3))
        return raised.value

    play = twice(book, [caught])
    (live,), _ = asyncio.run(play(ScriptedModel({"plan": [error]}), NOWHERE))
    (again,), _ = asyncio.run(play(ScriptedModel({"plan": [plan()]}), NOWHERE))
    assert (str(again), vars(again)) == (str(live), vars(live))


def test_a_search_keeps_what_it_survived(book):
    heard = []
    refused = SearchRefused("not now", retryable=False, retry_after=3.0)

    async def caught(model, search):
        with pytest.raises(SearchRefused) as raised:
            await search.with_failure_listener(heard.append)(Query("bridge"), 3)
        return raised.value

    play = twice(book, [caught])
    (live,), _ = asyncio.run(play(NOBODY, FixtureSearch(default=refused)))
    (again,), _ = asyncio.run(play(NOBODY, NOWHERE))
    assert vars(again) == vars(live)


def test_the_same_question_twice_is_two_calls(book):
    prompt = Plan("Who?", 3)
    calls = [lambda model, search: model(prompt), lambda model, search: model(prompt)]
    play = twice(book, calls)
    live, _ = asyncio.run(play(ScriptedModel({"plan": [plan("one"), plan("two")]}), NOWHERE))
    again, _ = asyncio.run(play(NOBODY, NOWHERE))
    assert [reply.answer for reply in again] == [plan("one"), plan("two")]
    assert again == live


def test_calls_at_the_same_time_may_end_in_any_order(book):
    class Race:
        def __init__(self, delays):
            self.delays = delays

        async def __call__(self, query, k):
            await asyncio.sleep(self.delays[query.text])
            return [PASSAGES[int(query.text)]]

    async def race(search):
        durable = DurableSearch(search, book.journal())
        return await asyncio.gather(*(durable(Query(str(n)), 1) for n in range(3)))

    live = asyncio.run(race(Race({"0": 0.03, "1": 0.0, "2": 0.01})))
    assert asyncio.run(race(NOWHERE)) == live


def test_a_call_that_time_cut_off_is_cut_off_again_at_once(book):
    class Never(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(60)

    async def limited(model):
        async with asyncio.timeout(0.02):
            await DurableModel(model, book.journal())(Plan("Who?", 3))

    with pytest.raises(TimeoutError):
        asyncio.run(limited(Never({})))
    with pytest.raises(CutOff):
        asyncio.run(DurableModel(ScriptedModel({"plan": [plan()]}), book.journal())(Plan("Who?", 3)))


def test_what_a_call_had_cost_when_it_was_cut_off_is_billed_the_same_again(book):
    class Spends(ScriptedModel):
        async def __call__(self, prompt):
            for usage in (Usage(1, 30, 4, 0.25), Usage(1, 20, 0, 0.5, estimated=1)):
                usage_listener.get()(usage)
            await asyncio.sleep(60)

    async def limited(model):
        async with asyncio.timeout(0.02):
            await model(Plan("Who?", 3))

    bills = []
    for model in (Spends({}), NOBODY):
        counted = UsageTrackingModel(DurableModel(model, book.journal()))
        with pytest.raises(TimeoutError):
            asyncio.run(limited(counted))
        bills.append(counted.by_role)
    assert bills[0] == bills[1] == {"plan": Usage(2, 50, 4, 0.75, estimated=1)}


def test_the_clock_ticks_at_steps_and_ticks_the_same_again(book):
    class Slow(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(0.02)
            return await super().__call__(prompt)

    prompt = Plan("Who?", 3)
    read = []

    async def readings(model, search):
        read.append(model._journal.clock())
        await model(prompt)
        read.append(model._journal.clock())

    play = twice(book, [readings])
    asyncio.run(play(Slow({"plan": [plan()]}), NOWHERE))
    asyncio.run(play(NOBODY, NOWHERE))
    assert read[0] == read[2] == 0
    assert read[1] == read[3] >= 0.02


def test_a_run_that_was_cancelled_asks_nobody(book):
    model = ScriptedModel({"plan": [plan()]})

    async def cancelled():
        journal = book.journal(stopped=True)
        async with asyncio.timeout(0.02):
            await DurableModel(model, journal)(Plan("Who?", 3))

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    assert model.prompts == []
    assert book.kept == {}
