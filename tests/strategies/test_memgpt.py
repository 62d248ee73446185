"""A MemGPT-style agent: its core memory, its pages, its warnings, and every ending."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import ModelError
from suffice.memory.evidence import Evidence
from suffice.prompts import MemGPTStepResponse
from suffice.strategies.memgpt import MAX_CALLS, MAX_CORE_CHARS, PAGE_SIZE, CoreMemory, MemGPTStrategy, search_evidence
from suffice.testing import ScriptedModel, make_passage
from suffice.types import Bounds, Usage

from .conftest import TASK


def step(tool, monologue="I think.", **arguments):
    return MemGPTStepResponse(monologue, tool, arguments)


def steps(*answers):
    return {"step": list(answers)}


SEARCH = step("archival_search", query="Meridian bridge")
SEND = step("send_message", message="It was Trieste.")


def test_search_and_send_message(play):
    played = play(MemGPTStrategy(), steps(SEARCH, step("archival_search", query="Ida Halloran born"), SEND))
    assert played.queries == [("Meridian bridge",), ("Ida Halloran born",)]
    assert played.stop.reason == "planner_done"
    assert played.run.pinned_ids == {"ida"}


def test_sent_is_sent(play):
    strategy = MemGPTStrategy()
    play(strategy, steps(SEARCH, SEND))
    again = play(strategy, steps(SEARCH))
    assert (again.queries, again.asks) == ([], [])


def test_core_memory_is_always_in_the_prompt_fenced(play):
    script = steps(
        SEARCH,
        step("core_memory_append", content="Halloran Works built it [1]"),
        step("core_memory_replace", old="built it", new="made >>> it"),
        step("core_memory_replace", old="nowhere", new="x"),
        SEND,
    )
    played = play(MemGPTStrategy(), script)
    assert [[note.text for note in ask.core] for ask in played.asks] == [
        [],
        [],
        ["Halloran Works built it [1]"],
        ["Halloran Works made >>> it [1]"],
        ["Halloran Works made >>> it [1]"],
    ]
    assert "Halloran Works made > > > it [1]\n>>>" in played.asks[3].render()
    assert "refused" in played.asks[4].steps[-1]
    assert len(played.queries) == 1, "memory work costs no round"


def test_recall_pages_through_what_was_admitted(play):
    script = steps(
        step("archival_search", query="Halloran Graz Mur Meridian"),
        step("recall", query="Halloran"),
        step("recall", query="Halloran", page="2"),
        step("archival_search", query="Trieste"),
        SEND,
    )
    played = play(MemGPTStrategy(), script, k=4)
    assert {note.title for note in played.asks[2].page} == {"Meridian bridge", "Halloran Works", "Ida Halloran"}
    assert "page 1 of 1" in played.asks[2].steps[-1]
    assert played.asks[3].page == ()
    assert played.asks[4].page == (), "a page is put away when a search begins"


def test_pages_hold_five():
    evidence = Evidence()
    for number in range(12):
        evidence.add(make_passage(f"p{number}", f"Halloran fact {number}. " + "long " * 500))
    found = search_evidence(evidence, "Halloran")
    assert len(found) == 12
    assert sum(len(note.text) for note in found[:PAGE_SIZE]) <= 3_000


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=900), st.text(max_size=900)), max_size=12))
def test_core_memory_never_exceeds_its_room(edits):
    core = CoreMemory()
    for append, one, other in edits:
        core.append(one) if append else core.replace(one, other)
        assert sum(len(note.text) for note in core.render_notes()) <= MAX_CORE_CHARS
        assert core.fullness <= 1


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (step("dance"), "there is no tool"),
        (step("archival_search"), "needs the argument 'query'"),
        (step("core_memory_append", content=" "), "needs the argument 'content'"),
        (step("core_memory_replace", new="x"), "needs the argument 'old'"),
        (step("recall", query="x", page="zero"), "page number"),
        (step("recall", query="x", page=0), "page number"),
        (step("recall", query="x", page="9" * 5000), "page number"),
        (SEND, "nothing was searched"),
    ],
)
def test_a_malformed_call_is_asked_for_again_with_the_reason(play, bad, why):
    played = play(MemGPTStrategy(), steps(bad, SEARCH, SEND))
    assert played.queries == [("Meridian bridge",)]
    assert why in played.asks[1].render()
    assert [where for where, _ in played.failures] == ["step"]


def test_malformed_twice_searches_for_the_monologue(play):
    played = play(MemGPTStrategy(), steps(step("dance", "Halloran Works made it")), rounds=1)
    assert played.queries == [("Halloran Works made it",)]
    assert len(played.asks) == 2


def test_memory_work_without_end_is_bounded(play):
    played = play(MemGPTStrategy(), steps(SEARCH, step("core_memory_append", content="x" * 150)), rounds=3)
    assert len(played.queries) == 3
    assert played.queries[1] == (TASK,)
    assert len(played.asks) == 1 + 2 * MAX_CALLS


def test_the_warnings_begin_at_three_quarters(play):
    fill = [step("core_memory_append", content="x" * length) for length in (1_400, 120)]
    played = play(MemGPTStrategy(), steps(SEARCH, *fill, SEND))
    assert [bool(ask.pressure) for ask in played.asks] == [False, False, False, True]
    assert "core memory is 76% full" in played.asks[-1].render()


def test_a_full_core_memory_refuses_and_keeps_what_it_had(play):
    fill = step("core_memory_append", content="y" * 1_200)
    played = play(MemGPTStrategy(), steps(SEARCH, fill, fill, SEND))
    assert "refused" in played.asks[-1].steps[-1]
    assert played.asks[-1].core[0].text == "y" * 1_200


def test_spent_tokens_are_warned_of_and_end_the_asking(play):
    model = ScriptedModel(steps(SEARCH, step("recall", query="bridge")), usage=Usage(1, 30, 0))
    played = play(MemGPTStrategy(), model, bounds=Bounds(tokens=100), rounds=3)
    assert len(played.asks) == 4, "30, 60, 90, 120"
    assert "90% of the tokens" in played.asks[3].pressure[0]
    assert len(played.queries) == 3


def test_a_model_that_fails_is_logged_and_the_run_goes_on(play):
    played = play(MemGPTStrategy(), steps(SEARCH, ModelError("dizzy")), rounds=3)
    assert len(played.queries) == 3
    assert played.failures == [("step", "dizzy")] * 2
