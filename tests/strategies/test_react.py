"""ReAct: Search makes a round, Lookup does not, Finish ends; a malformed action is retried once."""

import asyncio
import re

import pytest

from suffice.errors import ModelError
from suffice.prompts.agents import ReActStepResponse
from suffice.report.draft import select_writer_notes
from suffice.strategies.react import MAX_LOOKUPS, Action, ReActStrategy, parse_action
from suffice.testing import ScriptedModel
from suffice.types import Bounds

from .conftest import TASK


def act(action, argument="", thought="I think."):
    return ReActStepResponse(thought, action, argument)


def acts(*answers):
    return {"act": list(answers)}


def test_search_and_finish(play):
    script = acts(act("Search", "Meridian bridge"), act("Search", "Halloran Works"), act("Finish", "Ida Halloran"))
    played = play(ReActStrategy(), script)
    assert played.queries == [("Meridian bridge",), ("Halloran Works",)]
    assert played.stop.reason == "planner_done"
    assert played.prompts[2].steps == (
        "Thought: I think. Action: Search[Meridian bridge]",
        "Thought: I think. Action: Search[Halloran Works]",
    )


def test_the_answer_of_finish_pins_passages(play):
    script = acts(act("Search", "Halloran steel"), act("Search", "Graz river"), act("Finish", "Ida Halloran"))
    played = play(ReActStrategy(), script, bounds=Bounds(sources=1))
    assert played.run.pinned_ids == {"works"}
    assert [note.title for note in select_writer_notes(played.run)] == ["Halloran Works"]


def test_an_answer_in_no_passage_pins_nothing(play):
    script = acts(act("Search", "Halloran Works"), act("Finish", "Napoleon"))
    assert play(ReActStrategy(), script).run.pinned_ids == set()


def test_finish_ends_the_search_for_good(play):
    strategy = ReActStrategy()
    play(strategy, acts(act("Search", "Graz"), act("Finish", "")))
    again = play(strategy, acts(act("Search", "Mur")))
    assert (again.queries, again.prompts) == ([], [])


def test_a_lookup_shows_the_next_sentence_and_costs_no_round(play):
    lookups = [act("Lookup", "halloran works")] * 3
    played = play(ReActStrategy(), acts(act("Search", "Halloran Works steel"), *lookups, act("Finish", "steel")))
    assert len(played.queries) == 1
    seen = [[note.text for note in prompt.looked_up] for prompt in played.prompts]
    assert seen[2] == ["Halloran Works was founded by Ida Halloran in 1850."]
    assert seen[3][1] == "Halloran Works made steel."
    assert seen[4][2] == "halloran works: no more results"
    assert played.prompts[2].looked_up[0].handles == ("[1]",)
    assert "(Result 1 / 2)" in played.prompts[2].steps[-1]


def test_looked_up_text_is_fenced_in_the_prompt(play):
    played = play(ReActStrategy(), acts(act("Search", "Halloran steel"), act("Lookup", "steel"), act("Finish", "x")))
    prompt = played.prompts[2].render()
    fenced = re.findall(r"<<<\n(.*?)\n>>>", prompt, re.DOTALL)
    assert any("Halloran Works made steel." in text for text in fenced)


def test_lookups_between_searches_are_bounded(play):
    played = play(ReActStrategy(), acts(act("Search", "Graz"), act("Lookup", "Mur")), rounds=2)
    assert played.queries == [("Graz",), ("Mur",)], "the fourth lookup becomes a search"
    assert len(played.prompts) == 1 + MAX_LOOKUPS + 1


def test_lookups_are_cleared_after_a_search(play):
    script = acts(act("Search", "Graz"), act("Lookup", "Mur"), act("Search", "Halloran"), act("Finish", "x"))
    assert play(ReActStrategy(), script).prompts[3].looked_up == ()


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (act("Dance", "now"), "none of Search, Lookup, Finish"),
        (act("", "words"), "none of Search"),
        (act("Search", " "), "needs an argument"),
        (act("Lookup"), "needs an argument"),
        (act("Finish", "from memory"), "nothing was searched"),
    ],
)
def test_a_malformed_action_is_retried_with_the_reason(play, bad, why):
    played = play(ReActStrategy(), acts(bad, act("Search", "Graz"), act("Finish", "Graz")))
    assert played.queries == [("Graz",)]
    assert why in played.prompts[1].complaint
    assert why in played.prompts[1].render()
    assert played.prompts[2].complaint == ""
    assert [where for where, _ in played.failures] == ["act"]


def test_after_two_malformed_actions_the_thought_is_searched(play):
    played = play(ReActStrategy(), acts(act("Dance", thought="Halloran Works made it")), rounds=1)
    assert played.queries == [("Halloran Works made it",)]
    assert len(played.prompts) == 2


def test_malformed_actions_without_end_are_bounded(play):
    played = play(ReActStrategy(), acts(act("Dance", thought="")), rounds=9)
    assert played.queries[0] == (TASK,)
    assert len(played.prompts) <= 2 * (len(played.queries) + 1)
    assert played.stop.reason in ("planner_done", "budget_rounds")


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (act("search", " Graz  Mur "), Action("search", "Graz Mur")),
        (act("Search[Graz]"), Action("search", "Graz")),
        (act(" Lookup [Mur] "), Action("lookup", "Mur")),
        (act("Finish[list[int]]"), Action("finish", "list[int]")),
        (act("Finish[cut off"), Action("finish", "cut off")),
        (act("Finish"), Action("finish", "")),
        (act("I would Search[Graz]"), None),
        (act("Searching"), None),
    ],
)
def test_parsing_an_action(answer, action):
    assert parse_action(answer) == action


def test_a_failed_call_is_logged_and_the_search_continues(play):
    played = play(ReActStrategy(), acts(act("Search", "Meridian bridge"), ModelError("dizzy")), rounds=3)
    assert len(played.queries) == 3
    assert played.queries[1] == (TASK,)
    assert played.failures == [("act", "dizzy")] * 2


def test_without_any_answer_the_question_is_searched(play):
    played = play(ReActStrategy(), acts(ModelError("dizzy")), rounds=2)
    assert played.queries[0] == (TASK,)
    assert len(played.prompts) == 2, "a failed call is not repeated: the model wrapper retries"


def test_the_model_is_not_asked_when_the_tokens_are_spent(play):
    script = acts(act("Search", "Meridian bridge"), act("Lookup", "Mur"))
    played = play(ReActStrategy(), script, bounds=Bounds(tokens=1), rounds=3)
    assert len(played.prompts) == 1


def test_the_time_limit_interrupts_a_slow_model(play):
    class Slow(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(600)

    played = play(ReActStrategy(), Slow({}), bounds=Bounds(seconds=0.05))
    assert (played.stop.reason, played.queries) == ("budget_time", [])


def test_a_repeated_query_is_replaced_by_a_follow_up(play):
    played = play(ReActStrategy(), acts(act("Search", "Meridian bridge")), rounds=3)
    assert len(set(played.queries)) == 3
