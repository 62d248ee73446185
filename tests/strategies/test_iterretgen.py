"""Iter-RetGen: each query is the question with the last answer, which comes from the latest passages only."""

from suffice import fixed
from suffice.errors import ModelError
from suffice.prompts.base import TextResponse
from suffice.strategies.iterretgen import IterRetGenStrategy

from .conftest import LIBRARY, TASK


def test_the_last_answer_is_part_of_the_next_query(play):
    script = {"short_answer": [TextResponse("Halloran Works"), TextResponse(" Ida Halloran ")]}
    played = play(IterRetGenStrategy(), script, gate=fixed(3))
    assert played.queries == [(TASK,), (f"{TASK} Halloran Works",), (f"{TASK} Ida Halloran",)]
    assert played.stop.reason == "budget_rounds"


def test_an_answer_comes_from_the_current_passages_only(play):
    count = iter(range(9))
    script = {"short_answer": [lambda prompt: TextResponse(f"Graz {next(count)}")]}
    played = play(IterRetGenStrategy(), script, rounds=4)
    texts = {passage.text for passage in LIBRARY}
    for prompt in played.prompts:
        assert 0 < len(prompt.notes) <= 2 < len(played.run.evidence), "what was shown and what was new, one each"
        assert {note.text for note in prompt.notes} <= texts
        assert all(note.handles for note in prompt.notes)


def test_without_a_new_answer_follow_ups_are_asked(play):
    for script in ([TextResponse("")], [TextResponse("Graz")]):
        played = play(IterRetGenStrategy(), {"short_answer": script}, gate=fixed(4))
        assert len(played.queries) == len(set(played.queries)) == 4


def test_a_failed_call_is_logged_and_the_search_continues(play):
    played = play(IterRetGenStrategy(), {"short_answer": [ModelError("dizzy")]}, gate=fixed(4))
    assert len(played.queries) == 4
    assert played.failures == [("short_answer", "dizzy")] * 3
