"""A long text is mended where it is weak; the rest stays word for word."""

import asyncio

from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import SynthesisResponse
from suffice.review.revise import MAX_WHOLE_CHARS, revise_text
from suffice.state.run import RunState
from suffice.testing import ScriptedModel

FILL = "Something that is true [1]. " * (MAX_WHOLE_CHARS // 40)
TEXT = f"# Title\n\n## One\n\n{FILL}\n\n## Two\n\n{FILL}\n\n### Detail\n\nmore [1]\n\n## Three\n\nlast words [1]"


def again(answers, issues, text=TEXT):
    model = ScriptedModel({"revise": answers})
    run = RunState("task", model, TrajectoryMemory, run_id="r")
    return asyncio.run(revise_text(run, SynthesisResponse(text), issues, (), "how")), model


def test_only_the_sections_that_are_named_are_written_again():
    answer, model = again(
        [lambda prompt: SynthesisResponse(f"## Renamed\n\nbetter {prompt.section} [1]")],
        ("depth, “Two”: shallow", "relevance, “Three”: drifts", "structure, the whole text: loose"),
    )
    assert (
        answer.answer == f"# Title\n\n## One\n\n{FILL}\n\n## Two\n\nbetter Two [1]\n\n## Three\n\nbetter Three [1]\n\n"
    )
    assert [ask.section for ask in model.prompts] == ["Two", "Three"]
    assert model.prompts[0].issues == ("depth, “Two”: shallow", "structure, the whole text: loose")
    assert "### Detail" in model.prompts[0].text.text


def test_a_section_that_could_not_be_written_stays():
    answer, _ = again([ModelError("dizzy"), SynthesisResponse("new [1]")], ("depth, “One”: x", "depth, “Three”: y"))
    assert answer.answer.startswith(f"# Title\n\n## One\n\n{FILL}")
    assert answer.answer.endswith("## Three\n\nnew [1]\n\n")


def test_a_long_text_without_a_named_section_is_written_whole():
    answer, model = again([SynthesisResponse("whole [1]")], ("structure, the whole text: loose",))
    assert answer.answer == "whole [1]"
    assert [ask.section for ask in model.prompts] == [""]


def test_nothing_from_the_model_is_nothing():
    assert again([ModelError("dizzy")], ("depth, “One”: x",))[0] is None
    assert again([SynthesisResponse(" ")], ("depth, “One”: x",), "short")[0] is None
