"""StopMonitor: a gate in another search loop decides as it does in a run of suffice."""

import asyncio
from contextlib import aclosing

import pytest

from suffice import StopMonitor, budget, exhaustion, fixed, saturation, sufficiency
from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import Preset
from suffice.errors import InputError
from suffice.events import RoundDone
from suffice.gates.parse import parse_gate
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.replay.episodes import Episode, RecordedHit, RecordedRound
from suffice.replay.judge import find_stop, measure_readings
from suffice.testing import ScriptedModel, WordSearch, make_passage

QUESTION = "Who founded the works that built the Meridian bridge?"
WORLD = [
    make_passage("p1", "The Meridian bridge was built by Halloran Works in 1887.", "Meridian bridge", score=0.9),
    make_passage("p2", "Halloran Works was founded by Ida Halloran.", "Halloran Works", score=0.7),
    make_passage("p3", "Ida Halloran studied in Graz.", "Ida Halloran", score=0.5),
]
SPENT = ("spend.seconds", "spend.usd", "spend.tokens")


def hits_for(*ids):
    texts = {each.id: each for each in WORLD}
    return [{"id": id, "title": texts[id].title, "text": texts[id].text, "score": texts[id].score} for id in ids]


def run_live(stop):
    """Run the pipeline over three passages. ``k`` covers all of them."""
    count = iter(range(99))

    def more(prompt):
        return ReflectionResponse(False, 0.5, (), (PlannedQuery(f"Meridian bridge works founded {next(count)}"),))

    script = {
        "plan": [PlanResponse((PlannedQuery(QUESTION),))],
        "reflect": [more],
        "draft": [SynthesisResponse("It [1].")],
    }

    async def events():
        config = RunConfig(
            QUESTION,
            WordSearch(WORLD),
            ScriptedModel(script),
            Preset("reflect", "trajectory", stop),
            parse_gate(stop),
            "deep",
        )
        async with aclosing(run_pipeline(config)) as running:
            return [event async for event in running]

    return asyncio.run(events())


@pytest.mark.parametrize(
    "stop", ["worth", "worth | exhaustion", "exhaustion", "saturation", "saturation.epsilon(0.5)", "unseen", "fixed(3)"]
)
def test_it_stops_where_a_run_stops(stop):
    events = run_live(stop)
    rounds = [event for event in events if isinstance(event, RoundDone)]
    monitor = StopMonitor(stop, question=QUESTION)
    for event in rounds:
        verdict = monitor.observe(event.round.queries, hits_for(*(hit.id for hit in event.round.raw)))
        now = {name: value for name, value in monitor.readings[-1].items() if name not in SPENT}
        assert now == {name: value for name, value in event.readings.items() if name in now}
        assert bool(verdict.stop) == (event is rounds[-1])
    assert verdict.reason == events[-1].report.stop.reason
    assert [each.accepted for each in monitor.rounds] == [event.accepted for event in rounds]
    assert verdict.reason in monitor.explain() or verdict.because in monitor.explain()


def test_it_equals_a_replay_of_the_same_rounds():
    rounds = [
        (("who built it",), ("p1", "p2")),
        (("who built it then",), ("p1", "p2")),
        (("who built it now",), ("p1",)),
    ]
    gate = exhaustion(j=0.5, p=2)
    monitor, known, recorded = StopMonitor(gate, question=QUESTION), set(), []
    for number, (queries, ids) in enumerate(rounds, 1):
        monitor.observe(queries, hits_for(*ids))
        hits = tuple(RecordedHit(**hit) for hit in hits_for(*ids))
        new = tuple(hit for hit in hits if hit.id not in known)
        known |= set(ids)
        recorded.append(RecordedRound(number, queries, hits, new, {}))
    readings = measure_readings(Episode("e", QUESTION, frozenset(), (), None, tuple(recorded)), gate.needs)
    stopped = find_stop(gate, readings)
    assert (stopped.rounds, stopped.verdict) == (3, monitor.verdict)
    for measured, observed in zip(readings, monitor.readings, strict=True):
        shared = (measured.keys() & observed.keys()) - {"spend.seconds"}  # A recording does not hold the time.
        assert {name: measured[name] for name in shared} == {name: observed[name] for name in shared}


def test_a_rejected_round_has_no_further_readings():
    monitor = StopMonitor(saturation())
    assert not monitor.observe(["a"], hits_for("p1")).stop
    assert monitor.observe(["b"], hits_for("p1")).reason == "saturated"
    assert monitor.rounds[-1].accepted is False
    assert "overlap.upr" not in monitor.readings[-1]


def test_missing_data_is_unknown_and_never_stops():
    monitor = StopMonitor("saturation | worth | sufficiency")
    for _ in range(5):
        verdict = monitor.observe(["q"], [{"id": "a"}])
    assert [leaf.stop for leaf in verdict.leaves[::2]] == [None, None]
    assert not StopMonitor(saturation()).observe(["q"], [{"id": "a"}], failed=True).stop


def test_the_caller_may_add_readings():
    monitor = StopMonitor(sufficiency(0.9))
    assert monitor.observe(["q"], hits_for("p1"), readings={"sufficiency.model": 0.5}).stop is False
    assert monitor.observe(["q"], hits_for("p1"), readings={"sufficiency.model": 0.95}).reason == "sufficient"
    monitor = StopMonitor("stable")
    assert monitor.observe(["q"], hits_for("p1"), readings={"answer.stable": 1.0, "answer.margin": 0.9}).stop is False
    assert monitor.observe(["q"], hits_for("p2"), readings={"answer.stable": 2.0, "answer.margin": 0.9}).stop
    assert "same in 2 rounds" in monitor.explain()


def test_budgets_of_tokens_and_time():
    monitor = StopMonitor(budget(tokens=100))
    assert not monitor.observe(["q"], [], tokens=60).stop
    assert monitor.observe(["q"], [], tokens=60).reason == "budget_tokens"
    unknown = StopMonitor(budget(tokens=100))
    unknown.observe(["q"], [])
    assert not unknown.observe(["q"], [], tokens=500).stop
    moments = iter([0.0, 3.0, 7.0])
    timed = StopMonitor(budget(seconds=5), clock=lambda: next(moments))
    assert not timed.observe(["q"], []).stop
    assert timed.observe(["q"], []).reason == "budget_time"


def test_it_explains_that_it_has_not_stopped():
    monitor = StopMonitor(fixed(2))
    assert monitor.explain().startswith("Not stopped")
    monitor.observe(["q"], [])
    assert monitor.explain().startswith("Not stopped")
    monitor.observe(["q"], [])
    assert not monitor.explain().startswith("Not stopped")


@pytest.mark.parametrize("passages", [[{"text": "no id"}], ["a"], [None]])
def test_a_passage_needs_an_id(passages):
    with pytest.raises(InputError, match="id"):
        StopMonitor(fixed(1)).observe(["q"], passages)


def test_a_single_text_as_queries_is_rejected():
    with pytest.raises(InputError, match="list"):
        StopMonitor(fixed(1)).observe("who?", [])


def test_a_value_that_is_no_gate_is_rejected():
    with pytest.raises(InputError, match=r"gate.*not 3"):
        StopMonitor(3)


def test_an_unknown_gate_is_named():
    with pytest.raises(InputError, match="nonsense"):
        StopMonitor("nonsense")


def test_asking_for_previews_says_that_they_were_withdrawn():
    with pytest.raises(InputError, match="withdrawn"):
        StopMonitor("worth", previews=True)
