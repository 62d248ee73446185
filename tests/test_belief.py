"""``BeliefState``: what another agent's loop knows, kept by a model that sees the belief and the new passages only."""

import asyncio

import pytest

from suffice import BeliefState, InputError
from suffice.errors import ModelError
from suffice.prompts.belief import ExtractedFact, Extraction
from suffice.prompts.lab import RewriteNotes
from suffice.testing import ScriptedModel

QUESTION = "Who founded the works that built the bridge?"
BRIDGE = {"id": "p1", "title": "Bridge", "text": "The bridge was built by Halloran Works."}
WORKS = {"id": "p2", "text": "Halloran Works was founded by Ida Halloran."}


def observe(belief, *rounds):
    async def go():
        return [await belief.observe(list(passages)) for passages in rounds]

    return asyncio.run(go())


def facts(*texts, handle="[1]", questions=()):
    return Extraction(tuple(ExtractedFact(text, (handle,)) for text in texts), (), tuple(questions))


def test_facts_and_open_questions_are_kept_and_rendered():
    first = facts(BRIDGE["text"], questions=["Who founded Halloran Works?"])
    second = Extraction((ExtractedFact(WORKS["text"], ("[2]",), ""),), ("Who founded Halloran Works?",), ())
    belief = BeliefState(QUESTION, ScriptedModel({"extract": [first, second]}))
    assert belief.render() == ""
    before, after = observe(belief, [BRIDGE], [BRIDGE, WORKS])
    assert '"open_questions": ["Who founded Halloran Works?"]' in before
    assert '"open_questions": []' in after
    assert [note.text for note in belief.facts] == [BRIDGE["text"], WORKS["text"]]
    assert [belief.find_source(handle) for note in belief.facts for handle in note.handles] == ["p1", "p2"]
    assert belief.open_questions == ()
    assert belief.usage.calls == 2


def test_the_model_sees_the_belief_and_what_is_new():
    model = ScriptedModel({"extract": [facts(BRIDGE["text"]), Extraction()]})
    observe(BeliefState(QUESTION, model), [BRIDGE], [BRIDGE, WORKS])
    assert [note.text for note in model.prompts[1].known] == [BRIDGE["text"]]
    assert [note.text for note in model.prompts[1].observation] == [WORKS["text"]]


def test_known_passages_cost_nothing():
    model = ScriptedModel({"extract": [facts(BRIDGE["text"])]})
    observe(BeliefState(QUESTION, model), [BRIDGE], [BRIDGE], [])
    assert len(model.prompts) == 1


def test_a_freeform_belief_is_rewritten_and_keeps_only_verbatim_sentences():
    texts = [
        "Halloran Works built it. [1] No evidence was found for its founder.\n\n"
        '**Word for word:**\n- "the bridge was built by Halloran Works" [1]\n\nStill open:\n- Who founded them?',
        "Ida founded them [2].\n\nWord for word:\n- Ida founded everything [2]",
    ]
    model = ScriptedModel({"notes": [RewriteNotes.parse(text) for text in texts]})
    belief = BeliefState(QUESTION, model, style="freeform")
    first, second = observe(belief, [BRIDGE], [WORKS])
    assert first == (
        "Halloran Works built it. [1]\n"
        'Word for word:\n- "the bridge was built by Halloran Works" [1]\nStill open:\n- Who founded them?'
    )
    assert "JSON" not in model.prompts[0].render()
    assert second == "Ida founded them [2]."
    assert any("everything" in problem for problem in belief.problems)


def test_a_failed_call_leaves_the_belief_as_it_was():
    belief = BeliefState(QUESTION, ScriptedModel({"extract": [facts(BRIDGE["text"]), ModelError("gone")]}))
    before, after = observe(belief, [BRIDGE], [WORKS])
    assert before == after
    assert "gone" in belief.problems[0]


def test_searches_of_one_turn_are_taken_in_one_after_the_other():
    model = ScriptedModel({"extract": [facts(BRIDGE["text"]), facts(WORKS["text"], handle="[2]")]})
    belief = BeliefState(QUESTION, model)

    async def go():
        await asyncio.gather(belief.observe([BRIDGE]), belief.observe([WORKS]))

    asyncio.run(go())
    assert len(belief.facts) == 2


def test_a_model_can_be_named():
    belief = BeliefState("Who founded Halloran Works?", "extractive")
    (text,) = observe(belief, [WORKS])
    assert WORKS["text"] in text


def test_wrong_arguments_are_explained():
    with pytest.raises(InputError, match="verbose"):
        BeliefState(QUESTION, ScriptedModel({}), style="verbose")
    with pytest.raises(InputError, match="target"):
        BeliefState(QUESTION, ScriptedModel({}), trigger=2, target=3)
    with pytest.raises(InputError, match='"id" and "text"'):
        observe(BeliefState(QUESTION, ScriptedModel({})), [{"id": "p1"}])
