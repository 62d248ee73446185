"""A run from task to report: every ending by its name, the bounds that apply, and what the report then says."""

import asyncio
import json
from contextlib import aclosing
from datetime import UTC, datetime

import pytest

from suffice.asks import PlannedQuery, PlanResponse, ReflectionResponse, SynthesisResponse
from suffice.errors import ModelError
from suffice.events import Compacted, Failed, Finished, RoundDone, Searching, Started, Stopped, Writing, record
from suffice.gates.parse import parse
from suffice.pipeline import Setup, stream
from suffice.presets import Preset
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, down, passage
from suffice.types import ENDINGS, Bounds, Usage

TASK = "Who built the Meridian bridge?"
PASSAGES = [
    passage("p1", "The Meridian bridge was built by Halloran Works in 1887.", "Meridian bridge", path="bridge.txt"),
    passage("p2", "Halloran Works was founded by Ida Halloran.", "Halloran Works", path="works.txt"),
    passage("p3", "Ida Halloran studied in Graz and moved to Trieste.", "Ida Halloran", path="ida.txt"),
    passage("p4", "Graz lies on the river Mur.", "Graz", path="graz.txt"),
]
MORE = ReflectionResponse(False, 0.4, ("the founder",), ("who founded Halloran Works",))
ENOUGH = ReflectionResponse(True, 0.9)
ANSWER = SynthesisResponse("Halloran Works built it [1].", "Halloran Works [1].")


def plan(*queries, complexity="standard"):
    return PlanResponse(tuple(PlannedQuery(query, "why") for query in queries or (TASK,)), complexity)


def asking(*, sufficient=False):
    """A reflection that always has something new to ask."""
    count = iter(range(10_000))
    return lambda ask: ReflectionResponse(sufficient, 0.5, ("a gap",), (f"another question number {next(count)}",))


def model(*, plans=None, reflects=(MORE,), drafts=(ANSWER,), usage=None, kind=ScriptedModel):
    return kind({"plan": plans or [plan()], "reflect": list(reflects), "draft": list(drafts)}, usage=usage)


class Slow(ScriptedModel):
    """Takes its time over one role, from its nth answer on."""

    def __init__(self, script, *, usage=None, role="reflect", first=1, delay=5.0):
        super().__init__(script, usage=usage)
        self.role, self.first, self.delay = role, first, delay

    async def __call__(self, ask):
        if ask.role == self.role and sum(earlier.role == self.role for earlier in self.asked) + 1 >= self.first:
            self.asked.append(ask)
            await asyncio.sleep(self.delay)
        return await super().__call__(ask)


def setup(the_model, search=None, stop="sufficiency", *, bounds=Bounds(), cap=Bounds(), **options):
    preset = Preset("reflect", "trajectory", stop, cap)
    return Setup(TASK, search or WordSearch(PASSAGES), the_model, preset, parse(stop), bounds=bounds, **options)


def play(chosen):
    async def all_of_them():
        async with aclosing(stream(chosen)) as events:
            return [event async for event in events]

    return asyncio.run(all_of_them())


def outcome(chosen):
    return play(chosen)[-1].report


def kinds(events, kind):
    return [event for event in events if isinstance(event, kind)]


def roles(the_model):
    return [ask.role for ask in the_model.asked]


# -- endings -----------------------------------------------------------------------------------------------------------


def test_sufficient():
    report = outcome(setup(model(reflects=[MORE, ENOUGH])))
    assert (report.stop.reason, report.stop.gate, report.stop.round) == ("sufficient", "sufficiency", 2)
    assert report.status == "answered"
    assert report.sufficient is True
    assert report.confidence == 0.9
    assert not report.insufficient_termination


def test_saturated_rejects_the_round_and_leaves_no_trace():
    repeat = passage("p9", "Built by Halloran Works: the Meridian bridge.", "again")
    search = FixtureSearch({TASK: PASSAGES[:1], "who founded Halloran Works": [repeat]})
    the_model = model()
    events = play(setup(the_model, search, "saturation"))
    report = events[-1].report
    assert report.stop.reason == "saturated"
    assert [rec.accepted for rec in report.stop.rounds] == [True, False]
    assert roles(the_model) == ["plan", "reflect", "draft"]
    assert kinds(events, Stopped)[0].state["search_results"] == ["p1"]
    assert "p9" not in the_model.asked[-1].prompt()
    assert repeat.text not in the_model.asked[-1].prompt()
    assert not report.insufficient_termination


def test_an_accident_of_chance_accepts_a_saturated_round():
    search = FixtureSearch(default=PASSAGES[:3])
    report = outcome(setup(model(reflects=[asking()]), search, "saturation.epsilon(1)", bounds=Bounds(rounds=3)))
    assert report.stop.reason == "budget_rounds"
    assert all(rec.accepted for rec in report.stop.rounds)


def test_exhausted():
    circles = [ReflectionResponse(False, 0.1, (), (f"who built the Meridian bridge {n}",)) for n in range(9)]
    report = outcome(setup(model(reflects=circles), FixtureSearch(default=PASSAGES[:3]), "exhaustion"))
    assert (report.stop.reason, report.stop.round) == ("exhausted", 3)
    assert not report.insufficient_termination


def test_budget_rounds_one_means_one_round():
    search = FixtureSearch(default=PASSAGES)
    report = outcome(setup(model(reflects=[asking()]), search, bounds=Bounds(rounds=1)))
    assert (report.stop.reason, report.stop.round, len(search.asked)) == ("budget_rounds", 1, 1)
    assert report.status == "partial"
    assert report.insufficient_termination


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7])
def test_budget_queries_is_never_exceeded(most):
    search = FixtureSearch(default=PASSAGES)
    planned = plan("first thing", "second thing", "third thing", "fourth thing")
    report = outcome(setup(model(plans=[planned], reflects=[asking()]), search, bounds=Bounds(queries=most, rounds=50)))
    assert report.stop.reason == "budget_queries"
    assert len(search.asked) == most
    assert report.insufficient_termination


@pytest.mark.parametrize("queries", [1, 3])
def test_budget_time_with_a_slow_search(queries):
    search = FixtureSearch(default=PASSAGES, delay=5)
    planned = plan(*(f"question number {n}" for n in range(queries)))
    report = outcome(setup(model(plans=[planned]), search, bounds=Bounds(seconds=0.1)))
    assert report.stop.reason == "budget_time"
    assert report.usage.seconds < 2
    assert report.insufficient_termination
    assert report.status == "no_evidence"
    assert not report.degraded_mode, "the run's own limit is no fault of the search"
    assert any("time" in failure.message for failure in report.error_log)


def test_budget_time_keeps_what_came_in_time():
    class Uneven(FixtureSearch):
        async def __call__(self, query, k):
            if query.text != TASK:
                await asyncio.sleep(5)
            return await super().__call__(query, k)

    planned = plan(TASK, "a slow question", "a second slow question", "a third slow question")
    report = outcome(setup(model(plans=[planned]), Uneven(default=PASSAGES), bounds=Bounds(seconds=0.4)))
    assert report.stop.reason == "budget_time"
    assert report.status == "partial"
    assert report.sources[0].location.startswith("bridge.txt")


@pytest.mark.parametrize("nth", [1, 2])
def test_budget_time_with_a_slow_reflection(nth):
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    search = FixtureSearch(default=PASSAGES)
    events = play(setup(Slow(script, first=nth), search, bounds=Bounds(seconds=0.5)))
    report = events[-1].report
    assert report.stop.reason == "budget_time"
    assert report.stop.round == nth, "no further round begins when the time is up"
    assert len(search.asked) == nth
    assert report.usage.seconds < 2
    assert report.final_answer


def test_budget_time_with_a_slow_plan():
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    report = outcome(setup(Slow(script, role="plan"), bounds=Bounds(seconds=0.1)))
    assert (report.stop.reason, report.stop.round) == ("budget_time", 0)
    assert report.status == "no_evidence"
    assert report.final_answer == ""


def test_budget_time_holds_while_the_tier_is_being_chosen():
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    report = outcome(setup(Slow(script, role="plan", delay=1.5), bounds=Bounds(seconds=0.1), tier="auto"))
    assert report.stop.reason == "budget_time"
    assert report.usage.seconds < 1


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
    assert report.usage.cost_usd == pytest.approx(1.6)  # The draft is paid on top.


def test_without_a_price_a_cost_bound_ends_nothing():
    report = outcome(setup(model(reflects=[asking()]), bounds=Bounds(usd=0.01, rounds=3)))
    assert report.stop.reason == "budget_rounds"
    assert report.usage.cost_usd is None


def test_search_unavailable_after_three_failures_in_a_row():
    search = FixtureSearch({TASK: PASSAGES[:2]}, default=down())
    the_model = model(reflects=[asking()])
    events = play(setup(the_model, search, bounds=Bounds(rounds=9)))
    report = events[-1].report
    assert report.stop.reason == "search_unavailable"
    assert len(search.asked) == 4
    assert report.degraded_mode
    assert report.status == "partial"
    assert "Search was limited" in the_model.asked[-1].prompt()
    assert "partial" in the_model.asked[-1].prompt()
    assert "Search was limited" in report.final_answer
    assert [failure.where for failure in report.error_log] == ["search"] * 3
    assert not report.insufficient_termination


def test_search_unavailable_from_the_start_is_a_failure_not_an_empty_answer():
    the_model = model(plans=[plan("one", "two", "three")])
    report = outcome(setup(the_model, FixtureSearch(default=down())))
    assert report.stop.reason == "search_unavailable"
    assert report.status == "failed"
    assert report.final_answer == ""
    assert "draft" not in roles(the_model)
    assert report.failed_queries == (), "a failed search is not a thin one"


def test_two_failures_in_a_row_do_not_open_the_breaker():
    search = FixtureSearch({"one": down(), "two": down(), "three": PASSAGES[:3]}, default=PASSAGES)
    report = outcome(setup(model(plans=[plan("one", "two", "three")], reflects=[ENOUGH]), search))
    assert report.stop.reason == "sufficient"
    assert not report.degraded_mode


def test_half_of_four_failed_searches_open_the_breaker():
    found = {"one": down(), "two": PASSAGES[:3], "three": down(), "four": PASSAGES[:3]}
    planned = plan("one", "two", "three", "four")
    report = outcome(setup(model(plans=[planned], reflects=[asking()]), FixtureSearch(found, PASSAGES)))
    assert report.stop.reason == "search_unavailable"
    assert report.degraded_mode
    assert report.status == "partial"


def test_enough_evidence_is_sufficient_also_when_search_limps():
    """Endings are never confused: what was judged sufficient did not end because of the search."""
    found = {"one": down(), "two": PASSAGES[:3], "three": down(), "four": PASSAGES[:3]}
    planned = plan("one", "two", "three", "four")
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
    report = outcome(setup(model(reflects=[ReflectionResponse(False, 0.2, (), (TASK.upper(), TASK))]), search))
    assert report.stop.reason == "planner_done"
    assert search.asked == [TASK]


def cancelled_during(the_model, search, moment):
    """The events of a run that is cancelled 50 ms after the first event of a kind."""

    async def main():
        events = []
        seen = asyncio.Event()

        async def consume():
            async with aclosing(stream(setup(the_model, search, bounds=Bounds(rounds=50)))) as happening:
                async for event in happening:
                    events.append(event)
                    if isinstance(event, moment):
                        seen.set()

        task = asyncio.ensure_future(consume())
        await seen.wait()
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
    assert kinds(events, Stopped)[-1].stop.reason == "cancelled"
    assert not report.insufficient_termination


def test_cancelled_later_keeps_what_was_gathered():
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    events = cancelled_during(Slow(script, first=2), FixtureSearch(default=PASSAGES), RoundDone)
    report = events[-1].report
    assert report.stop.reason == "cancelled"
    assert set(kinds(events, Stopped)[-1].state["search_results"]) == {"p1", "p2", "p3", "p4"}
    assert report.stop.rounds[0].new_passages == 4


def test_cancelled_during_a_reflection_keeps_the_round_that_was_reflected_on():
    script = {"plan": [plan()], "reflect": [MORE], "draft": [ANSWER]}
    events = cancelled_during(Slow(script), FixtureSearch(default=PASSAGES), Searching)
    report = events[-1].report
    assert report.stop.reason == "cancelled"
    found = kinds(events, Stopped)[-1].state["search_results"]
    assert sum(rec.new_passages for rec in report.stop.rounds if rec.accepted) == len(found) == 4


def test_cancelled_while_writing():
    script = {"plan": [plan()], "reflect": [ENOUGH], "draft": [ANSWER]}
    events = cancelled_during(Slow(script, role="draft"), None, Writing)
    assert events[-1].report.stop.reason == "cancelled"
    assert len(events[-1].report.stop.rounds) == 1


def test_every_ending_has_a_name_and_an_explanation():
    reasons = set()
    for chosen in (
        setup(model(reflects=[ENOUGH])),
        setup(model(reflects=[asking()]), bounds=Bounds(rounds=2)),
        setup(model(), FixtureSearch(default=down()), bounds=Bounds(rounds=2)),
        setup(model(reflects=[ReflectionResponse(False, 0.2)]), FixtureSearch()),
    ):
        stop = outcome(chosen).stop
        assert stop.reason in ENDINGS
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
    assert "ended on a limit" in the_model.asked[-1].prompt()
    assert "ended on a limit" in report.final_answer


# -- which gate and which bounds -----------------------------------------------------------------------------------------


def test_stop_replaces_the_presets_gate_entirely():
    the_model = model(reflects=[asking(sufficient=True)])
    report = outcome(setup(the_model, stop="fixed(3)"))
    assert (report.stop.reason, report.stop.round) == ("budget_rounds", 3)
    assert "sufficiency" not in report.stop.expression


def test_stop_without_sufficiency_goes_on_while_anything_is_left_to_ask():
    """A model that is content and asks nothing must not end a run whose gate does not ask the model."""
    report = outcome(setup(model(reflects=[ENOUGH]), stop="fixed(3)", k=1))
    assert (report.stop.reason, report.stop.round) == ("budget_rounds", 3)


def bounds_of(chosen):
    return kinds(play(chosen), Started)[0].bounds


class Remote(ScriptedModel):
    local = False


@pytest.mark.parametrize(
    ("tier", "limits"),
    [("simple", (2, 3, 5, 60, 20_000)), ("standard", (5, 10, 15, 90, 60_000)), ("deep", (10, 15, 20, 120, 150_000))],
)
def test_tiers(tier, limits):
    started = bounds_of(setup(model(reflects=[ENOUGH], kind=Remote), tier=tier))
    assert started == dict(zip(("rounds", "queries", "sources", "seconds", "tokens"), limits, strict=True))


@pytest.mark.parametrize("complexity", ["simple", "standard", "deep"])
def test_tier_auto_takes_the_plans_word(complexity):
    planned = plan("one thing", "two thing", "three thing", "four thing", complexity=complexity)
    the_model = model(plans=[planned], reflects=[asking()], kind=Remote)
    search = FixtureSearch(default=PASSAGES)
    events = play(setup(the_model, search, tier="auto"))
    limits = kinds(events, Started)[0].bounds
    rounds = {"simple": 2, "standard": 5, "deep": 10}[complexity]
    assert limits["rounds"] == rounds
    assert len(search.asked) <= limits["queries"]
    assert roles(the_model).count("plan") == 1


def test_tier_auto_without_a_plan_is_standard():
    assert bounds_of(setup(model(plans=[ModelError("no plan")], reflects=[ENOUGH]), tier="auto"))["rounds"] == 5


def test_an_explicit_bound_beats_the_cap_which_beats_the_tier():
    the_model = model(reflects=[ENOUGH], kind=Remote)
    chosen = setup(the_model, bounds=Bounds(rounds=7), cap=Bounds(rounds=4, queries=6), tier="simple")
    assert bounds_of(chosen) == {"rounds": 7, "queries": 6, "sources": 5, "seconds": 60, "tokens": 20_000}


def test_a_local_model_has_no_time_limit_unless_one_is_set():
    assert "seconds" not in bounds_of(setup(model(reflects=[ENOUGH])))
    assert bounds_of(setup(model(reflects=[ENOUGH]), bounds=Bounds(seconds=30)))["seconds"] == 30


# -- the draft and its citations ---------------------------------------------------------------------------------------


def drafted(*drafts, search=None, **options):
    return outcome(setup(model(reflects=[ENOUGH], drafts=drafts), search or FixtureSearch(default=PASSAGES), **options))


def test_an_invented_citation_is_dropped_and_logged():
    report = drafted(SynthesisResponse("Halloran Works built it [1] [99]. It is tall [77].", "Built [99] [1]."))
    assert "[99]" not in report.final_answer + report.summary
    assert "[77]" not in report.final_answer
    assert "It is tall." in report.final_answer
    assert [source.id for source in report.sources] == ["[1]"]
    logged = [failure.message for failure in report.error_log if failure.where == "citations"]
    assert any("[99]" in message for message in logged)
    assert any("[77]" in message for message in logged)


def test_citations_are_renumbered_without_gaps_in_order_of_first_citation():
    report = drafted(SynthesisResponse("Graz first [4]. Then the bridge [1], and Graz again [4]. Ida [3].", "Ida [3]."))
    assert "Graz first [1]. Then the bridge [2], and Graz again [1]. Ida [3]." in report.final_answer
    assert [(source.id, source.title) for source in report.sources] == [
        ("[1]", "Graz"),
        ("[2]", "Meridian bridge"),
        ("[3]", "Ida Halloran"),
    ]
    assert report.summary == "Ida [3]."


def test_citations_in_the_lists_count_and_are_renumbered_too():
    draft = SynthesisResponse("The bridge [2].", "", ("Finding [4].",), ("Do [2].",), ("Risk [3].",), ("What of [4]?",))
    report = drafted(draft)
    assert report.key_findings == ("Finding [2].",)
    assert report.recommendations == ("Do [1].",)
    assert report.risks == ("Risk [3].",)
    assert report.open_questions == ("What of [2]?",)
    assert [source.title for source in report.sources] == ["Halloran Works", "Graz", "Ida Halloran"]


def test_several_sources_in_one_bracket_are_checked_like_any_other():
    report = drafted(SynthesisResponse("Both say so [4, 1]. This one does not exist [2, 99]."))
    assert report.status == "answered"
    assert "99" not in report.final_answer
    assert [source.title for source in report.sources] == ["Graz", "Meridian bridge", "Halloran Works"]
    assert report.claims[0].citations == ("[1]", "[2]")
    assert report.claims[1].citations == ("[3]",)


def test_one_source_is_listed_once_however_its_number_is_written():
    report = drafted(SynthesisResponse("One [1]. The same [01]."))
    assert len({source.location for source in report.sources}) == len(report.sources)


def test_a_claim_is_found_word_for_word_across_line_breaks_with_its_lines():
    text = "Heading of the page\n\nThe bridge was built\nby Halloran Works\nin 1887. It is long.\nNothing more."
    search = FixtureSearch(default=[passage("x", text, "Page", path="page.txt")])
    report = drafted(SynthesisResponse("The bridge was built by Halloran Works in 1887. [1]"), search=search)
    (claim,) = report.claims
    assert claim.support == "supported"
    assert claim.citations == ("[1]",)
    (span,) = claim.spans
    assert span.quote == "The bridge was built\nby Halloran Works\nin 1887."
    assert span.location == "page.txt:3-5"
    assert report.sources[0].location == "page.txt:1-6"


def test_a_claim_without_a_citation_is_unsupported_and_one_not_in_the_source_unknown():
    report = drafted(SynthesisResponse("Halloran Works was founded by Ida Halloran [2]. Pigs fly [1]. So they say."))
    assert [claim.support for claim in report.claims] == ["supported", "unknown", "unsupported"]


@pytest.mark.parametrize("text", ["It was Halloran Works.", "It was Halloran Works [99].", ""])
def test_a_draft_that_cites_nothing_is_no_report(text):
    report = drafted(SynthesisResponse(text, "A summary.", ("A finding.",)))
    assert report.status == "no_evidence"
    assert report.final_answer == ""
    assert report.summary == ""
    assert report.key_findings == ()
    assert report.sources == ()
    assert report.claims == ()


def test_nothing_found_degrades_gracefully():
    the_model = model(reflects=[asking()])
    report = outcome(setup(the_model, FixtureSearch(), bounds=Bounds(rounds=3)))
    assert report.status == "no_evidence"
    assert report.final_answer == ""
    assert "draft" not in roles(the_model)
    assert len(report.failed_queries) == 3


def test_a_writer_that_fails_is_logged():
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[ModelError("no words")])))
    assert report.status == "failed"
    assert report.final_answer == ""
    assert [(failure.where, failure.message) for failure in report.error_log] == [("draft", "no words")]


def test_max_sources_bounds_what_the_writer_sees_and_not_the_search():
    the_model = model(reflects=[ENOUGH])
    events = play(setup(the_model, FixtureSearch(default=PASSAGES), bounds=Bounds(sources=2)))
    prompt = the_model.asked[-1].prompt()
    assert sum(found.text in prompt for found in PASSAGES) == 2
    assert PASSAGES[0].text in prompt, "the passage most like the question is among them"
    assert len(kinds(events, Stopped)[0].state["search_results"]) == 4
    assert any(event.whole == 2 and event.shortened == 2 for event in kinds(events, Compacted))


def test_the_writer_never_gets_more_than_the_longest_prompt():
    """S1: evidence over 50,000 tokens is compacted, before writing too."""
    long = [passage(f"p{n}", f"Fact {n} about the bridge. " * 600, f"Chapter {n}") for n in range(15)]
    the_model = model(reflects=[ENOUGH])
    events = play(setup(the_model, FixtureSearch(default=long), k=15, bounds=Bounds(tokens=10**9)))
    assert kinds(events, Compacted)
    for ask in the_model.asked:
        assert len(ask.prompt()) / 4 < 52_000, ask.role


# -- the trace ---------------------------------------------------------------------------------------------------------


def test_every_event_is_a_line_of_json():
    search = FixtureSearch({"fails": down()}, default=PASSAGES)
    planned = plan(TASK, "fails")
    gate = "exhaustion | (saturation & sufficiency).after(1) | budget(usd=3)"
    events = play(
        setup(model(plans=[planned], reflects=[MORE, ENOUGH]), search, gate, bounds=Bounds(rounds=2, sources=1))
    )
    lines = [json.dumps(record(event, "run-1"), allow_nan=False) for event in events]
    types = [json.loads(line)["type"] for line in lines]
    assert types[0] == "started"
    assert types[-1] == "report"
    assert {"searching", "round", "failed", "compacted", "stopped", "writing"} <= set(types)
    for line in map(json.loads, lines):
        assert line["run"] == "run-1"
        assert datetime.fromisoformat(line["at"]).tzinfo == UTC


def test_a_round_in_the_trace_has_the_contracts_keys():
    events = play(setup(model(reflects=[MORE, ENOUGH]), stop="sufficiency | exhaustion"))
    rounds = [json.loads(json.dumps(record(event, "r"))) for event in kinds(events, RoundDone)]
    assert [line["index"] for line in rounds] == [1, 2]
    for line in rounds:
        assert {"index", "accepted", "queries", "passages", "readings", "verdicts", "tokens"} <= set(line)
        for hit in line["passages"]:
            assert {"id", "title", "location", "score", "text"} <= set(hit)
        assert [verdict["gate"] for verdict in line["verdicts"]][:2] == ["sufficiency", "exhaustion"]
        for verdict in line["verdicts"]:
            assert {"gate", "stop", "reason", "signals"} <= set(verdict)
            for value, threshold in verdict["signals"].values():
                assert value is None or isinstance(value, int | float)
                assert isinstance(threshold, int | float)
        for name in ("rounds", "queries", "sources", "tokens", "seconds", "usd"):
            assert f"spend.{name}" in line["readings"]
    stopped = json.loads(json.dumps(record(kinds(events, Stopped)[0], "r")))["stop"]
    assert {"reason", "gate", "round", "promise", "explanation", "rounds"} <= set(stopped)
    assert {"index", "accepted", "queries", "new_passages", "readings", "verdicts"} <= set(stopped["rounds"][0])


def test_the_state_at_the_end_has_s1s_names():
    state = kinds(play(setup(model(reflects=[MORE, ENOUGH]))), Stopped)[0].state
    names = """task plan_queries search_results citations iteration max_iters max_execution_time_s sufficient confidence gaps
        failed_queries error_log token_budget degraded_mode""".split()
    assert set(names) <= set(state)
    assert state["iteration"] == 2
    assert state["plan_queries"] == [TASK]
    assert state["citations"] == [f"[{n}]" for n in range(1, len(state["search_results"]) + 1)]


def test_the_bill_adds_up():
    report = outcome(setup(model(reflects=[MORE, ENOUGH], usage=Usage(1, 7, 3, 0.01))))
    assert report.usage.calls == sum(role.calls for role in report.usage.by_role.values()) == 4
    assert report.usage.input_tokens == sum(role.input_tokens for role in report.usage.by_role.values()) == 28
    assert report.usage.output_tokens == 12
    assert report.usage.cost_usd == pytest.approx(0.04)
    assert report.usage.searches == 2
    assert set(report.usage.by_role) == {"plan", "reflect", "draft"}


def test_failures_inside_the_run_are_events_too():
    search = FixtureSearch({"fails": down("out of order")}, default=PASSAGES)
    events = play(setup(model(plans=[plan(TASK, "fails")], reflects=[ModelError("dizzy"), ENOUGH]), search))
    assert [event.failure.message for event in kinds(events, Failed)] == ["out of order", "dizzy"]
    assert isinstance(events[-1], Finished)


def test_the_same_seed_gives_the_same_run():
    def shape(seed):
        the_model = model(reflects=[asking()])
        report = outcome(setup(the_model, FixtureSearch(default=PASSAGES), "saturation.epsilon(0.5)", seed=seed))
        return report.stop.reason, report.stop.round

    assert shape(3) == shape(3)
    assert len({shape(seed) for seed in range(12)}) > 1
