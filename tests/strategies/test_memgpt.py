"""MemGPT: core memory, pages of evidence, warnings, and all endings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import ModelError
from suffice.prompts.agents import MemGPTStepResponse
from suffice.strategies.memgpt import MAX_CALLS, MAX_CORE_CHARS, PAGE_SIZE, CoreMemory, MemGPTStrategy, search_passages
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


def test_a_sent_message_ends_the_search_for_good(play):
    strategy = MemGPTStrategy()
    play(strategy, steps(SEARCH, SEND))
    again = play(strategy, steps(SEARCH))
    assert (again.queries, again.prompts) == ([], [])


def test_core_memory_is_fenced_in_every_prompt(play):
    script = steps(
        SEARCH,
        step("core_memory_append", content="Halloran Works built it [1]"),
        step("core_memory_replace", old="built it", new="made >>> it"),
        step("core_memory_replace", old="nowhere", new="x"),
        SEND,
    )
    played = play(MemGPTStrategy(), script)
    assert [[note.text for note in prompt.core] for prompt in played.prompts] == [
        [],
        [],
        ["Halloran Works built it [1]"],
        ["Halloran Works made >>> it [1]"],
        ["Halloran Works made >>> it [1]"],
    ]
    assert "Halloran Works made > > > it [1]\n>>>" in played.prompts[3].render()
    assert "refused" in played.prompts[4].steps[-1]
    assert len(played.queries) == 1, "memory work costs no round"


def test_recall_pages_through_the_evidence(play):
    script = steps(
        step("archival_search", query="Halloran Graz Mur Meridian"),
        step("recall", query="Halloran"),
        step("recall", query="Halloran", page="2"),
        step("archival_search", query="Trieste"),
        SEND,
    )
    played = play(MemGPTStrategy(), script, k=4)
    assert {note.title for note in played.prompts[2].page} == {"Meridian bridge", "Halloran Works", "Ida Halloran"}
    assert PAGE_SIZE == 5
    assert "page 1 of 1" in played.prompts[2].steps[-1]
    assert played.prompts[3].page == ()
    assert played.prompts[4].page == (), "a page is put away when a search begins"


def test_passages_that_share_more_words_come_first():
    works, river = make_passage("1", "Halloran Works."), make_passage("2", "The river.")
    bridge = make_passage("3", "Halloran built a bridge.")
    assert search_passages([river, works, bridge], "Halloran bridge") == [bridge, works]


@given(st.lists(st.tuples(st.booleans(), st.text(max_size=900), st.text(max_size=900)), max_size=12))
def test_core_memory_never_exceeds_its_limit(edits):
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
def test_a_malformed_call_is_retried_with_the_reason(play, bad, why):
    played = play(MemGPTStrategy(), steps(bad, SEARCH, SEND))
    assert played.queries == [("Meridian bridge",)]
    assert why in played.prompts[1].render()
    assert [where for where, _ in played.failures] == ["step"]


def test_after_two_malformed_calls_the_monologue_is_searched(play):
    played = play(MemGPTStrategy(), steps(step("dance", "Halloran Works made it")), rounds=1)
    assert played.queries == [("Halloran Works made it",)]
    assert len(played.prompts) == 2


def test_calls_between_searches_are_bounded(play):
    played = play(MemGPTStrategy(), steps(SEARCH, step("core_memory_append", content="x" * 150)), rounds=3)
    assert len(played.queries) == 3
    assert played.queries[1] == (TASK,)
    assert len(played.prompts) == 1 + 2 * MAX_CALLS


def test_warnings_start_at_three_quarters(play):
    fill = [step("core_memory_append", content="x" * length) for length in (1_400, 120)]
    played = play(MemGPTStrategy(), steps(SEARCH, *fill, SEND))
    assert [bool(prompt.pressure) for prompt in played.prompts] == [False, False, False, True]
    assert "core memory is 76% full" in played.prompts[-1].render()


def test_a_full_core_memory_refuses_an_append(play):
    fill = step("core_memory_append", content="y" * 1_200)
    played = play(MemGPTStrategy(), steps(SEARCH, fill, fill, SEND))
    assert "refused" in played.prompts[-1].steps[-1]
    assert played.prompts[-1].core[0].text == "y" * 1_200


def test_the_agent_is_warned_of_spent_tokens_and_then_not_asked(play):
    model = ScriptedModel(steps(SEARCH, step("recall", query="bridge")), usage=Usage(1, 30, 0))
    played = play(MemGPTStrategy(), model, bounds=Bounds(tokens=100), rounds=3)
    assert len(played.prompts) == 4, "30, 60, 90, 120"
    assert "90% of the tokens" in played.prompts[3].pressure[0]
    assert len(played.queries) == 3


def test_a_failed_call_is_logged_and_the_search_continues(play):
    played = play(MemGPTStrategy(), steps(SEARCH, ModelError("dizzy")), rounds=3)
    assert len(played.queries) == 3
    assert played.failures == [("step", "dizzy")] * 2
