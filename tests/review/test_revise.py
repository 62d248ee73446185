"""A long text is revised in the sections that the issues name; the rest stays unchanged."""

import asyncio

from suffice.answers import Draft
from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts.writing import SynthesisResponse
from suffice.review.revise import MAX_WHOLE_CHARS, revise_draft
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, make_passage
from suffice.text.parts import parse_parts, render_parts

FILL = "Something that is true [1]. " * (MAX_WHOLE_CHARS // 40)
TEXT = (
    f"# Title\n\n## One\n\n{FILL.strip()}\n\n## Two\n\n{FILL}\n\n### Detail\n\nmore [1]\n\n## Three\n\nlast words [1]"
)


def revise(answers, issues, text=TEXT):
    model = ScriptedModel({"revise": answers})
    run = RunState("task", model, TrajectoryMemory, run_id="r")
    run.evidence.add(make_passage("p1", "Something that is true."))
    revised = asyncio.run(revise_draft(run, Draft(parse_parts(text)), issues))
    return (None if revised is None else render_parts(revised.parts, str)), model


def test_only_named_sections_are_rewritten():
    answer, model = revise(
        [lambda prompt: SynthesisResponse(f"## Renamed\n\nbetter {prompt.section} [1]")],
        ("depth, “Two”: shallow", "relevance, “Three”: drifts", "structure, the whole text: loose"),
    )
    assert answer == f"# Title\n\n## One\n\n{FILL.strip()}\n\n## Two\n\nbetter Two [1]\n\n## Three\n\nbetter Three [1]"
    assert [prompt.section for prompt in model.prompts] == ["Two", "Three"]
    assert model.prompts[0].issues == ("depth, “Two”: shallow", "structure, the whole text: loose")
    assert "### Detail" in model.prompts[0].text.text


def test_a_section_stays_if_its_revision_fails():
    answer, _ = revise([ModelError("dizzy"), SynthesisResponse("new [1]")], ("depth, “One”: x", "depth, “Three”: y"))
    assert answer.startswith(f"# Title\n\n## One\n\n{FILL.strip()}")
    assert answer.endswith("## Three\n\nnew [1]")


def test_a_long_text_without_a_named_section_is_rewritten_whole():
    answer, model = revise([SynthesisResponse("whole [1]")], ("structure, the whole text: loose",))
    assert answer == "whole [1]"
    assert [prompt.section for prompt in model.prompts] == [""]


def test_without_a_revision_the_result_is_none():
    assert revise([ModelError("dizzy")], ("depth, “One”: x",))[0] is None
    assert revise([SynthesisResponse(" ")], ("depth, “One”: x",), "short")[0] is None
