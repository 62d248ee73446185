"""The loop: which queries are asked, which passages are admitted, what is measured, and how searches fail."""

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import Gate, budget, exhaustion, saturation, sufficiency
from suffice.engine.loop import run_loop
from suffice.events import Failed, RoundDone, Searching, SearchStopped
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.search.resilience import RetryingSearch
from suffice.state.run import RunState
from suffice.testing import FixtureSearch, ScriptedModel, make_passage, make_search_error
from suffice.types import Bounds, Query, Verdict

TASK = "tell me about tin"
TEN = [make_passage(f"p{n}", f"Sentence number {n} about tin.", f"Page {n}", score=1 - n / 100) for n in range(10)]


class Asks:
    """A strategy that asks the given queries, one list a round, and then ends."""

    def __init__(self, *rounds):
        self.rounds = list(rounds)

    async def propose(self, run):
        return [Query(text) for text in self.rounds[len(run.records)]] if len(run.records) < len(self.rounds) else []


def silent():
    """Return a model without answers."""
    return ScriptedModel({})


def loop(search, strategy, gate, *, the_model=None, bounds=Bounds(), wrap=None, **options):
    """Return the events of a loop and its run."""
    run = RunState(TASK, the_model or silent(), TrajectoryMemory, run_id="r", bounds=bounds)

    async def main():
        through = wrap(search, run) if wrap else search
        await run_loop(run, through, strategy, gate, build_meters(gate.needs), **options)
        return run.event_queue.drain()

    return asyncio.run(main()), run


def rounds(events):
    return [event for event in events if isinstance(event, RoundDone)]


def test_events_come_in_order_and_end_with_stopped():
    events, _ = loop(FixtureSearch(default=TEN[:3]), Asks(["one"], ["two"]), budget(rounds=2))
    assert [type(event) for event in events] == [Searching, RoundDone, Searching, RoundDone, SearchStopped]
    assert [event.round.index for event in rounds(events)] == [1, 2]


def test_a_strategy_with_nothing_to_ask_ends_the_loop():
    events, run = loop(FixtureSearch(default=TEN[:3]), Asks(["one"]), budget(rounds=9))
    assert events[-1].stop.reason == "planner_done"
    assert len(run.records) == 1


def test_the_same_query_is_never_asked_twice():
    search = FixtureSearch(default=TEN[:3])
    strategy = Asks(["White tin", "white tin!", "grey tin"], ["WHITE  TIN", "tin ore"], ["grey tin"])
    events, _ = loop(search, strategy, budget(rounds=9))
    assert search.queries == ["White tin", "grey tin", "tin ore"]
    assert events[-1].stop.reason == "planner_done"


def test_a_query_without_words_is_not_asked():
    search = FixtureSearch(default=TEN)
    loop(search, Asks(["???", "", "tin"]), budget(rounds=1))
    assert search.queries == ["tin"]


def test_a_query_whose_search_failed_is_not_repeated_either():
    search = FixtureSearch({"one": make_search_error()}, default=TEN)
    loop(search, Asks(["one", "two"], ["one", "three"]), budget(rounds=2))
    assert search.queries == ["one", "two", "three"]


def test_passages_are_admitted_once_and_raw_hits_still_show_repeats():
    events, run = loop(FixtureSearch(default=TEN[:3]), Asks(["one"], ["two"], ["three"]), budget(rounds=3))
    assert [len(event.round.new) for event in rounds(events)] == [3, 0, 0]
    assert [len(event.round.raw) for event in rounds(events)] == [3, 3, 3]
    assert [event.readings["overlap.upr"] for event in rounds(events)] == [1.0, 0.0, 0.0]
    assert [found.id for found in run.evidence] == ["p0", "p1", "p2"]


def test_a_seen_passage_is_replaced_by_the_next_in_the_ranking():
    events, run = loop(FixtureSearch(default=TEN), Asks(["one"], ["two"]), budget(rounds=2), k=3)
    assert [found.id for found in run.evidence] == [f"p{n}" for n in range(6)]
    assert [event.readings["overlap.upr"] for event in rounds(events)] == [1.0, 0.0]


def test_two_queries_that_find_the_same_admit_it_once():
    _, run = loop(FixtureSearch(default=TEN[:4]), Asks(["one", "two"]), budget(rounds=1))
    assert [found.id for found in run.evidence] == ["p0", "p1", "p2", "p3"]


def test_k_bounds_the_passages_of_each_query():
    search = FixtureSearch({"one": TEN[:5], "two": TEN[5:]})
    events, _ = loop(search, Asks(["one", "two"]), budget(rounds=1), k=2)
    assert {found.id for found in rounds(events)[0].round.new} == {"p0", "p1", "p5", "p6"}


def test_per_round_keeps_the_best_over_all_queries():
    search = FixtureSearch({"low": TEN[5:], "high": TEN[:5]})
    events, run = loop(search, Asks(["low", "high"], ["again"]), budget(rounds=1), per_round=3)
    assert [found.id for found in rounds(events)[0].round.new] == ["p0", "p1", "p2"]
    assert len(run.evidence) == 3


def test_passages_left_out_of_a_bounded_round_may_come_later():
    _, run = loop(FixtureSearch(default=TEN[:4]), Asks(["one"], ["two"]), budget(rounds=2), per_round=2)
    assert [found.id for found in run.evidence] == ["p0", "p1", "p2", "p3"]


@given(
    st.lists(st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=3), min_size=1, max_size=4),
    st.integers(1, 4),
    st.none() | st.integers(1, 3),
)
def test_evidence_grows_without_repeats_for_any_results(found, k, per_round):
    names = [[f"query {r} {q}" for q in range(len(queries))] for r, queries in enumerate(found)]
    answers = {
        name: [TEN[n] for n in dict.fromkeys(ids)]
        for row, queries in zip(names, found, strict=True)
        for name, ids in zip(row, queries, strict=True)
    }
    events, run = loop(FixtureSearch(answers), Asks(*names), budget(rounds=99), k=k, per_round=per_round)
    admitted = [hit.id for event in rounds(events) for hit in event.round.new]
    assert len(admitted) == len(set(admitted))
    assert [hit.id for hit in run.evidence] == admitted
    for event in rounds(events):
        assert per_round is None or len(event.round.new) <= per_round
        assert all(len(hits.passages) <= k + 20 for hits in event.round.hits)
    spent = [event.readings["spend.sources"] for event in rounds(events)]
    assert spent == sorted(spent)
    assert spent[-1] == len(admitted)


def test_thin_queries_are_recorded_and_failed_ones_are_not_thin():
    search = FixtureSearch({"thin": TEN[:2], "empty": [], "fails": make_search_error(), "rich": TEN[:3]})
    events, run = loop(search, Asks(["thin", "empty", "fails", "rich"]), budget(rounds=1))
    assert run.searches.thin_queries == ["thin", "empty"]
    assert [failure.where for failure in run.error_log] == ["search"]
    assert [event.failure.message for event in events if isinstance(event, Failed)] == ["the search is down"]


def test_novelty_is_unknown_if_all_searches_failed():
    events, _ = loop(
        FixtureSearch({"bad": make_search_error()}, default=TEN[:3]), Asks(["good"], ["bad"]), budget(rounds=2)
    )
    readings = rounds(events)[1].readings
    assert readings["overlap.upr"] is None
    assert readings["novelty.words"] is None


def test_a_failed_round_never_saturates_or_exhausts():
    search = FixtureSearch({"tin one": TEN[:3]}, default=make_search_error())
    events, _ = loop(search, Asks(["tin one"], ["tin two"], ["tin three"]), saturation() | exhaustion(j=0, p=1))
    assert [event.verdict.stop for event in rounds(events)[1:]] == [None, None]


def test_an_empty_round_is_saturated():
    events, run = loop(FixtureSearch({"one": TEN[:3]}), Asks(["one"], ["two"]), saturation())
    assert events[-1].stop.reason == "saturated"
    assert [rec.accepted for rec in run.records] == [True, False]


def test_a_rejected_round_is_recorded_but_not_believed():
    search = FixtureSearch({"one": TEN[:3], "two": [make_passage("copy", "Sentence number about tin 1", "Copy")]})
    events, run = loop(search, Asks(["one"], ["two"], ["three"]), saturation())
    assert [event.accepted for event in rounds(events)] == [True, False]
    assert "copy" not in run.evidence
    assert [note.title for note in run.memory.render(10_000)] == ["Page 0", "Page 1", "Page 2"]
    assert all("Copy" not in lead.text for lead in run.follow_ups.propose(9))
    assert search.queries == ["one", "two"]
    assert events[-1].stop.round == 2


def test_the_novelty_gate_stays_silent_for_its_minimum():
    search = FixtureSearch(default=TEN[:3])
    events, _ = loop(search, Asks(["one"], ["two"], ["three"], ["four"]), saturation().after(2))
    assert [event.accepted for event in rounds(events)] == [True, True, False]


def test_a_plug_in_gate_may_use_its_own_reason():
    class bored(Gate):
        needs = frozenset()

        def __str__(self):
            return "bored"

        def judge(self, readings, seed=0):
            return Verdict("bored", len(readings) > 1, "bored" if len(readings) > 1 else "", "it was dull")

    events, _ = loop(FixtureSearch(default=TEN), Asks(["one"], ["two"], ["three"]), bored())
    assert (events[-1].stop.reason, events[-1].stop.gate) == ("bored", "bored")
    assert "it was dull" in events[-1].stop.explanation


def test_searches_of_a_round_run_at_the_same_time():
    together = 0
    most = 0

    async def search(query, k):
        nonlocal together, most
        together += 1
        most = max(most, together)
        await asyncio.sleep(0.01)
        together -= 1
        return TEN[:3]

    loop(search, Asks(["one", "two", "three"]), budget(rounds=1))
    assert most == 3


# -- transient errors ----------------------------------------------------------------------------------------------------


class Flaky:
    """Fails ``times`` times, then answers."""

    def __init__(self, times, *, retryable=True):
        self.times, self.retryable, self.calls = times, retryable, 0

    async def __call__(self, query, k):
        self.calls += 1
        if self.calls <= self.times:
            raise make_search_error(f"fault {self.calls}", retryable=self.retryable)
        return TEN[:3]


def retrying(waits, seed=1):
    async def sleep(seconds):
        waits.append(seconds)

    return lambda search, run: RetryingSearch(search, run.record_failure, sleep=sleep, random=Random(seed))


def test_a_transient_error_is_retried_with_growing_waits():
    waits, search = [], Flaky(2)
    _, run = loop(search, Asks(["one"]), budget(rounds=1), wrap=retrying(waits, 1))
    random = Random(1)
    assert waits == [min(2**n + random.random(), 10) for n in (0, 1)]
    assert search.calls == 3
    assert [(failure.message, failure.attempt) for failure in run.error_log] == [("fault 1", 1), ("fault 2", 2)]
    assert all(failure.retryable for failure in run.error_log)
    assert len(run.evidence) == 3
    assert not run.searches.is_degraded


def test_after_three_attempts_the_search_has_failed_once():
    waits, search = [], Flaky(9)
    events, run = loop(search, Asks(["one"]), budget(rounds=1), wrap=retrying(waits))
    assert search.calls == 3
    assert len(waits) == 2
    assert 1 <= waits[0] <= 2 <= waits[1] <= 3
    assert [(failure.message, failure.attempt) for failure in run.error_log] == [
        ("fault 1", 1),
        ("fault 2", 2),
        ("fault 3", 3),
    ]
    assert len([event for event in events if isinstance(event, Failed)]) == 3
    assert not run.searches.is_degraded, "three attempts at one query are one failed search"


def test_a_permanent_error_is_not_retried():
    waits, search = [], Flaky(9, retryable=False)
    _, run = loop(search, Asks(["one"]), budget(rounds=1), wrap=retrying(waits))
    assert (search.calls, waits, len(run.error_log)) == (1, [], 1)


# -- with the model ------------------------------------------------------------------------------------------------------


class Reflecting:
    """A strategy that asks for the reflection each round."""

    async def propose(self, run):
        if not run.records:
            return [Query(planned.query) for planned in (await run.plan()).queries]
        reflection = await run.reflect()
        return [Query(new.query) for new in reflection.new_queries] if reflection else []


def test_gate_and_strategy_share_one_reflection_a_round():
    model = ScriptedModel(
        {
            "plan": [PlanResponse((PlannedQuery("one"),))],
            "reflect": [ReflectionResponse(False, 0.3, (), (PlannedQuery("two"),)), ReflectionResponse(True, 0.8)],
        }
    )
    events, run = loop(FixtureSearch(default=TEN[:3]), Reflecting(), sufficiency(), the_model=model)
    assert [prompt.role for prompt in model.prompts] == ["plan", "reflect", "reflect"]
    assert [event.readings["sufficiency.model"] for event in rounds(events)] == [0.0, 1.0]
    assert [event.readings["confidence.answer"] for event in rounds(events)] == [0.3, 0.8]
    assert events[-1].stop.reason == "sufficient"
    assert run.asked_queries == ["one", "two"]


def test_no_model_is_asked_when_no_gate_needs_it():
    model = silent()
    loop(
        FixtureSearch(default=TEN),
        Asks(["one"], ["two"]),
        exhaustion() | saturation() | budget(rounds=2),
        the_model=model,
    )
    assert model.prompts == []


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_the_bound_on_queries_holds_within_a_round(bound):
    search = FixtureSearch(default=TEN)
    events, _ = loop(search, Asks(["a b", "c d"], ["e f", "g h"]), budget(rounds=9), bounds=Bounds(queries=bound))
    assert len(search.queries) == bound
    assert events[-1].stop.reason == "budget_queries"
