"""Section by section, in parallel, joined under the outline's headings."""

import asyncio

import pytest

from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.models.extractive import ExtractiveModel
from suffice.prompts import PlanResponse, SynthesisResponse
from suffice.report.draft import NOTES_PER_SECTION, draft_answer, find_list_sections
from suffice.state.outline import TopicOutline
from suffice.state.run import RunState
from suffice.testing import ScriptedModel
from suffice.types import Note

NOTES = tuple(
    Note(f"{metal.title()} was mined near {place}.", (f"[{n}]",), metal.title())
    for n, (metal, place) in enumerate((("copper", "Graz"), ("silver", "Linz"), ("tin", "Wels")), 1)
)


TOWNS = ("Graz", "Linz", "Wels")


def written(model, topics, notes=NOTES, told=("tell this",), task="Where were copper and silver mined?"):
    run = RunState(task, model, TrajectoryMemory, run_id="r")
    if topics:
        run.outline = TopicOutline()
        run.outline.add_topics(list(topics), list(topics))
    return asyncio.run(draft_answer(run, notes, told)), run


def section(prompt):
    return SynthesisResponse(
        f"About {prompt.section}: it was mined [1].\n\nBoth say this [2].",
        f"{prompt.section} in short [1]",
        (f"{prompt.section} finding [1]",),
        open_questions=("how much?",),
    )


def test_each_topic_gets_its_section_in_the_outlines_order():
    model = ScriptedModel({"draft": [section]})
    answer, _ = written(model, ("copper", "silver"))
    assert answer.answer == (
        "## copper\n\nAbout copper: it was mined [1].\n\nBoth say this [2].\n\n## silver\n\nAbout silver: it was mined [1]."
    )
    assert answer.summary == "copper in short [1]"
    assert answer.key_findings == ("copper finding [1]", "silver finding [1]")
    assert answer.open_questions == ("how much?",)
    assert [ask.caveats for ask in model.prompts] == [("tell this",), ()], "the reader is told once"


def test_sections_are_written_at_the_same_time():
    waiting, most = 0, 0

    class Slow(ScriptedModel):
        async def __call__(self, prompt):
            nonlocal waiting, most
            waiting += 1
            most = max(most, waiting)
            await asyncio.sleep(0.01)
            waiting -= 1
            return await super().__call__(prompt)

    written(Slow({"draft": [section]}), ("copper", "silver", "tin"))
    assert most == 3


def test_a_section_is_written_from_the_notes_nearest_to_it():
    notes = tuple(Note(f"{'copper' if n % 2 else 'silver'} fact {n}", (f"[{n}]",)) for n in range(1, 41))
    model = ScriptedModel({"draft": [section]})
    written(model, ("copper", "silver"), notes)
    for prompt in model.prompts:
        assert len(prompt.notes) == NOTES_PER_SECTION
        assert all(prompt.section in note.text for note in prompt.notes)


@pytest.mark.parametrize("topics", [(), ("copper",)])
def test_without_two_topics_the_answer_is_one_piece(topics):
    model = ScriptedModel({"draft": [SynthesisResponse("All of it [1].")]})
    answer, _ = written(model, topics)
    assert answer.answer == "All of it [1]."
    assert [ask.section for ask in model.prompts] == [""]


def test_a_section_that_failed_is_left_out_and_recorded():
    answer, run = written(ScriptedModel({"draft": [ModelError("dizzy"), section]}), ("copper", "silver"))
    assert "## silver" in answer.answer
    assert "## copper" not in answer.answer
    assert [failure.where for failure in run.error_log] == ["draft"]


def test_no_section_at_all_is_a_failure():
    with pytest.raises(ModelError):
        written(ScriptedModel({"draft": [ModelError("dizzy")]}), ("copper", "silver"))


def test_topics_without_evidence_fall_back_to_the_whole():
    answers = [lambda prompt: SynthesisResponse("" if prompt.section else "Whole [1].")]
    answer, _ = written(ScriptedModel({"draft": answers}), ("lead", "gold"))
    assert answer.answer == "Whole [1]."


def test_a_heading_is_text_not_markup():
    answer, _ = written(ScriptedModel({"draft": [section]}), ("*copper* [1]", "silver"))
    assert answer.answer.startswith("## \\*copper\\* \\[1\\]\n")


def test_without_a_language_model_nothing_is_quoted_twice():
    answer, _ = written(ExtractiveModel(), ("Copper", "Silver"))
    assert "## Copper" in answer.answer
    for note in NOTES[:2]:
        assert answer.answer.count(note.text.rstrip(".")) == 1


def listed(count, start=1):
    return SynthesisResponse("\n\n".join(f"## {n}. Thing {n}\n\nfact [1]" for n in range(start, start + count)))


def test_a_list_that_is_too_short_is_asked_for_once_more():
    model = ScriptedModel({"draft": [listed(1), listed(3)]})
    answer, _ = written(model, (), task="What are the top 3 metals?")
    assert answer == listed(3)
    assert [bool(ask.correction) for ask in model.prompts] == [False, True]
    assert [ask.count for ask in model.prompts] == [3, 3]


@pytest.mark.parametrize("second", [ModelError("dizzy"), listed(1), SynthesisResponse("")])
def test_a_list_that_stays_short_goes_on_with_what_there_is(second):
    answer, _ = written(ScriptedModel({"draft": [listed(2), second]}), (), task="What are the top 3 metals?")
    assert answer == listed(2)


def test_a_list_is_written_whole_although_there_is_an_outline():
    model = ScriptedModel({"draft": [listed(2)]})
    written(model, ("copper", "silver"), task="What are the top 2 metals?")
    assert [ask.section for ask in model.prompts] == [""]


def test_the_parts_of_a_demanding_task_become_sections():
    model = ScriptedModel({"draft": [section]})
    run = RunState("Compare them all", model, TrajectoryMemory, run_id="r")
    run.current_plan = PlanResponse(
        (), "deep", subtasks=("copper", "silver"), notes="be brief", known_facts=("tin melts",)
    )
    answer = asyncio.run(draft_answer(run, NOTES, ()))
    assert answer.answer.startswith("## copper\n\n")
    assert [ask.section for ask in model.prompts] == ["copper", "silver"]
    assert model.prompts[0].advice == ("be brief", "tin melts")


@pytest.mark.parametrize(("wanted", "there"), [(2, 2), (3, 3), (9, 3)])
def test_without_a_language_model_a_list_quotes_one_sentence_an_item(wanted, there):
    notes = tuple(Note(f"The copper mine of {town} is deep.", (f"[{n}]",), town) for n, town in enumerate(TOWNS, 1))
    answer, _ = written(ExtractiveModel(), (), notes, task=f"What are the top {wanted} copper mines?")
    assert len(find_list_sections(answer.answer)) == there
    assert answer.answer.startswith("## 1. ")
