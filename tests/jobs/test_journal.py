"""The journal returns what the calls returned: answers, usage, failures and errors, in any order of completion."""

import asyncio

import pytest
from bridge_story import ENOUGH, PASSAGES, plan

from suffice.errors import CutOff, InputError, ModelOutputError, SearchError, SearchRefused
from suffice.jobs import journal as journals
from suffice.jobs.journal import DurableModel, DurableSearch, Journal
from suffice.models.base import Reply, UsageTrackingModel, usage_listener
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.planning import Hypothesize, Plan, Reflect
from suffice.testing import FixtureSearch, ScriptedModel
from suffice.types import Failure, Query, Usage


class StepStore:
    """Stores steps in memory in place of the database."""

    def __init__(self, monkeypatch):
        self.steps = {}

        async def run_step_async(options, call):
            self.steps[options["name"]] = await call()
            return self.steps[options["name"]]

        monkeypatch.setattr(journals.DBOS, "run_step_async", run_step_async)

    def open_journal(self, cancelled=False):
        async def is_cancelled():
            return cancelled

        return Journal(dict(self.steps), is_cancelled=is_cancelled, is_suspending=lambda: False)


@pytest.fixture
def store(monkeypatch):
    return StepStore(monkeypatch)


def play(store, calls, model, search):
    """Return the results of the calls over a journal with all steps stored so far."""

    async def work():
        journal = store.open_journal()
        return [await call(DurableModel(model, journal), DurableSearch(search, journal)) for call in calls]

    return asyncio.run(work())


class FailureReportingModel(ScriptedModel):
    async def __call__(self, prompt):
        reply = await super().__call__(prompt)
        return Reply(reply.answer, Usage(2, 30, 4, 0.25), (Failure("plan", "Rate", "too fast", True, 1),))


UNUSED_MODEL = ScriptedModel({})
UNUSED_SEARCH = FixtureSearch(default=SearchError("searched again"))


def test_answers_are_restored(store):
    calls = [
        lambda model, search: model(Plan("Who?", 3)),
        lambda model, search: search(Query("bridge"), 3),
        lambda model, search: model(Reflect("Who?", (), ("a",), (), (), 3)),
    ]
    model = FailureReportingModel({"plan": [plan()], "reflect": [ENOUGH]})
    live = play(store, calls, model, FixtureSearch(default=PASSAGES))
    again = play(store, calls, UNUSED_MODEL, UNUSED_SEARCH)
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
def test_errors_are_restored(store, error):
    async def caught(model, search):
        with pytest.raises(type(error)) as raised:
            await model(Plan("Who?", 3))
        return raised.value

    (live,) = play(store, [caught], ScriptedModel({"plan": [error]}), UNUSED_SEARCH)
    (again,) = play(store, [caught], ScriptedModel({"plan": [plan()]}), UNUSED_SEARCH)
    assert (str(again), vars(again)) == (str(live), vars(live))


def test_search_errors_are_restored(store):
    failures = []
    refused = SearchRefused("not now", retryable=False, retry_after=3.0)

    async def caught(model, search):
        with pytest.raises(SearchRefused) as raised:
            await search.with_failure_listener(failures.append)(Query("bridge"), 3)
        return raised.value

    (live,) = play(store, [caught], UNUSED_MODEL, FixtureSearch(default=refused))
    (again,) = play(store, [caught], UNUSED_MODEL, UNUSED_SEARCH)
    assert vars(again) == vars(live)


def test_repeated_prompt_is_a_second_call(store):
    prompt = Plan("Who?", 3)
    calls = [lambda model, search: model(prompt), lambda model, search: model(prompt)]
    live = play(store, calls, ScriptedModel({"plan": [plan("one"), plan("two")]}), UNUSED_SEARCH)
    again = play(store, calls, UNUSED_MODEL, UNUSED_SEARCH)
    assert [reply.answer for reply in again] == [plan("one"), plan("two")]
    assert again == live


def test_concurrent_calls_may_finish_in_any_order(store):
    class UnevenSearch:
        def __init__(self, delays):
            self.delays = delays

        async def __call__(self, query, k):
            await asyncio.sleep(self.delays[query.text])
            return [PASSAGES[int(query.text)]]

    async def search_all(search):
        durable = DurableSearch(search, store.open_journal())
        return await asyncio.gather(*(durable(Query(str(n)), 1) for n in range(3)))

    live = asyncio.run(search_all(UnevenSearch({"0": 0.03, "1": 0.0, "2": 0.01})))
    assert asyncio.run(search_all(UNUSED_SEARCH)) == live


def test_call_that_was_cut_off_is_cut_off_again_at_once(store):
    class HangingModel(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(60)

    async def run_briefly(model):
        async with asyncio.timeout(0.5):
            await DurableModel(model, store.open_journal())(Plan("Who?", 3))

    with pytest.raises(TimeoutError):
        asyncio.run(run_briefly(HangingModel({})))
    with pytest.raises(CutOff):
        asyncio.run(DurableModel(ScriptedModel({"plan": [plan()]}), store.open_journal())(Plan("Who?", 3)))


def test_a_question_that_a_model_leaves_open_is_stored_as_open(store):
    prompt = Hypothesize("Who?", (), (), (), (), 3)
    for _ in range(2):
        assert asyncio.run(DurableModel(ExtractiveModel(), store.open_journal())(prompt)).answer is None


def test_usage_of_a_cut_off_call_is_restored(store):
    class SpendingModel(ScriptedModel):
        async def __call__(self, prompt):
            for usage in (Usage(1, 30, 4, 0.25), Usage(1, 20, 0, 0.5, estimated=1)):
                usage_listener.get()(usage)
            await asyncio.sleep(60)

    async def run_briefly(model):
        async with asyncio.timeout(0.5):
            await model(Plan("Who?", 3))

    usages = []
    for model in (SpendingModel({}), UNUSED_MODEL):
        counted = UsageTrackingModel(DurableModel(model, store.open_journal()))
        with pytest.raises(TimeoutError):
            asyncio.run(run_briefly(counted))
        usages.append(counted.by_role)
    assert usages[0] == usages[1] == {"plan": Usage(2, 50, 4, 0.75, estimated=1)}


def test_clock_advances_at_steps_and_is_restored(store):
    class SlowModel(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(0.02)
            return await super().__call__(prompt)

    times = []

    async def work(model):
        journal = store.open_journal()
        times.append(journal.clock())
        await DurableModel(model, journal)(Plan("Who?", 3))
        times.append(journal.clock())

    asyncio.run(work(SlowModel({"plan": [plan()]})))
    asyncio.run(work(UNUSED_MODEL))
    assert times[0] == times[2] == 0
    assert times[1] == times[3] >= 0.02


def test_cancelled_run_makes_no_call(store):
    model = ScriptedModel({"plan": [plan()]})

    async def cancelled():
        journal = store.open_journal(cancelled=True)
        async with asyncio.timeout(0.5):
            await DurableModel(model, journal)(Plan("Who?", 3))

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())
    assert model.prompts == []
    assert store.steps == {}
