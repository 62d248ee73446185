"""Readings that cost a model call: taken only if the gate needs them, unknown if the model fails or the time is up."""

import asyncio

import pytest

from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import get_preset
from suffice.errors import ModelError
from suffice.gates.parse import parse_gate
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import MeterSet, build_meters
from suffice.models.extractive import ExtractiveModel
from suffice.monitor import StopMonitor
from suffice.prompts.base import TextResponse
from suffice.prompts.judging import JudgeProgress, JudgeProgressResponse, NoveltyResponse, RateNovelty
from suffice.prompts.lab import TrialAnswer
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, WordSearch, make_passage
from suffice.types import Bounds, Hits, Query, Round

TASK = "Who keeps the lighthouse?"
PAGES = [make_passage(f"p{i}", f"The lighthouse page {i} speaks of keeper number {i}.", f"Page {i}") for i in range(40)]


def research(stop, **script):
    queries = iter(range(1000))
    more = [
        lambda prompt: ReflectionResponse(False, 0.5, (), (PlannedQuery(f"lighthouse keeper number {next(queries)}"),))
    ]
    model = ScriptedModel({"plan": [PlanResponse((PlannedQuery("lighthouse"),))], "reflect": more, **script})
    config = RunConfig(
        TASK, WordSearch(PAGES), model, get_preset("reflect"), parse_gate(stop), bounds=Bounds(rounds=6, queries=50)
    )

    async def run():
        return [event async for event in run_pipeline(config)][-1].report

    return asyncio.run(run()), model


def test_a_low_novelty_rating_rejects_the_round_and_ends_the_run():
    scores = [NoveltyResponse(9), NoveltyResponse(8), NoveltyResponse(1)]
    report, model = research("saturation(by=model).after(2)", novelty=scores)
    assert report.stop.reason == "saturated"
    assert [record.accepted for record in report.stop.rounds] == [True, True, False]
    assert [record.readings["novelty.model"] for record in report.stop.rounds] == [9, 8, 1]
    assert sum(isinstance(prompt, RateNovelty) for prompt in model.prompts) == 3


def test_the_model_rates_eight_hundred_characters_in_all():
    pages = [make_passage(f"p{i}", "keeper " * 300, "A long title " * 20) for i in range(12)]
    for count in (1, 5, 12):
        run = RunState(TASK, ScriptedModel({"novelty": [NoveltyResponse(5)]}), TrajectoryMemory, run_id="r")
        asked = Round(1, (Hits(Query(TASK)),), tuple(pages[:count]), tuple(pages[:count]))
        meters = build_meters(frozenset({"novelty.model"}), TASK)
        assert asyncio.run(meters.read_live("before", asked, run))["novelty.model"] == 5
        prompt = run.model.wrapped.prompts[0]
        assert 700 < sum(len(note.title) + len(note.text) for note in prompt.results) <= 800


@pytest.mark.parametrize("answer", [NoveltyResponse(None), NoveltyResponse(11), ModelError("dizzy")])
def test_an_unreadable_score_is_unknown_and_never_stops(answer):
    report, _ = research("saturation(by=model)", novelty=[answer])
    assert report.stop.reason == "budget_rounds"
    assert all(record.readings["novelty.model"] is None for record in report.stop.rounds)


def test_the_search_ends_when_the_model_judges_it_exhausted():
    verdicts = [
        JudgeProgressResponse("PRODUCTIVE"),
        JudgeProgressResponse("QUERY_STALE"),
        JudgeProgressResponse("EXHAUSTED"),
    ]
    report, model = research("judged(window=2)", judge=verdicts)
    assert (report.stop.reason, report.stop.round) == ("exhausted", 3)
    assert [record.readings["judged.conservative@2"] for record in report.stop.rounds] == [0, 0.5, 1]
    seen = [prompt for prompt in model.prompts if isinstance(prompt, JudgeProgress)]
    assert all("In\ndoubt" in prompt.render() for prompt in seen)
    assert [[note.handles[0] for note in prompt.rounds] for prompt in seen] == [
        ["Round 1"],
        ["Round 1", "Round 2"],
        ["Round 2", "Round 3"],
    ], "the last two rounds, with their queries"
    assert seen[2].rounds[0].title == report.stop.rounds[1].queries[0]
    assert {note.text for note in seen[2].state} >= {PAGES[0].text}, "what the memory holds"


def test_the_neutral_verdict_has_no_tie_break():
    _, model = research("judged(style=neutral)", judge_neutral=[JudgeProgressResponse("EXHAUSTED")])
    (prompt,) = [prompt for prompt in model.prompts if isinstance(prompt, JudgeProgress)]
    assert "doubt" not in prompt.render()


def test_the_model_is_not_asked_for_a_reading_that_the_gate_does_not_need():
    _, model = research("fixed(3)")
    assert not any(isinstance(prompt, JudgeProgress | RateNovelty | TrialAnswer) for prompt in model.prompts)


def trial(text, *margins):
    return TextResponse(text, margins)


def test_the_search_ends_when_the_short_answer_is_the_same_twice_and_sure():
    drafted = [
        trial("No answer."),
        trial("Ida Bell", 0.9, 0.1),
        trial("The Ida Bell.", 0.1, 0.2),
        trial("ida bell", 0.5),
    ]
    report, model = research("stable(.25)", trial_answer=drafted)
    readings = [record.readings for record in report.stop.rounds]
    assert [one["answer.stable"] for one in readings] == [0, 1, 2, 3]
    assert [one["answer.margin"] for one in readings] == [None, 0.5, pytest.approx(0.15), 0.5]
    assert readings[2]["answer.weakest"] == 0.1
    assert (report.stop.reason, report.stop.round) == ("sufficient", 4)
    assert "the same in 3 rounds in a row" in report.stop.explanation
    prompts = [prompt for prompt in model.prompts if isinstance(prompt, TrialAnswer)]
    assert {note.text for note in prompts[1].notes} >= {PAGES[0].text}, "what the memory holds"
    assert report.usage.by_role["trial_answer"].calls == 4, "billed under its own role"


def test_without_log_probabilities_one_short_answer_is_paid_for_and_the_gate_abstains():
    report, model = research("stable", trial_answer=[trial("Ida Bell")])
    assert report.stop.reason == "budget_rounds"
    assert sum(isinstance(prompt, TrialAnswer) for prompt in model.prompts) == 1
    [verdict] = [leaf for leaf in report.stop.rounds[-1].verdicts if leaf.gate == "stable"]
    assert verdict.stop is None
    assert "log-probabilities" in verdict.because


def test_a_gate_that_asks_for_no_margin_needs_no_log_probabilities():
    report, _ = research("stable(margin=0)", trial_answer=[trial("Ada"), trial("Ida Bell")])
    assert (report.stop.reason, report.stop.round) == ("sufficient", 3)
    report, _ = research("stable(margin=0)", trial_answer=[ModelError("dizzy")])
    assert report.stop.reason == "budget_rounds"


NEEDS = {
    "novelty.model": "before",
    "sufficiency.model": "after",
    "judged.conservative": "after",
    "judged.neutral": "after",
    "answer.stable": "after",
    "answer.margin": "after",
}
ROUND = Round(1, (Hits(Query("lighthouse"), tuple(PAGES[:2])),), tuple(PAGES[:2]), tuple(PAGES[:2]))


@pytest.mark.parametrize(("name", "moment"), NEEDS.items())
def test_a_reading_is_unknown_when_the_time_is_up(name, moment):
    class SlowModel(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(30)

    run = RunState(TASK, SlowModel({}), TrajectoryMemory, run_id="r", bounds=Bounds(seconds=0.02))
    readings = asyncio.run(build_meters(frozenset({name})).read_live(moment, ROUND, run))
    assert readings[name] is None
    plain = build_meters().read(moment, ROUND).keys()
    assert {known for known in readings if readings[known] is not None} <= plain <= readings.keys()


def test_readings_of_the_model_are_absent_in_a_replay_and_in_a_monitor():
    meters = build_meters(frozenset(NEEDS))
    for moment in ("before", "after"):
        assert NEEDS.keys().isdisjoint(meters.read(moment, ROUND))
    monitor = StopMonitor("judged | sufficiency | stable | saturation(by=model) | budget(rounds=2)")
    assert not monitor.observe(["lighthouse"], [{"id": "p", "text": "A keeper."}]).stop
    assert NEEDS.keys().isdisjoint(monitor.rounds[0].readings.keys() - monitor.verdict.values.keys())
    assert monitor.observe(["keeper"], [{"id": "q", "text": "A lamp."}]).reason == "budget_rounds"


def test_a_meter_of_a_plug_in_may_ask_the_model():
    class TitleMeter:
        moment = "after"
        names = ("titles.model",)

        async def read_with_model(self, round, run):
            answer = await run.try_ask(RateNovelty(run.task, (), ()))
            return {"titles.model": answer.score + len(round.new) + len(run.asked_queries)}

    run = RunState(TASK, ScriptedModel({"novelty": [NoveltyResponse(4)]}), TrajectoryMemory, run_id="r")
    read = MeterSet([TitleMeter()], frozenset({"titles.model"})).read_live("after", ROUND, run)
    assert asyncio.run(read) == {"titles.model": 6}
    assert asyncio.run(MeterSet([TitleMeter()]).read_live("after", ROUND, run)) == {}


def test_topics_of_the_outline_reach_the_meters_that_measure_them():
    class TopicCounter:
        moment = "after"
        names = ("topics.count",)
        topics = ()

        def set_topics(self, topics):
            self.topics = topics

        def read(self, view):
            return {"topics.count": float(len(self.topics))}

    run = RunState(TASK, ScriptedModel({}), TrajectoryMemory, run_id="r")
    meters = MeterSet([TopicCounter()])
    assert asyncio.run(meters.read_live("after", ROUND, run)) == {"topics.count": 0.0}
    run.outline.add_topics(["lamps", "keepers"], ["Lamps burn oil.", "Keepers watch."])
    assert asyncio.run(meters.read_live("after", ROUND, run)) == {"topics.count": 2.0}


@pytest.mark.parametrize("prompt", [RateNovelty(TASK, (), ()), JudgeProgress(TASK, (), (), ())])
def test_without_a_language_model_nobody_rates_a_round(prompt):
    assert asyncio.run(ExtractiveModel()(prompt)).answer is None
