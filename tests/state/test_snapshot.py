"""What a run does with its belief: readings, time, the trace, and the writer."""

import asyncio

from suffice.engine.loop import run_loop
from suffice.events import PromptCompacted, serialize_event
from suffice.gates import budget
from suffice.memory.freeform import FreeformMemory
from suffice.memory.structured import StructuredMemory
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.prompts import ExtractedFact, Extraction, PlannedQuery, PlanResponse, ReflectionResponse
from suffice.report.draft import select_writer_notes
from suffice.state.run import RunState
from suffice.state.snapshot import TRACE_BELIEF_TOKENS, TRACE_NOTE_CHARS
from suffice.testing import FixtureSearch, ScriptedModel, make_passage
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF_KIND, Bounds, Hits, Query, Round

TASK = "Where was the director of The Silver Lamp born?"
FILM = make_passage("film", "The Silver Lamp was directed by Ada Lind.", "The Silver Lamp")
ASKED = [
    make_passage(f"q{n}", f"The director of The Silver Lamp was born, says letter {n}.", "The Silver Lamp")
    for n in range(4)
]
FOUND = Extraction((ExtractedFact(FILM.text, ("[5]",)),))


def admitted(run, *passages):
    round = Round(len(run.readings) + 1, (Hits(Query("q"), passages),), passages, passages)
    run.readings.append({})
    asyncio.run(run.admit(round))
    return run


def begun(script, memory=StructuredMemory, **options):
    return RunState(TASK, ScriptedModel(script), memory, run_id="r", **options)


def looped(run, search, rounds=2):
    class Twice:
        async def propose(self, run):
            return [Query(f"query {len(run.records)}")]

    gate = budget(rounds=rounds)

    async def main():
        return [event async for event in run_loop(run, search, Twice(), gate, build_meters(gate.needs))]

    return asyncio.run(main())


def test_open_questions_are_unknown_until_somebody_sets_one():
    run = begun({}, TrajectoryMemory)
    looped(run, FixtureSearch(default=[FILM]))
    assert [readings["belief.open"] for readings in run.readings] == [None, None]
    assert run.sufficient is None


def test_what_a_belief_refuses_is_an_event_and_in_the_error_log():
    run = begun({"extract": [Extraction((ExtractedFact("Ada Lind sang.", ("[9]",)),))]})
    events = looped(run, FixtureSearch(default=[FILM]), rounds=1)
    told = [event.failure for event in events if type(event).__name__ == "Failed"]
    assert told == run.error_log
    assert {(failure.where, failure.kind) for failure in told} == {("belief", "Refused")}


def test_a_round_event_carries_the_belief_and_stays_small():
    long = [make_passage(f"p{n}", "The lamp is old and heavy. " * 200, f"Page {n}") for n in range(5)]
    events = looped(begun({}, TrajectoryMemory), FixtureSearch(default=long), rounds=1)
    line = serialize_event(next(event for event in events if type(event).__name__ == "RoundDone"), "r")
    assert line["belief"]["notes"]
    assert line["belief"]["open"] == []
    assert all(len(note["text"]) <= TRACE_NOTE_CHARS for note in line["belief"]["notes"])
    assert sum(estimate_tokens(note["text"]) for note in line["belief"]["notes"]) <= TRACE_BELIEF_TOKENS


def test_a_slow_extractor_does_not_outlive_the_run():
    class Slow(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(30)

    run = RunState(TASK, Slow({}), StructuredMemory, run_id="r", bounds=Bounds(seconds=0.05))
    admitted(run, FILM)
    assert len(run.evidence) == 1
    assert "the time was up" in run.error_log[-1].message


def test_facts_go_before_the_writer_and_so_do_the_passages_behind_them():
    run = begun({"extract": [FOUND]}, FreeformMemory, bounds=Bounds(sources=2))
    admitted(run, *ASKED, FILM)
    fact, *sources = select_writer_notes(run)
    assert (fact.kind, fact.text, fact.handles) == (BELIEF_KIND, FILM.text, ("[5]",))
    assert len(sources) == 2
    assert FILM.text in [note.text for note in sources]
    without = begun({}, TrajectoryMemory, bounds=Bounds(sources=2))
    assert FILM.text not in [note.text for note in select_writer_notes(admitted(without, *ASKED, FILM))]


def test_a_fact_whose_passages_are_left_out_is_left_out():
    both = ExtractedFact("The Silver Lamp was directed by Ada Lind, says letter 0.", ("[1]", "[5]"))
    run = begun({"extract": [Extraction((both,))]}, bounds=Bounds(sources=1))
    admitted(run, *ASKED, FILM)
    assert [note.kind for note in select_writer_notes(run)] == ["text"]


def test_a_memory_that_keeps_little_is_not_called_a_full_prompt():
    run = begun({"extract": [FOUND], "reflect": [ReflectionResponse(True, 0.9)]})
    admitted(run, *ASKED, FILM)
    asyncio.run(run.reflect())
    (event,) = [event for event in run.take_events() if isinstance(event, PromptCompacted)]
    assert event.why == "the memory keeps less than it has seen"


def test_what_is_open_is_a_gap():
    run = begun({"plan": [PlanResponse((PlannedQuery("a"),))], "reflect": [ReflectionResponse(False, 0.1, ("this",))]})
    run.open_questions.add("that")
    assert run.gaps == ("that",)
    asyncio.run(run.reflect())
    assert run.gaps == ("this", "that")
