"""Agent steps without a language model: a chain of sentences from the question to an answer."""

import pytest

from suffice.models.extractive.agents import (
    answer_briefly,
    choose_action,
    choose_tool_call,
    find_answer,
    find_next_link,
    find_open_words,
    is_covered,
    next_thought,
)
from suffice.prompts.agents import IRCoTStep, MemGPTStep, ReActStep, ShortAnswer
from suffice.types import Note

TASK = "Where was the man born who founded the works that built the Meridian bridge?"
BRIDGE = Note("It rained. The Meridian bridge was built by Halloran Works.", ("[1]",), "Meridian bridge")
WORKS = Note("The works was founded by Ida Halloran.", ("[2]",), "Halloran Works")
IDA = Note("She was a man born in Trieste in 1820.", ("[3]",), "Ida Halloran")
NOTES = (BRIDGE, WORKS, IDA)


def test_thoughts_are_sentences_of_the_evidence_until_the_question_is_covered():
    chain = []
    while not is_covered(TASK, chain):
        chain.append(next_thought(IRCoTStep(TASK, NOTES, tuple(chain))).sentence)
    assert chain == [
        "The Meridian bridge was built by Halloran Works.",
        "Ida Halloran: She was a man born in Trieste in 1820.",
        "The works was founded by Ida Halloran.",
    ]
    assert next_thought(IRCoTStep(TASK, NOTES, tuple(chain))).sentence.startswith("So the answer is: ")


@pytest.mark.parametrize("notes", [(), (Note("", ()),), (Note("it rained and it was cold", ("[1]",), "weather"),)])
def test_without_a_continuing_sentence_there_is_no_thought(notes):
    assert next_thought(IRCoTStep(TASK, notes, ())).sentence == ""
    assert find_next_link(TASK, notes, ()) is None
    assert answer_briefly(ShortAnswer(TASK, notes)).text == ""


def test_a_sentence_is_used_once():
    said = "The Meridian bridge was built by Halloran Works."
    assert find_next_link(TASK, (BRIDGE,), (said,)) is None


def test_react_searches_the_question_then_new_names_then_finishes():
    assert choose_action(ReActStep(TASK, (), (), ())).argument == TASK
    first = choose_action(ReActStep(TASK, (BRIDGE,), (f"Search[{TASK}]",), ()))
    assert first.action == "Search"
    assert first.argument.startswith("Halloran Works ")
    assert "born" in first.argument
    done = choose_action(ReActStep(TASK, (BRIDGE,), (f"Search[{first.argument}]",), ()))
    assert (done.action, done.argument) == ("Finish", "Halloran Works")


def test_react_finishes_when_nothing_was_found():
    assert choose_action(ReActStep(TASK, (), ("Search[x]",), ())).action == "Finish"


def test_memgpt_stores_a_sentence_then_searches_then_answers():
    assert choose_tool_call(MemGPTStep(TASK, (), (), (), (), ())).tool == "archival_search"
    kept = choose_tool_call(MemGPTStep(TASK, (), (BRIDGE,), (), ("archival_search: x",), ()))
    line = "The Meridian bridge was built by Halloran Works. [1]"
    assert (kept.tool, kept.arguments) == ("core_memory_append", {"content": line})
    core = (Note(line, ()),)
    wanted = choose_tool_call(MemGPTStep(TASK, core, (BRIDGE,), (), ("core_memory_append: appended",), ()))
    assert wanted.tool == "archival_search"
    assert "Halloran Works" in wanted.arguments["query"]
    sent = choose_tool_call(
        MemGPTStep(TASK, core, (BRIDGE,), (), (f"archival_search: {wanted.arguments['query']}",), ())
    )
    assert (sent.tool, sent.arguments) == ("send_message", {"message": "Halloran Works"})


def test_short_answers():
    assert answer_briefly(ShortAnswer(TASK, (BRIDGE,))).text == "Halloran Works"
    assert (
        answer_briefly(ShortAnswer("When was the Forth bridge opened?", (Note("It was opened in 1890.", ()),))).text
        == "1890"
    )


def test_an_answer_without_a_name_is_the_sentence():
    assert find_answer("What do bees do?", ["bees dance"]) == "bees dance"
    assert find_answer("What do bees do?", []) == ""


def test_open_words_are_written_as_in_the_question():
    assert find_open_words("Who built the Meridian bridge?", ["bridges"]) == ["built", "Meridian"]
