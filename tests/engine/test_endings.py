"""Every reason for which a run stops."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest
from bridge_story import (
    ANSWER,
    ENOUGH,
    MORE,
    PASSAGES,
    TASK,
    Slow,
    asking,
    get_draft_prompt,
    kinds,
    model,
    outcome,
    plan,
    play,
    roles,
    setup,
)

from suffice.engine.pipeline import run_pipeline
from suffice.errors import ModelError
from suffice.events import Finished, RoundDone, Searching, SearchStopped, Writing
from suffice.gates.explanation import STOP_REASON_TEXT
from suffice.prompts.judging import CheckDraftResponse
from suffice.prompts.planning import PlannedQuery, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.testing import FixtureSearch, make_passage, make_search_error
from suffice.types import Bounds, Usage


def test_sufficient():
    report = outcome(setup(model(reflects=[MORE, ENOUGH])))
    assert (report.stop.reason, report.stop.gate, report.stop.round) == ("sufficient", "sufficiency", 2)
    assert report.status == "answered"
    assert report.sufficient is True
    assert report.confidence == 0.9
    assert not report.insufficient_termination


def test_saturated_rejects_the_round_completely():
    repeat = make_passage("p9", "Built by Halloran Works: the Meridian bridge.", "again")
    search = FixtureSearch({TASK: PASSAGES[:1], "who founded Halloran Works": [repeat]})
    the_model = model()
    events = play(setup(the_model, search, "saturation"))
    report = events[-1].report
    assert report.stop.reason == "saturated"
    assert [rec.accepted for rec in report.stop.rounds] == [True, False]
    assert roles(the_model) == ["plan", "reflect", "draft", "check_draft"]
    assert kinds(events, SearchStopped)[0].state["search_results"] == ["p1"]
    assert "p9" not in get_draft_prompt(the_model).render()
    assert repeat.text not in get_draft_prompt(the_model).render()
    assert not report.insufficient_termination


def test_epsilon_accepts_a_saturated_round_at_random():
    search = FixtureSearch(default=PASSAGES[:3])
    report = outcome(setup(model(reflects=[asking()]), search, "saturation.epsilon(1)", bounds=Bounds(rounds=3)))
    assert report.stop.reason == "budget_rounds"
    assert all(rec.accepted for rec in report.stop.rounds)


def test_exhausted():
    circles = [
        ReflectionResponse(False, 0.1, (), (PlannedQuery(f"who built the Meridian bridge {n}"),)) for n in range(9)
    ]
    report = outcome(setup(model(reflects=circles), FixtureSearch(default=PASSAGES[:3]), "exhaustion"))
    assert (report.stop.reason, report.stop.round) == ("exhausted", 3)
    assert not report.insufficient_termination


def test_budget_rounds_one_means_one_round():
    search = FixtureSearch(default=PASSAGES)
    report = outcome(setup(model(reflects=[asking()]), search, bounds=Bounds(rounds=1)))
    assert (report.stop.reason, report.stop.round, len(search.queries)) == ("budget_rounds", 1, 1)
    assert report.status == "partial"
    assert report.insufficient_termination


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7])
def test_budget_queries_is_never_exceeded(most):
    search = FixtureSearch(default=PASSAGES)
    planned = plan("first thing", "second thing", "third thing", "fourth thing")
    report = outcome(setup(model(plans=[planned], reflects=[asking()]), search, bounds=Bounds(queries=most, rounds=50)))
    assert report.stop.reason == "budget_queries"
    assert len(search.queries) == most
    assert report.insufficient_termination


@pytest.mark.parametrize("queries", [1, 3])
def test_budget_time_with_a_slow_search(queries):
    search = FixtureSearch(default=PASSAGES, delay=600)
    planned = plan(*(f"question number {n}" for n in range(queries)))
    report = outcome(
        setup(model(plans=[planned]), search, bounds=Bounds(seconds=2))
    )  # Enough to begin a search under load.
    assert report.stop.reason == "budget_time"
    assert report.usage.seconds < 60
    assert report.insufficient_termination
    assert report.status == "failed", "without any answer from search, nothing is known about the evidence"
    assert not report.degraded_mode, "the run's time limit does not count against the search"
    assert any("time" in failure.message for failure in report.error_log)


def test_budget_time_keeps_results_that_came_in_time():
    class Uneven(FixtureSearch):
        async def __call__(self, query, k):
            if query.text != TASK:
                await asyncio.sleep(600)
            return await super().__call__(query, k)

    planned = plan(TASK, "a slow question", "a second slow question", "a third slow question")
    report = outcome(setup(model(plans=[planned]), Uneven(default=PASSAGES), bounds=Bounds(seconds=2)))
    assert report.stop.reason == "budget_time"
    assert report.status == "partial"
    assert report.sources[0].location.startswith("bridge.txt")


@pytest.mark.parametrize("nth", [1, 2])
def test_budget_time_with_a_slow_reflection(nth):
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    search = FixtureSearch(default=PASSAGES)
    events = play(setup(Slow(script, first=nth), search, bounds=Bounds(seconds=2)))
    report = events[-1].report
    assert report.stop.reason == "budget_time"
    assert report.stop.round == nth, "no further round begins when the time is up"
    assert len(search.queries) == nth
    assert report.usage.seconds < 60
    assert report.final_answer


def test_budget_time_with_a_slow_plan():
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    report = outcome(setup(Slow(script, role="plan"), bounds=Bounds(seconds=0.1)))
    assert (report.stop.reason, report.stop.round) == ("budget_time", 0)
    assert report.status == "failed", "a model that never answered says nothing about the evidence"
    assert report.final_answer == ""


def test_budget_time_holds_while_the_tier_is_being_chosen():
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    report = outcome(setup(Slow(script, role="plan"), bounds=Bounds(seconds=0.1), tier="auto"))
    assert report.stop.reason == "budget_time"
    assert report.usage.seconds < 60


def test_budget_tokens_counts_the_reflection_of_the_same_round():
    the_model = model(reflects=[asking()], usage=Usage(1, 300, 200))
    events = play(setup(the_model, bounds=Bounds(tokens=1000, rounds=20)))
    report = events[-1].report
    assert report.stop.reason == "budget_tokens"
    # Plan 500 and one reflection 500: the budget is spent after the first round.
    assert report.stop.round == 1
    assert report.stop.rounds[0].readings["spend.tokens"] == 1000
    assert report.insufficient_termination


def test_budget_cost():
    the_model = model(reflects=[asking()], usage=Usage(1, 10, 10, usd=0.4))
    report = outcome(setup(the_model, bounds=Bounds(usd=1.0, rounds=20)))
    assert report.stop.reason == "budget_cost"
    assert report.stop.round == 2
    assert report.usage.cost_usd == pytest.approx(1.2)  # Nothing is spent after the limit: the sources are quoted.
    assert report.status == "partial"
    assert "Halloran Works" in report.final_answer
    assert report.sources
    assert "quoted_for_budget" in [notice.kind for notice in report.notices]
    assert "not written by the model" in report.left_undone[0]


def test_an_unknown_cost_cannot_trigger_the_budget():
    report = outcome(setup(model(reflects=[asking()]), bounds=Bounds(usd=0.01, rounds=3)))
    assert report.stop.reason == "budget_rounds"
    assert report.usage.cost_usd is None


def test_search_unavailable_after_three_failures_in_a_row():
    search = FixtureSearch({TASK: PASSAGES[:2]}, default=make_search_error())
    the_model = model(reflects=[asking()])
    events = play(setup(the_model, search, bounds=Bounds(rounds=9)))
    report = events[-1].report
    assert report.stop.reason == "search_unavailable"
    assert len(search.queries) == 4
    assert report.degraded_mode
    assert report.status == "partial"
    assert "Search was limited" in get_draft_prompt(the_model).render()
    assert "partial" in get_draft_prompt(the_model).render()
    assert "Search was limited" in report.final_answer
    assert [failure.where for failure in report.error_log] == ["search"] * 3
    assert not report.insufficient_termination


def test_search_unavailable_from_the_start_is_a_failure_not_an_empty_answer():
    the_model = model(plans=[plan("one", "two", "three")])
    report = outcome(setup(the_model, FixtureSearch(default=make_search_error())))
    assert report.stop.reason == "search_unavailable"
    assert report.status == "failed"
    assert report.final_answer == ""
    assert "draft" not in roles(the_model)
    assert report.failed_queries == (), "a failed query is not thin"


def test_two_failures_in_a_row_do_not_degrade_the_search():
    search = FixtureSearch(
        {"one": make_search_error(), "two": make_search_error(), "three": PASSAGES[:3]}, default=PASSAGES
    )
    report = outcome(setup(model(plans=[plan("one", "two", "three", "four")], reflects=[ENOUGH]), search))
    assert report.stop.reason == "sufficient"
    assert not report.degraded_mode


def test_half_of_four_failed_searches_degrade_the_search():
    found = {"one": make_search_error(), "two": PASSAGES[:3], "three": make_search_error()}
    planned = plan("one", "two", "three")  # The question itself is the fourth.
    report = outcome(setup(model(plans=[planned], reflects=[asking()]), FixtureSearch(found, PASSAGES)))
    assert report.stop.reason == "search_unavailable"
    assert report.degraded_mode
    assert report.status == "partial"


def test_sufficient_evidence_is_sufficient_even_with_a_degraded_search():
    """A run that was judged sufficient did not end because of the search."""
    found = {"one": make_search_error(), "two": PASSAGES[:3], "three": make_search_error()}
    planned = plan("one", "two", "three")
    report = outcome(setup(model(plans=[planned], reflects=[ENOUGH]), FixtureSearch(found)))
    assert report.stop.reason == "sufficient"
    assert report.degraded_mode
    assert "Search was limited" in report.final_answer


def test_planner_done_when_nothing_is_left_to_ask():
    report = outcome(setup(model(reflects=[ReflectionResponse(False, 0.2, ("everything",))]), FixtureSearch()))
    assert report.stop.reason == "planner_done"
    assert report.status == "no_evidence"
    assert not report.insufficient_termination


def test_a_reflection_that_only_repeats_itself_ends_the_run():
    search = FixtureSearch()
    report = outcome(
        setup(
            model(reflects=[ReflectionResponse(False, 0.2, (), (PlannedQuery(TASK.upper()), PlannedQuery(TASK)))]),
            search,
        )
    )
    assert report.stop.reason == "planner_done"
    assert search.queries == [TASK]


def cancelled_during(the_model, search, moment):
    """Return the events of a run that is cancelled after the first event of a type, and when a slow model is waited for."""

    async def main():
        events = []
        seen = asyncio.Event()

        async def consume():
            async with aclosing(run_pipeline(setup(the_model, search, bounds=Bounds(rounds=50)))) as stream:
                async for event in stream:
                    events.append(event)
                    if isinstance(event, moment):
                        seen.set()

        task = asyncio.ensure_future(consume())
        await seen.wait()
        while isinstance(the_model, Slow) and not the_model.is_waiting and not task.done():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        await task
        return events

    return asyncio.run(main())


def test_cancelled_in_the_middle_of_a_search():
    search = FixtureSearch(default=PASSAGES, delay=5)
    events = cancelled_during(model(), search, Searching)
    assert isinstance(events[-1], Finished)
    report = events[-1].report
    assert report.stop.reason == "cancelled"
    assert kinds(events, SearchStopped)[-1].stop.reason == "cancelled"
    assert not report.insufficient_termination


def test_cancelled_later_keeps_the_evidence():
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    events = cancelled_during(Slow(script, first=2), FixtureSearch(default=PASSAGES), RoundDone)
    report = events[-1].report
    assert report.stop.reason == "cancelled"
    assert set(kinds(events, SearchStopped)[-1].state["search_results"]) == {"p1", "p2", "p3", "p4"}
    assert report.stop.rounds[0].new_passages == 4


def test_cancelled_during_a_reflection_keeps_the_round_that_was_reflected_on():
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    events = cancelled_during(Slow(script), FixtureSearch(default=PASSAGES), Searching)
    report = events[-1].report
    assert report.stop.reason == "cancelled"
    found = kinds(events, SearchStopped)[-1].state["search_results"]
    assert sum(rec.new_passages for rec in report.stop.rounds if rec.accepted) == len(found) == 4


def test_cancelled_while_writing():
    script = {"plan": [plan()], "reflect": [ENOUGH], "draft": [ANSWER]}
    events = cancelled_during(Slow(script, role="draft"), None, Writing)
    assert events[-1].report.stop.reason == "cancelled"
    assert len(events[-1].report.stop.rounds) == 1


def test_cancelled_while_claims_are_verified_keeps_the_certain_ones():
    draft = SynthesisResponse(
        "Alpha was founded in 1900 [1]. Those who know it hold that it is a place of great renown [1]."
    )
    script = {"plan": [plan()], "reflect": [ENOUGH], "draft": [draft], "check_draft": [CheckDraftResponse()]}
    found = [
        make_passage("p1", "Alpha was founded in 1900. It is a place of some renown among those who know it.", "Alpha")
    ]
    events = cancelled_during(Slow(script, role="check_draft"), FixtureSearch(default=found), Writing)
    report = events[-1].report
    assert report.stop.reason == "cancelled"
    assert report.status == "partial"
    assert "Alpha was founded in 1900. [1]" in report.final_answer.replace("1900 [1].", "1900. [1]")
    assert "great renown" not in report.final_answer
    assert {claim.support for claim in report.claims} == {"supported"}


def test_every_ending_has_a_name_and_an_explanation():
    reasons = set()
    for chosen in (
        setup(model(reflects=[ENOUGH])),
        setup(model(reflects=[asking()]), bounds=Bounds(rounds=2)),
        setup(model(), FixtureSearch(default=make_search_error()), bounds=Bounds(rounds=2)),
        setup(model(reflects=[ReflectionResponse(False, 0.2)]), FixtureSearch()),
    ):
        stop = outcome(chosen).stop
        assert stop.reason in STOP_REASON_TEXT
        assert stop.explanation
        assert stop.promise in ("heuristic", "estimate", "guarantee")
        reasons.add(stop.reason)
    assert len(reasons) >= 3


def test_a_limit_reached_with_sufficient_evidence_is_not_insufficient():
    report = outcome(setup(model(reflects=[asking(sufficient=True)]), stop="fixed(2)"))
    assert report.stop.reason == "budget_rounds"
    assert report.sufficient is True
    assert not report.insufficient_termination
    assert report.status == "answered"


def test_the_writer_is_told_that_the_run_ended_on_a_limit():
    the_model = model(reflects=[asking()])
    report = outcome(setup(the_model, bounds=Bounds(rounds=1)))
    assert "ended on a limit" in get_draft_prompt(the_model).render()
    assert "ended on a limit" in report.final_answer


def test_an_embedding_outage_keeps_the_evidence():
    """An outage stops the search, and what was found is kept; also for a gate that needs embeddings."""
    calls = []

    def embed(texts):
        calls.append(texts)
        if len(calls) > 2:
            raise ModelError("the embeddings server does not answer")
        return np.ones((len(texts), 2), np.float32) / np.sqrt(2)

    report = outcome(replace(setup(model(reflects=[MORE, ENOUGH])), embed=embed))
    assert report.stop.reason == "search_unavailable"
    assert [failure.where for failure in report.error_log] == ["embeddings"]
    assert report.stop.rounds
    report = outcome(replace(setup(model(), stop="saturation(by='embedding')"), embed=embed))
    assert report.stop.reason == "search_unavailable"
    assert report.stop.rounds
