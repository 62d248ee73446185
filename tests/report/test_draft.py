"""The writing instruction, the draft in one piece or in sections, and tidying what a model wrote."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.base import load_template
from suffice.prompts.planning import PlanResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.report.draft import (
    LOOKUP_TOKENS,
    NOTES_PER_SECTION,
    VARIANT_ORDER,
    choose_instruction,
    count_list_sections,
    draft_answer,
    get_task_type,
    limit_output,
    quote_evidence,
    trim_list_sections,
    unwrap_markdown,
)
from suffice.state.outline import TopicOutline
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, make_passage
from suffice.text.parts import parse_parts, render_parts
from suffice.types import Note, Passage, Place, Stop

NOTES = tuple(
    Note(f"{metal.title()} was mined near {place}.", (f"[{n}]",), metal.title())
    for n, (metal, place) in enumerate((("copper", "Graz"), ("silver", "Linz"), ("tin", "Wels")), 1)
)


TOWNS = ("Graz", "Linz", "Wels")


STOP = Stop("budget_rounds", "budget", 1, "heuristic", "")  # A limit: the writer must tell the reader.


def make_run(model, topics, notes=NOTES, task="Where were copper and silver mined?"):
    run = RunState(task, model, TrajectoryMemory, run_id="r")
    for note in notes:
        run.evidence.add(make_passage(note.handles[0], note.text, note.title))
    if topics:
        run.outline = TopicOutline()
        run.outline.add_topics(list(topics), list(topics))
    return run


def write(model, topics, notes=NOTES, task="Where were copper and silver mined?"):
    run = make_run(model, topics, notes, task)
    return asyncio.run(draft_answer(run, notes, STOP)), run


def show(draft):
    return render_parts(draft.parts, lambda quotation: f"[{quotation.passage.id.strip('[]')}]")


def section(prompt):
    return SynthesisResponse(
        f"About {prompt.section}: it was mined [1].\n\nBoth say this [2].",
        "",
        (f"{prompt.section} finding [1]",),
        open_questions=("how much?",),
    )


def test_each_topic_gets_a_section_in_the_order_of_the_outline():
    model = ScriptedModel({"draft": [section]})
    answer, _ = write(model, ("copper", "silver"))
    assert show(answer) == (
        "## copper\n\nAbout copper: it was mined [1].\n\nBoth say this [2].\n\n## silver\n\nAbout silver: it was mined [1]."
    )
    assert [finding.text for finding in answer.lists["Key findings"]] == ["copper finding [1]", "silver finding [1]"]
    assert answer.open_questions == ("how much?",)
    assert [len(prompt.caveats) for prompt in model.prompts] == [1, 0], "only the first section states it"


def test_sections_are_written_at_the_same_time():
    waiting, highest = 0, 0

    class Slow(ScriptedModel):
        async def __call__(self, prompt):
            nonlocal waiting, highest
            waiting += 1
            highest = max(highest, waiting)
            await asyncio.sleep(0.01)
            waiting -= 1
            return await super().__call__(prompt)

    write(Slow({"draft": [section]}), ("copper", "silver", "tin"))
    assert highest == 3


def test_a_section_is_written_from_the_most_similar_notes():
    notes = tuple(Note(f"{'copper' if n % 2 else 'silver'} fact {n}", (f"[{n}]",)) for n in range(1, 41))
    model = ScriptedModel({"draft": [section]})
    write(model, ("copper", "silver"), notes)
    for prompt in model.prompts:
        assert len(prompt.notes) == NOTES_PER_SECTION
        assert all(prompt.section in note.text for note in prompt.notes)


@pytest.mark.parametrize("topics", [(), ("copper",)])
def test_without_two_topics_the_answer_is_one_piece(topics):
    model = ScriptedModel({"draft": [SynthesisResponse("All of it [1].")]})
    answer, _ = write(model, topics)
    assert show(answer) == "All of it [1]."
    assert [prompt.section for prompt in model.prompts] == [""]


def test_a_section_that_failed_is_left_out_and_recorded():
    answer, run = write(ScriptedModel({"draft": [ModelError("dizzy"), section]}), ("copper", "silver"))
    assert "## silver" in show(answer)
    assert "## copper" not in show(answer)
    assert [failure.where for failure in run.error_log] == ["draft"]


def test_without_any_section_the_draft_fails():
    with pytest.raises(ModelError):
        write(ScriptedModel({"draft": [ModelError("dizzy")]}), ("copper", "silver"))


def test_topics_without_evidence_fall_back_to_one_piece():
    answers = [lambda prompt: SynthesisResponse("" if prompt.section else "Whole [1].")]
    answer, _ = write(ScriptedModel({"draft": answers}), ("lead", "gold"))
    assert show(answer) == "Whole [1]."


def test_a_topic_is_escaped_in_its_heading():
    answer, _ = write(ScriptedModel({"draft": [section]}), ("*copper* [1]", "silver"))
    assert show(answer).startswith("## \\*copper\\* \\[1]\n")


def test_without_a_language_model_no_sentence_is_quoted_twice():
    run = make_run(ExtractiveModel(), ("Copper mined", "Silver mined"))
    answer = show(asyncio.run(quote_evidence(run)))
    assert "## Copper" in answer
    for note in NOTES[:2]:
        assert answer.replace("**", "").count(note.text.rstrip(".")) == 1


def listed(count):
    return SynthesisResponse("\n\n".join(f"## {n}. Thing {n}\n\nfact [1]" for n in range(1, count + 1)))


def test_a_list_that_is_too_short_is_requested_once_more():
    model = ScriptedModel({"draft": [listed(1), listed(3)]})
    answer, _ = write(model, (), task="What are the top 3 metals?")
    assert show(answer) == listed(3).answer
    assert [bool(prompt.correction) for prompt in model.prompts] == [False, True]
    assert [prompt.count for prompt in model.prompts] == [3, 3]


@pytest.mark.parametrize("second", [ModelError("dizzy"), listed(1), SynthesisResponse("")])
def test_a_list_that_stays_short_is_used_as_it_is(second):
    answer, _ = write(ScriptedModel({"draft": [listed(2), second]}), (), task="What are the top 3 metals?")
    assert show(answer) == listed(2).answer


def test_a_list_is_written_in_one_piece_although_there_is_an_outline():
    model = ScriptedModel({"draft": [listed(2)]})
    write(model, ("copper", "silver"), task="What are the top 2 metals?")
    assert [prompt.section for prompt in model.prompts] == [""]


@pytest.mark.parametrize(("count", "expected"), [(2, 2), (3, 3), (9, 3)])
def test_without_a_language_model_a_list_quotes_one_sentence_per_item(count, expected):
    notes = tuple(Note(f"The copper mine of {town} is deep.", (f"[{n}]",), town) for n, town in enumerate(TOWNS, 1))
    run = make_run(ExtractiveModel(), (), notes, task=f"What are the top {count} copper mines?")
    answer = asyncio.run(quote_evidence(run))
    assert [quotation.title[:3] for quotation in answer.quotations] == [f"{n}. " for n in range(1, expected + 1)]


def chosen(task, **plan):
    run = RunState(task, ScriptedModel({}), TrajectoryMemory, run_id="r")
    if plan:
        run.current_plan = PlanResponse((), **plan)
    return choose_instruction(run)


@pytest.mark.parametrize(
    ("task", "variant"),
    [
        ("Write an investment thesis for a Python hosting company", "trading"),
        ("Which Python database driver fails in the trials?", "technical"),
        ("What do clinical studies find about sleep?", "research"),
        ("Analyze the causes of the 2008 crisis", "research"),
        ("Assess how remote work changed cities", "research"),
        ("What drove the fall of the lira?", "research"),
        ("How has Lisbon changed since 2000?", "research"),
        ("Write a long thesis for copper miners", "trading"),
        ("Find a trade setup for crude oil", "trading"),
        ("Why does my CUDA kernel stall?", "technical"),
        ("Assess the CUDA memory model", "technical"),
        ("Who built the Meridian bridge?", "prose"),
        ("Why is there interest in apiaries and restaurants?", "prose"),
        ("What are the five most common causes of database corruption?", "count"),
        ("Top 3 stocks", "count"),
    ],
)
def test_variants_are_tried_in_order_and_match_whole_words(task, variant):
    assert chosen(task).variant == variant


@pytest.mark.parametrize(
    ("task", "is_short"),
    [
        ("Who built the Meridian bridge?", True),
        ("In which year was the bridge opened?", True),
        ("Is the bridge open?", True),
        ("Explain how the bridge was built", False),
        ("What are the advantages of stone bridges?", False),
        ("What do clinical studies find about sleep?", False),
    ],
)
def test_a_lookup_gets_a_few_sentences_and_a_survey_a_report(task, is_short):
    run = RunState(task, ScriptedModel({}), TrajectoryMemory, run_id="r")
    assert choose_instruction(run).is_lookup is is_short
    assert (limit_output(run) == LOOKUP_TOKENS) is is_short
    assert is_short or limit_output(run) == run.max_report_tokens == 8192


def test_what_a_skill_asks_for_is_not_cut_to_a_few_sentences():
    run = RunState("Which hive costs more?", ScriptedModel({}), TrajectoryMemory, run_id="r")
    assert choose_instruction(run).is_lookup
    run.skill_instruction = "End with one table."
    assert not choose_instruction(run).is_lookup
    assert choose_instruction(run).text.endswith("End with one table.")


def test_anchors_are_asked_for_only_beside_data_series():
    run = RunState("What do clinical studies find about sleep?", ScriptedModel({}), TrajectoryMemory, run_id="r")
    run.evidence.add(Passage("p", "Sleep helps.", "A study", Place("study.md")))
    assert "anchor" not in choose_instruction(run).text
    run.evidence.add(Passage("FRED:UNRATE:2024-05", "4.0 percent.", "Rate", Place("https://fred.example"), "data"))
    assert "[FRED:SERIES:DATE]" in choose_instruction(run).text


def test_lists_are_offered_for_a_report_and_not_for_a_fact():
    for task, offered in (("Who built the bridge?", False), ("Explain how the bridge was built", True)):
        model = ScriptedModel({"draft": [SynthesisResponse("Stone [1].")]})
        write(model, (), task=task)
        assert ("## Recommendations" in model.prompts[0].render()) is offered


def test_no_english_headings_are_asked_for_in_another_language():
    model = ScriptedModel({"draft": [SynthesisResponse("Stein [1].")]})
    run = make_run(model, (), task="Erkläre, wie die Brücke gebaut wurde")
    run.language = "german"
    asyncio.run(draft_answer(run, NOTES, STOP))
    assert "## " not in model.prompts[0].render()


def test_the_form_that_a_plan_chooses_beats_the_keywords():
    assert chosen("How can the company implement a strategy?").variant == "technical"
    assert chosen("How can the company implement a strategy?", form="prose").variant == "prose"


def test_every_variant_is_a_versioned_file():
    for name in VARIANT_ORDER:
        file = load_template(f"writing/{name}")
        assert file.version.isdigit()
        assert len(file.body.template) > 200
        assert (name == "prose") == (not file.keywords)


def test_the_number_of_items_goes_into_the_instruction():
    instruction = chosen("List the top 4 rivers")
    assert (instruction.count, "Write 4 sections" in instruction.text) == (4, True)


def test_a_plan_can_declare_that_a_task_is_a_list():
    assert chosen("Name the 7 wonders", task_type="enumerated", expected_sections=7).count == 7
    assert chosen("Which rivers cross Graz?", task_type="enumerated").variant == "count"


def test_a_number_that_only_the_plan_mentions_is_ignored():
    instruction = chosen("Which rivers cross Graz?", task_type="enumerated", expected_sections=9)
    assert (instruction.variant, instruction.count, "$" in instruction.text) == ("count", 0, False)


def test_a_number_in_the_task_beats_the_plan():
    assert chosen("What are the top 5 rivers?", task_type="research").count == 5


def test_without_a_plan_the_wording_decides_the_task_type():
    run = RunState("What are best practices for caching?", ScriptedModel({}), TrajectoryMemory, run_id="r")
    assert get_task_type(run) == "best_practices"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Plain [1].", "Plain [1]."),
        ("Sure, here it is:\n\n# Title\n\nText [1].", "# Title\n\nText [1]."),
        ("It is so [1].\n\n# Title\n\nText", "It is so [1].\n\n# Title\n\nText"),
        ("```markdown\n# Title\n\nText [1].\n```", "# Title\n\nText [1]."),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("See [1]:\n\n```python\nx = 1", "See [1]:\n\n```python\nx = 1\n```"),
        ("~~~~\n```\nx", "~~~~\n```\nx\n~~~~"),
    ],
)
def test_wrapping_is_removed(text, clean):
    assert unwrap_markdown(text) == clean
    assert unwrap_markdown(clean) == clean


@given(st.text(alphabet="#`~ a\n[1]", max_size=50))
def test_unwrapping_twice_changes_nothing_more(text):
    assert unwrap_markdown(unwrap_markdown(text)) == unwrap_markdown(text)


LIST = "## Introduction\n\nx\n\n## 1. A\n\na [1]\n\n## 2. B\n\nb [2]\n\n### more\n\n## 3. C\n\nc\n\n## Conclusion:\n\nz"


def test_structural_sections_do_not_count_as_items():
    assert count_list_sections(parse_parts(LIST)) == 3


def test_excess_items_are_cut_and_structural_sections_stay():
    parts = parse_parts(LIST)
    assert trim_list_sections(parts, 2) == parse_parts(LIST.replace("## 3. C\n\nc\n\n", ""))
    assert trim_list_sections(parts, 3) == parts
    assert trim_list_sections(parts, 9) == parts


@given(st.integers(0, 8), st.integers(0, 8))
def test_a_trimmed_list_has_at_most_the_limit(count, limit):
    parts = parse_parts("\n\n".join(f"## {n}. Thing\n\nfact [{n}]" for n in range(1, count + 1)))
    assert count_list_sections(trim_list_sections(parts, limit)) == min(count, limit)


def test_a_list_goes_on_counting_after_a_block_of_code():
    text = "1. Write a key [1].\n\n```\nborg key export\n```\n\n2. Print it [2].\n3. Lock it away.\n"
    shown = render_parts(parse_parts(text), lambda quotation: "")
    assert [line.split()[0] for line in shown.splitlines() if line[:1].isdigit()] == ["1.", "2.", "3."]
    assert "    borg key export" in shown, "the code belongs to its item"
