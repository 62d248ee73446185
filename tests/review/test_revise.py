"""The draft is revised in one call, however long it is."""

import asyncio

import pytest

from suffice.answers import Draft, Statement
from suffice.claims.verify import Checked
from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts.judging import EvaluationIssue
from suffice.prompts.writing import SynthesisResponse
from suffice.review.revise import list_sections, revise_draft
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, make_passage
from suffice.text.parts import parse_parts, render_parts
from suffice.text.tokens import estimate_tokens

TEXT = (
    "# Title\n\n## One\n\n" + "Something that is true [1]. " * 2000 + "\n\n### Detail\n\nmore [1]\n\n## Two\n\nlast [1]"
)


def revise(answers, text=TEXT):
    model = ScriptedModel({"revise": answers})
    run = RunState("Explain all of it", model, TrajectoryMemory, run_id="r")
    run.evidence.add(make_passage("p1", "Something that is true."))
    revised = asyncio.run(revise_draft(run, Checked(Draft(parse_parts(text))), ("depth, “One”: shallow",)))
    return (None if revised is None else render_parts(revised.parts, str)), model


def test_a_long_text_is_revised_in_one_call_and_may_stay_as_long():
    answer, model = revise([SynthesisResponse("whole [1]")])
    assert answer == "whole [1]"
    [prompt] = model.prompts
    assert "### Detail" in prompt.text.text
    assert prompt.max_tokens > estimate_tokens(prompt.text.text) > 8_192


@pytest.mark.parametrize(
    ("issue", "languages", "shown"),
    [
        (EvaluationIssue("depth", "One", "say how the wheels turn"), "", ["[3]"]),
        (EvaluationIssue("grounded", "One", "who says so?", "It is blue [1]."), "", ["[1]"]),
        (EvaluationIssue("structure", "One", "the wheels come too late"), "", ["[4]"]),
        (EvaluationIssue("depth", "One", "es fehlt, wie es sich dreht"), "English", ["[1]", "[2]"]),
    ],
)
def test_the_reviser_sees_what_is_near_to_the_issues_and_what_a_doubted_sentence_cites(issue, languages, shown):
    model = ScriptedModel({"revise": [SynthesisResponse("whole [1]")]})
    run = RunState("Explain the mill", model, TrajectoryMemory, run_id="r")
    run.scope_languages = languages
    for number, text in enumerate(("It is blue.", "Pigs fly.", "Its wheels turn.", "A mill grinds."), 1):
        run.evidence.add(make_passage(f"p{number}", text, ""))
    draft = Draft(parse_parts("It is blue [1]. Pigs fly [2]."))
    asyncio.run(revise_draft(run, Checked(draft), ("depth, “One”: shallow",), [issue]))
    [prompt] = model.prompts
    assert [handle for note in prompt.notes for handle in note.handles] == shown


def test_without_a_revision_the_result_is_none():
    assert revise([ModelError("dizzy")])[0] is None
    assert revise([SynthesisResponse(" ")], "short")[0] is None


def test_the_sections_that_an_issue_may_name():
    assert list_sections(Draft(parse_parts(TEXT))) == ("One", "Detail", "Two")
    assert list_sections(Draft(parse_parts("No heading."), lists={"Risks": (Statement("Rust."),)})) == ("Risks",)


def test_a_list_that_the_revision_writes_as_a_section_does_not_come_back():
    model = ScriptedModel({"revise": [SynthesisResponse("## Recommendations\n\nOne comes first.\n\n- Oil it [1].")]})
    run = RunState("Explain all of it", model, TrajectoryMemory, run_id="r")
    run.evidence.add(make_passage("p1", "Oil it."))
    draft = Draft(
        parse_parts("Text [1]."), lists={"Recommendations": (Statement("Paint it."),), "Risks": (Statement("Rust."),)}
    )
    revised = asyncio.run(revise_draft(run, Checked(draft), ("depth: shallow",)))
    assert revised is not None
    assert list_sections(revised) == ("Recommendations", "Risks")
    assert "Paint it." not in str(revised)


def test_a_passage_that_an_issue_names_is_shown():
    model = ScriptedModel({"revise": [SynthesisResponse("It is blue [1].")]})
    run = RunState("What is a mill?", model, TrajectoryMemory, run_id="r")
    for number, text in enumerate(("It is blue.", "Unrelated words alone."), 1):
        run.evidence.add(make_passage(f"p{number}", text, ""))
    issue = EvaluationIssue("completeness", "", "what [2] says is left out")
    asyncio.run(revise_draft(run, Checked(Draft(parse_parts("It is blue [1]."))), (), [issue]))
    assert "[2]" in [handle for note in model.prompts[0].notes for handle in note.handles]
