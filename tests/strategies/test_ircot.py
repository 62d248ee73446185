"""IRCoT: one sentence a round; the last one that states something is the next query."""

import pytest

from suffice.errors import ModelError
from suffice.prompts.base import TextResponse
from suffice.strategies.ircot import IRCoTStrategy, is_reasoning
from suffice.types import Bounds

from .conftest import TASK


def thoughts(*sentences):
    return {"thought": [TextResponse(sentence) for sentence in sentences]}


def test_the_question_is_searched_first_then_each_sentence(play):
    script = thoughts("Halloran Works built it.", "Ida Halloran founded Halloran Works.", "So the answer is: Trieste.")
    played = play(IRCoTStrategy(), script)
    assert played.queries == [(TASK,), ("Halloran Works built it.",), ("Ida Halloran founded Halloran Works.",)]
    assert played.stop.reason == "planner_done"
    assert [prompt.thoughts for prompt in played.prompts][-1] == (
        "Halloran Works built it.",
        "Ida Halloran founded Halloran Works.",
    )


@pytest.mark.parametrize("last", ["", "   ", "The answer is Trieste", "so the ANSWER IS: Trieste", "Answer is: Graz."])
def test_it_ends_with_an_answer_or_an_empty_sentence(play, last):
    played = play(IRCoTStrategy(), thoughts(last))
    assert (played.stop.reason, len(played.queries)) == ("planner_done", 1)


def test_a_finished_chain_does_not_ask_the_model_again(play):
    strategy = IRCoTStrategy()
    played = play(strategy, thoughts("The answer is: Graz."))
    again = play(strategy, thoughts("Halloran Works built it."))
    assert len(played.prompts) == 1
    assert (again.queries, again.prompts) == ([], [])


def test_the_passages_with_the_answer_are_pinned(play):
    played = play(IRCoTStrategy(), thoughts("Ida Halloran was born.", "So the answer is: Trieste."))
    assert played.run.pinned_ids == {"ida"}


def test_a_sentence_that_only_reasons_is_not_searched(play):
    played = play(IRCoTStrategy(), thoughts("Halloran Works built it.", "Thus 1850 - 1820 = 30.", "The answer is x"))
    assert played.queries[1] == ("Halloran Works built it.",)
    assert len(played.queries) == 3, "the sentence before it was asked already, so a follow-up is asked"
    assert "1820" not in str(played.queries)


@pytest.mark.parametrize(
    "sentence", ["Thus, he was.", "so it is", "Therefore Graz", "Hence it", "It is 1,850 + 20 = 1,870 now"]
)
def test_sentences_that_only_reason(sentence):
    assert is_reasoning(sentence)


@pytest.mark.parametrize(
    "sentence", ["Sofia is a city.", "Thusnelda was a princess.", "He won 3 - 2 in 1850.", "So-called"]
)
def test_sentences_that_state_something(sentence):
    assert not is_reasoning(sentence)


def test_only_the_first_sentence_counts(play):
    played = play(IRCoTStrategy(), thoughts(" Dr. Ida founded it. The answer is: Graz.", "The answer is: Graz."))
    assert played.queries == [(TASK,), ("Dr. Ida founded it.",)]


def test_it_ends_at_its_bound(play):
    count = iter(range(100))
    played = play(IRCoTStrategy(), {"thought": [lambda prompt: TextResponse(f"Fact number {next(count)} of Graz.")]})
    assert (played.stop.reason, len(played.queries)) == ("budget_rounds", 5)


def test_a_failed_call_is_logged_and_follow_ups_are_asked(play):
    script = {"thought": [TextResponse("Halloran Works built it."), ModelError("dizzy")]}
    played = play(IRCoTStrategy(), script, rounds=3)
    assert len(played.queries) == 3
    assert ("thought", "dizzy") in played.failures
    assert len(played.queries[2][0].split()) > 5, "a follow-up has the words of the question"


def test_a_model_that_repeats_itself_does_not_stop_the_run(play):
    played = play(IRCoTStrategy(), thoughts("Halloran Works built it."), rounds=4)
    assert played.stop.reason in ("budget_rounds", "planner_done")
    assert len(set(played.queries)) == len(played.queries) >= 3


def test_the_model_is_not_asked_when_the_tokens_are_spent(play):
    played = play(IRCoTStrategy(), thoughts("Halloran Works built it."), rounds=3, bounds=Bounds(tokens=1))
    assert len(played.prompts) <= 1
