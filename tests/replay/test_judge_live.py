"""A gate over the trace of a run decides as it did in the run."""

import asyncio
import json
from contextlib import aclosing

import pytest

from suffice.engine.bounds import add_budget
from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import Preset, get_preset
from suffice.events import Finished, RoundDone, serialize_event
from suffice.gates.parse import parse_gate
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.replay.episodes import read_episodes
from suffice.replay.judge import find_stop, measure_readings
from suffice.testing import ScriptedModel, WordSearch, make_passage
from suffice.types import Bounds

TASK = "Who founded the works that built the Meridian bridge in Trieste?"
WORLD = [
    make_passage("p1", "The Meridian bridge was built by Halloran Works in 1887.", "Meridian bridge", score=0.9),
    make_passage("p2", "Halloran Works was founded by Ida Halloran.", "Halloran Works", score=0.7),
    make_passage("p3", "Ida Halloran studied in Graz and moved to Trieste.", "Ida Halloran", score=0.5),
    make_passage("p4", "Graz lies on the river Mur.", "Graz", score=0.3),
    make_passage("p5", "Trieste is a port on the Adriatic.", "Trieste", score=0.2),
]
# Similar queries, but each one different.
QUERIES = [
    f"who founded Halloran Works Meridian bridge Trieste {word}" for word in "one two three four five six seven".split()
]


def model():
    """A model that never judges the evidence sufficient and always has another query."""
    queries = iter(QUERIES * 9)
    count = iter(range(99))
    more = lambda prompt: ReflectionResponse(False, 0.4, ("a gap",), (PlannedQuery(f"{next(queries)} {next(count)}"),))  # noqa: E731
    plan = PlanResponse((PlannedQuery(TASK),), "standard")
    return ScriptedModel({"plan": [plan], "reflect": [more], "draft": [SynthesisResponse("Ida Halloran [1].")]})


def run_live(stop, *, seed=0, tier="deep", k=2):
    async def events():
        config = RunConfig(
            TASK,
            WordSearch(WORLD),
            model(),
            Preset("reflect", "trajectory", stop),
            parse_gate(stop),
            tier=tier,
            seed=seed,
            k=k,
        )
        async with aclosing(run_pipeline(config)) as running:
            return [event async for event in running]

    return asyncio.run(events())


def record(events, path):
    path.write_text("\n".join(json.dumps(serialize_event(event, "r1")) for event in events) + "\n", encoding="utf-8")
    [episode] = read_episodes(path)
    return episode


GATES = [
    "worth",
    "worth(price=0.3)",
    "worth | exhaustion",
    "exhaustion",
    "exhaustion(j=0.5, u=0.5, p=1, window=2)",
    "exhaustion(j=0.5, u=0.5, p=1, smooth=0.5)",
    "saturation",
    "saturation.after(2)",
    "saturation.after(2).epsilon(0.5)",
    "saturation(threshold=8).patience(2)",
    "unseen(mass=0.4)",
    "saturation & exhaustion(p=1)",
    "sufficiency | fixed(4)",
    "budget(queries=3)",
    "budget(tokens=2000)",
    "judged | predicates | gain | recall | fixed(3)",
]


@pytest.mark.parametrize("seed", [0, 1, 5])
@pytest.mark.parametrize("gate", GATES)
def test_a_replay_stops_where_the_run_stopped_with_the_same_verdict(tmp_path, gate, seed):
    events = run_live(gate, seed=seed)
    stop = events[-1].report.stop
    episode = record(events, tmp_path / "trace.jsonl")
    whole = parse_gate(stop.expression)
    found = find_stop(whole, measure_readings(episode, whole.needs), episode.seed)
    assert found.fired
    assert (found.rounds, found.verdict.reason, found.verdict.gate) == (stop.round, stop.reason, stop.gate)
    assert found.kept_rounds == sum(round.accepted for round in stop.rounds)
    assert [leaf.stop for leaf in found.verdict.leaves] == [leaf.stop for leaf in stop.rounds[-1].verdicts]


def test_every_round_gets_the_same_verdicts(tmp_path):
    """Each leaf has the same signals in each round."""
    events = run_live("fixed(6)")
    episode = record(events, tmp_path / "trace.jsonl")
    gate = add_budget(parse_gate("worth | exhaustion | unseen"), Bounds(**events[0].bounds))
    readings = measure_readings(episode, gate.needs)
    live = [event.readings for event in events if isinstance(event, RoundDone)]
    for number in range(1, len(live) + 1):
        now, then = gate.judge(live[:number]), gate.judge(readings[:number])
        assert [(leaf.stop, leaf.signals) for leaf in now.leaves] == [(leaf.stop, leaf.signals) for leaf in then.leaves]


def test_a_rejected_round_is_in_the_trace_and_ends_the_rerun_live(tmp_path):
    events = run_live("saturation.after(1)")
    rounds = [event for event in events if isinstance(event, RoundDone)]
    assert [event.accepted for event in rounds] == [True] * (len(rounds) - 1) + [False]
    episode = record(events, tmp_path / "trace.jsonl")
    found = find_stop(parse_gate("saturation.after(1)"), measure_readings(episode, frozenset()), episode.seed)
    assert (found.rounds, found.kept_rounds, found.verdict.reason) == (len(rounds), len(rounds) - 1, "saturated")


@pytest.mark.parametrize("stop", [get_preset("auto").gate, "worth", "exhaustion"])
def test_a_small_corpus_ends_the_run_without_a_budget(stop):
    """Five short documents and a model that always wants more: the gate ends the run."""
    report = run_live(stop, tier="deep", k=5)[-1].report
    assert report.stop.round <= 5
    assert report.stop.reason in {"exhausted", "saturated", "diminished"}
    assert report.stop.gate in stop
    assert report.status in {"answered", "partial"}


def test_a_gate_may_judge_a_run_that_another_gate_ended(tmp_path):
    episode = record(run_live("fixed(6)"), tmp_path / "trace.jsonl")
    first = find_stop(parse_gate("fixed(2)"), measure_readings(episode, frozenset()), episode.seed)
    never = find_stop(parse_gate("sufficiency"), measure_readings(episode, frozenset()), episode.seed)
    assert (first.rounds, first.fired) == (2, True)
    assert (never.rounds, never.fired, never.verdict.stop) == (6, False, None)


def test_a_run_ends_with_its_report():
    assert isinstance(run_live("fixed(1)")[-1], Finished)
