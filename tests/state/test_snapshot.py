"""What readings, the trace and the writer get of the belief of a run."""

import asyncio

from suffice import budget
from suffice.engine.loop import run_loop
from suffice.events import PromptCompacted, serialize_event
from suffice.memory.freeform import FreeformMemory
from suffice.memory.structured import StructuredMemory
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.prompts.belief import ExtractedFact, Extraction
from suffice.prompts.lab import NotesResponse
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
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


def admit(run, *passages):
    round = Round(len(run.readings) + 1, (Hits(Query("q"), passages),), passages, passages)
    run.readings.append({})
    asyncio.run(run.admit(round))
    return run


def make_run(script, memory=StructuredMemory, **options):
    return RunState(TASK, ScriptedModel(script), memory, run_id="r", **options)


def run_rounds(run, search, rounds=2):
    class Twice:
        async def propose(self, run):
            return [Query(f"query {len(run.records)}")]

    gate = budget(rounds=rounds)

    async def main():
        await run_loop(run, search, Twice(), gate, build_meters(gate.needs))
        return run.event_queue.drain()

    return asyncio.run(main())


def test_the_number_of_open_questions_is_unknown_until_one_is_set():
    run = make_run({}, TrajectoryMemory)
    run_rounds(run, FixtureSearch(default=[FILM]))
    assert [readings["belief.open"] for readings in run.readings] == [None, None]
    assert run.sufficient is None


def test_a_refused_fact_is_an_event_and_in_the_error_log():
    run = make_run({"extract": [Extraction((ExtractedFact("Ada Lind sang.", ("[9]",)),))]})
    events = run_rounds(run, FixtureSearch(default=[FILM]), rounds=1)
    failures = [event.failure for event in events if type(event).__name__ == "Failed"]
    assert failures == run.error_log
    assert {(failure.where, failure.kind) for failure in failures} == {("belief", "Refused")}


def test_a_round_event_has_a_short_form_of_the_belief():
    long = [make_passage(f"p{n}", "The lamp is old and heavy. " * 200, f"Page {n}") for n in range(5)]
    events = run_rounds(make_run({}, TrajectoryMemory), FixtureSearch(default=long), rounds=1)
    line = serialize_event(next(event for event in events if type(event).__name__ == "RoundDone"), "r")
    assert line["belief"]["notes"]
    assert line["belief"]["open"] == []
    assert all(len(note["text"]) <= TRACE_NOTE_CHARS for note in line["belief"]["notes"])
    assert sum(estimate_tokens(note["text"]) for note in line["belief"]["notes"]) <= TRACE_BELIEF_TOKENS


def test_the_time_limit_interrupts_a_slow_extractor():
    class Slow(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(30)

    run = RunState(TASK, Slow({}), StructuredMemory, run_id="r", bounds=Bounds(seconds=0.05))
    admit(run, FILM)
    assert len(run.evidence) == 1
    assert "time ran out" in run.error_log[-1].message


def test_the_writer_gets_the_facts_and_the_passages_behind_them():
    run = make_run({"notes": [NotesResponse(f"{FILM.text} [5]")]}, FreeformMemory, bounds=Bounds(sources=2))
    admit(run, *ASKED, FILM)
    fact, *sources = select_writer_notes(run)
    assert (fact.kind, fact.text, fact.handles) == (BELIEF_KIND, f"- {FILM.text} [5]", ())
    assert len(sources) == 2
    assert FILM.text in [note.text for note in sources]
    without = make_run({}, TrajectoryMemory, bounds=Bounds(sources=2))
    assert FILM.text not in [note.text for note in select_writer_notes(admit(without, *ASKED, FILM))]


def test_half_of_the_tokens_are_left_for_the_check():
    run = make_run({}, TrajectoryMemory, bounds=Bounds(tokens=20_000))
    admit(run, *(make_passage(f"p{n}", f"{n} " * 6_000) for n in range(5)))
    assert sum(estimate_tokens(note.text) for note in select_writer_notes(run)) == 9_000


def test_a_fact_without_all_its_passages_is_left_out():
    both = ExtractedFact("The Silver Lamp was directed by Ada Lind, says letter 0.", ("[1]", "[5]"))
    run = make_run({"extract": [Extraction((both,))]}, bounds=Bounds(sources=1))
    admit(run, *ASKED, FILM)
    assert [note.kind for note in select_writer_notes(run)] == ["text"]


def test_the_reason_for_compaction_is_the_memory_if_the_prompt_has_room():
    run = make_run({"extract": [FOUND], "reflect": [ReflectionResponse(True, 0.9)]})
    admit(run, *ASKED, FILM)
    asyncio.run(run.reflect())
    (event,) = [event for event in run.event_queue.drain() if isinstance(event, PromptCompacted)]
    assert event.why == "the memory stores only part of the evidence"


def test_open_questions_are_gaps():
    run = make_run(
        {"plan": [PlanResponse((PlannedQuery("a"),))], "reflect": [ReflectionResponse(False, 0.1, ("this",))]}
    )
    run.open_questions.add("that")
    assert run.gaps == ("that",)
    asyncio.run(run.reflect())
    assert run.gaps == ("this", "that")
