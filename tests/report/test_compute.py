"""A computation becomes a source that shows its code, and may use only values of the task and the sources."""

import asyncio

import pytest

from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts.planning import PlanResponse
from suffice.prompts.writing import ComputeResponse
from suffice.report.compute import find_unsourced_figure, keep_computed_lines, run_computation
from suffice.report.draft import select_writer_notes
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, make_passage
from suffice.types import Bounds, Passage, Place

TASK = "How many years lie between the two bridges?"
TEXT = (
    "The Meridian bridge was built in 1887 for 3.5 million crowns. "
    "The Graz bridge was built in 1903, 12 % of it by 1,450 men."
)
GOOD = ComputeResponse("years = 1903 - 1887\nprint(f'years between the bridges: {years:.0f}')")


def compute(*answers, attempts=3, task=TASK, bounds=Bounds(), text=TEXT):
    model = ScriptedModel({"compute": list(answers)})
    run = RunState(task, model, TrajectoryMemory, run_id="r", bounds=bounds)
    run.evidence.add(make_passage("p1", text, "Bridges"))
    asyncio.run(run_computation(run, attempts))
    return run, model


def test_a_result_becomes_a_source_with_its_code():
    run, _ = compute(GOOD)
    computed = run.evidence.find_passage("[2]")
    assert (computed.kind, computed.location) == ("computed", "computed:1")
    assert computed.text.startswith("Years between the bridges: 16.\n\n")
    assert "1903 - 1887" in computed.text
    assert select_writer_notes(run)[-1].handles == ("[2]",), "the writer sees the result"


def test_the_writer_sees_the_result_even_if_few_sources_are_allowed():
    run, _ = compute(GOOD, bounds=Bounds(sources=1))
    assert [note.handles for note in select_writer_notes(run)] == [("[2]",)]


def test_the_model_gets_the_error_and_may_correct_its_program():
    run, model = compute(ComputeResponse("print(1903 - 1887"), ComputeResponse("import os"), GOOD)
    assert len(run.evidence) == 2
    assert "not valid Python" in model.prompts[1].trouble
    assert "imports os" in model.prompts[2].trouble
    assert [bool(prompt.notes) for prompt in model.prompts[:3]] == [True, False, False], "the program says what it used"
    assert len(run.error_log) == 2


def test_a_computation_may_build_on_another():
    first = ComputeResponse("print(f'years between the bridges: {1903 - 1887}')", more=True)
    second = ComputeResponse("print(f'months between the bridges: {16 * 12}')")
    run, model = compute(first, second)
    assert [passage.location for passage in run.evidence if passage.kind == "computed"] == ["computed:1", "computed:2"]
    assert "16" in model.prompts[1].render()
    assert len(model.prompts) == 2


def test_a_result_is_kept_although_its_label_is_not_in_the_sources():
    run, _ = compute(ComputeResponse("print(f'Span in Gregorian Years: {1903 - 1887}')"))
    assert run.evidence.find_passage("[2]").text.startswith("Result: 16.")
    assert run.error_log == []


def test_the_user_reads_no_error_of_the_parser():
    run, model = compute(ComputeResponse("print(1903 - 1887"), ComputeResponse(""))
    assert "not valid Python" in model.prompts[1].trouble
    assert "Python" not in run.error_log[0].message


@pytest.mark.parametrize(
    "answer", [ComputeResponse("1/0"), ComputeResponse("print(1903 - 1850)"), ComputeResponse("import os")]
)
def test_after_three_attempts_there_is_no_computation(answer):
    run, model = compute(answer)
    assert (len(run.evidence), len(model.prompts)) == (1, 3)


@pytest.mark.parametrize("answer", [ComputeResponse(""), ComputeResponse("  "), ModelError("dizzy")])
def test_an_empty_program_or_an_error_ends_the_computation(answer):
    run, model = compute(answer)
    assert (len(run.evidence), len(model.prompts)) == (1, 1)


def test_a_code_fence_around_the_program_is_removed():
    assert len(compute(ComputeResponse(f"```python\n{GOOD.code}\n```"))[0].evidence) == 2


@pytest.mark.parametrize("options", [{"attempts": 0}, {"text": "No figure."}, {"bounds": Bounds(tokens=0)}])
def test_the_model_is_not_asked_without_need(options):
    assert compute(GOOD, **options)[1].prompts == []


def test_figures_in_the_sources_decide_not_the_words_of_the_task():
    assert compute(GOOD, task="How old was the first bridge when the second one opened?")[1].prompts
    assert compute(GOOD, task="Add up the invoices.")[1].prompts


@pytest.mark.parametrize(
    "code",
    [
        "1903 - 1887",
        "3_500_000 / 1450",
        "3.5e6 * 0.12",
        "print(f'{1450 * 12 / 100:.2f}')",
        "Decimal('3.5')",
        "print('Meridian bridge:', 1887)",
        "round(1 / 2, 1)",
    ],
)
def test_figures_from_the_sources_may_be_used(code):
    assert find_unsourced_figure(code, TEXT) == ""


def test_a_growth_of_some_percent_may_be_a_factor():
    assert find_unsourced_figure("150 / 1.25, 150 * 0.75", "150 tickets a day, a rise of 25 %") == ""


def test_a_number_in_words_is_a_figure_of_the_sources():
    text = "Compare the cost over five years. The rent is 1,450 EUR a month for eleven units."
    assert find_unsourced_figure("1450 * 12 * 5 * 11", text) == ""
    assert "9 occurs in no source" in find_unsourced_figure("1450 * 12 * 9", text)


@pytest.mark.parametrize("code", ["1903 - 1850", "print('cost: 99 million')", "x = '1850'", "f'{1850:.0f}'"])
def test_a_figure_that_no_source_has_is_refused(code):
    assert "in no source" in find_unsourced_figure(code, TEXT)


def test_a_name_that_no_source_has_does_not_become_evidence():
    assert keep_computed_lines("Emperor Franz paid", "print('Emperor Franz paid')", TEXT) == ""
    computed = keep_computed_lines("Emperor Franz paid: 16", "print('Emperor Franz paid:', 1903 - 1887)", TEXT)
    assert computed == "Result: 16"


@pytest.mark.parametrize(("calculates", "asked"), [(None, 1), (True, 1), (False, 0)])
def test_a_strong_model_is_asked_unless_its_plan_says_that_nothing_is_calculated(calculates, asked):
    model = ScriptedModel({"compute": [GOOD]})
    run = RunState(TASK, model, TrajectoryMemory, run_id="r")
    run.is_strong = True
    run.current_plan = PlanResponse((), calculates=calculates)
    run.evidence.add(make_passage("p1", TEXT, "Bridges"))
    asyncio.run(run_computation(run, 1))
    assert len(model.prompts) == asked


@pytest.mark.parametrize("languages", ["", "English"])
def test_of_many_figures_a_strong_model_sees_what_was_computed_and_those_near_to_task_and_plan(languages):
    first = ComputeResponse("print(f'years between the bridges: {1903 - 1887}')", more=True)
    model = ScriptedModel({"compute": [first, ComputeResponse("")]})
    run = RunState(TASK, model, TrajectoryMemory, run_id="r")
    run.is_strong, run.scope_languages = True, languages
    run.current_plan = PlanResponse((), notes="For the masons, with wages.", calculates=True)
    for number in range(300):
        run.evidence.add(
            make_passage(f"o{number}", f"In {number} a baker sold {number} loaves of rye and of wheat bread.")
        )
    run.evidence.add(make_passage("p1", TEXT, "Bridges"))
    run.evidence.add(make_passage("p2", "Masons had wages of 12 crowns.", "Wages"))
    asyncio.run(run_computation(run, 3))
    shown = [[handle for note in prompt.notes for handle in note.handles] for prompt in model.prompts]
    few = [["[301]", "[302]"], ["[301]", "[302]", "[303]"]]
    everything = [f"[{number}]" for number in range(1, 304)]
    assert shown == ([everything[:-1], everything] if languages else few)


def test_figures_may_be_written_as_in_other_languages():
    text = "Der Arbeitspreis ist 11,9 Cent, der Verbrauch 20.000 Kilowattstunden."
    assert find_unsourced_figure("20000 * 11.9 / 100", text) == ""
    assert "in no source" in find_unsourced_figure("20000 * 11.8 / 100", text)


def test_a_row_of_a_sheet_keeps_the_name_of_what_its_figures_are():
    model = ScriptedModel({"compute": [ComputeResponse("")]})
    run = RunState(TASK, model, TrajectoryMemory, run_id="r")
    for number, name in enumerate(("Rent", "Power")):
        text = f"item: {name}\n2023: 7{number}00\n2024: 75{number}2"
        run.evidence.add(Passage(f"p{number}", text, "Costs", Place(f"c.xlsx:row {number}"), "xlsx"))
    asyncio.run(run_computation(run, 1))
    shown = [note.text.splitlines()[0] for note in model.prompts[0].notes]
    assert shown == ["item: Rent", "item: Power"]


def test_a_table_keeps_its_head_beside_its_figures():
    _, model = compute(
        ComputeResponse(""), text="| street | houses |\n|---|---|\n| Elm | 48 |\n| Oak | 55 |\n\nIt is nice."
    )
    assert model.prompts[0].notes[0].text == "| street | houses |\n|---|---|\n| Elm | 48 |\n| Oak | 55 |"
