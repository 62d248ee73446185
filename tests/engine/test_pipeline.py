"""The trace, the final state, the usage and the report of a run."""

import json
from datetime import UTC, datetime

import pytest
from bridge_story import ENOUGH, MORE, PASSAGES, TASK, asking, kinds, model, outcome, plan, play, setup

from suffice.errors import ModelError
from suffice.events import Failed, Finished, ReviewRound, RoundDone, SearchStopped, serialize_event
from suffice.prompts.judging import Evaluation
from suffice.prompts.writing import SynthesisResponse
from suffice.settings import ReviewRules
from suffice.testing import FixtureSearch, ScriptedModel, make_search_error
from suffice.types import Bounds, Usage


def test_every_event_is_a_line_of_json():
    search = FixtureSearch({"fails": make_search_error()}, default=PASSAGES)
    planned = plan(TASK, "fails")
    gate = "exhaustion | (saturation & sufficiency).after(1) | budget(usd=3)"
    events = play(
        setup(model(plans=[planned], reflects=[MORE, ENOUGH]), search, gate, bounds=Bounds(rounds=2, sources=1))
    )
    lines = [json.dumps(serialize_event(event, "run-1"), allow_nan=False) for event in events]
    types = [json.loads(line)["type"] for line in lines]
    assert types[0] == "started"
    assert types[-1] == "report"
    assert {"searching", "round", "failed", "compacted", "stopped", "writing"} <= set(types)
    for line in map(json.loads, lines):
        assert line["run"] == "run-1"
        assert datetime.fromisoformat(line["at"]).tzinfo == UTC


def test_a_round_in_the_trace_has_the_published_keys():
    events = play(setup(model(reflects=[MORE, ENOUGH]), stop="sufficiency | exhaustion"))
    rounds = [json.loads(json.dumps(serialize_event(event, "r"))) for event in kinds(events, RoundDone)]
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
    stopped = json.loads(json.dumps(serialize_event(kinds(events, SearchStopped)[0], "r")))["stop"]
    assert {"reason", "gate", "round", "promise", "explanation", "rounds"} <= set(stopped)
    assert {"index", "accepted", "queries", "new_passages", "readings", "verdicts"} <= set(stopped["rounds"][0])


def test_the_final_state_has_the_published_keys():
    state = kinds(play(setup(model(reflects=[MORE, ENOUGH]))), SearchStopped)[0].state
    names = """task plan_queries search_results citations iteration max_iters max_execution_time_s sufficient confidence gaps
        failed_queries error_log token_budget degraded_mode query_intents errors insufficient_termination""".split()
    assert set(names) <= set(state)
    assert state["iteration"] == 2
    assert state["plan_queries"] == [TASK]
    assert state["query_intents"] == {TASK: "why", MORE.new_queries[0].query: "close a gap"}
    assert state["insufficient_termination"] is False
    assert state["citations"] == [f"[{n}]" for n in range(1, len(state["search_results"]) + 1)]


def test_the_final_state_says_that_a_limit_ended_the_search_and_what_failed():
    config = setup(
        model(reflects=[MORE]), search=FixtureSearch({}, default=make_search_error()), bounds=Bounds(rounds=1)
    )
    state = kinds(play(config), SearchStopped)[0].state
    assert state["errors"][0] | {"message": ""} == {
        "where": "search", "kind": "SearchError", "message": "", "retryable": False, "attempt": 1
    }  # fmt: skip
    assert [error["message"] for error in state["errors"]] == state["error_log"]
    state = kinds(play(setup(model(reflects=[MORE]), bounds=Bounds(rounds=1))), SearchStopped)[0].state
    assert state["insufficient_termination"] is True


def test_usage_by_role_adds_up_to_the_total():
    report = outcome(setup(model(reflects=[MORE, ENOUGH], usage=Usage(1, 7, 3, 0.01))))
    assert report.usage.calls == sum(role.calls for role in report.usage.by_role.values()) == 5
    assert report.usage.input_tokens == sum(role.input_tokens for role in report.usage.by_role.values()) == 35
    assert report.usage.output_tokens == 15
    assert report.usage.cost_usd == pytest.approx(0.05)
    assert report.usage.searches == 2
    assert set(report.usage.by_role) == {"plan", "reflect", "draft", "check_draft"}


def test_failures_inside_the_run_are_events_too():
    search = FixtureSearch({"fails": make_search_error("out of order")}, default=PASSAGES)
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


def reviewed(*evaluations):
    script = {
        "plan": [plan()],
        "reflect": [ENOUGH],
        "draft": [SynthesisResponse("Halloran built it [1].", risks=("Rust.",))],
    }
    better = SynthesisResponse("Halloran Works built it in 1887 [1]. A king paid [99].")
    the_model = ScriptedModel({**script, "evaluate": list(evaluations), "revise": [better]})
    return play(setup(the_model, review=ReviewRules()))


def test_the_review_is_in_the_trace_the_usage_and_the_report():
    events = reviewed(Evaluation(5, 5, 5, 5, 5, 5), Evaluation(9, 9, 9, 9, 9, 9))
    lines = [json.loads(json.dumps(serialize_event(event, "r"))) for event in kinds(events, ReviewRound)]
    assert [(line["type"], line["round"], line["composite"], line["passed"]) for line in lines] == [
        ("reviewed", 1, 5.0, False),
        ("reviewed", 2, 9.0, True),
    ]
    report = events[-1].report
    assert report.metadata["review"]["ending"] == "passed"
    assert report.metadata["review"]["rounds"][0]["scores"]["depth"] == 5
    assert report.usage.by_role["evaluate"].calls == 2
    assert report.usage.by_role["revise"].calls == 1
    assert report.final_answer == "Halloran Works built it in 1887 [1].", "a claim with an invented source is removed"


def test_a_risk_without_a_citation_is_judged_like_any_sentence():
    assert reviewed(Evaluation(9, 9, 9, 9, 9, 9))[-1].report.risks == ("Rust.",)


def test_the_report_names_its_writing_instruction():
    report = outcome(setup(model(reflects=[ENOUGH])))
    assert report.metadata["writing"] == {"variant": "prose", "version": "2"}
    assert "review" not in report.metadata
