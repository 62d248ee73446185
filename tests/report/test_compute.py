"""A computation becomes a source with its code; nothing comes in through it that no source has."""

import asyncio

import pytest

from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import ComputeResponse
from suffice.report.compute import find_unsourced_value, needs_computation, run_computation
from suffice.report.draft import select_writer_notes
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, make_passage
from suffice.types import Bounds, Note

TASK = "How many years lie between the two bridges?"
TEXT = (
    "The Meridian bridge was built in 1887 for 3.5 million crowns. "
    "The Graz bridge was built in 1903, 12 % of it by 1,450 men."
)
GOOD = ComputeResponse("years = 1903 - 1887\nprint(f'years between the bridges: {years:.0f}')")


def after(*answers, rounds=3, task=TASK, bounds=Bounds(), text=TEXT):
    model = ScriptedModel({"compute": list(answers)})
    run = RunState(task, model, TrajectoryMemory, run_id="r", bounds=bounds)
    run.evidence.add(make_passage("p1", text, "Bridges"))
    asyncio.run(run_computation(run, rounds))
    return run, model


def test_a_result_is_a_source_with_its_code():
    run, _ = after(GOOD)
    made = run.evidence.find_passage("[2]")
    assert (made.kind, made.location) == ("computed", "computed:1")
    assert made.text.startswith("Years between the bridges: 16.\n\n")
    assert "1903 - 1887" in made.text
    assert select_writer_notes(run)[-1].handles == ("[2]",), "the writer sees it"


def test_it_goes_before_the_writer_however_few_sources_are_allowed():
    run, _ = after(GOOD, bounds=Bounds(sources=1))
    assert [note.handles for note in select_writer_notes(run)] == [("[2]",)]


def test_a_program_that_fails_is_put_right_with_what_was_wrong():
    run, model = after(ComputeResponse("print(1903 - 1887"), ComputeResponse("import os"), GOOD)
    assert len(run.evidence) == 2
    assert "no Python" in model.prompts[1].trouble
    assert "imports os" in model.prompts[2].trouble
    assert len(run.error_log) == 2


@pytest.mark.parametrize(
    "answer", [ComputeResponse("1/0"), ComputeResponse("print(1903 - 1850)"), ComputeResponse("import os")]
)
def test_after_three_tries_it_goes_on_without(answer):
    run, model = after(answer)
    assert (len(run.evidence), len(model.prompts)) == (1, 3)


@pytest.mark.parametrize("answer", [ComputeResponse(""), ComputeResponse("  "), ModelError("dizzy")])
def test_nothing_to_compute(answer):
    run, model = after(answer)
    assert (len(run.evidence), len(model.prompts)) == (1, 1)


def test_a_fence_around_the_program_is_taken_off():
    assert len(after(ComputeResponse(f"```python\n{GOOD.code}\n```"))[0].evidence) == 2


@pytest.mark.parametrize(
    "options", [{"rounds": 0}, {"task": "Who built it?"}, {"text": "No figure."}, {"bounds": Bounds(tokens=0)}]
)
def test_no_model_is_asked_without_need(options):
    assert after(GOOD, **options)[1].prompts == []


def test_sounding_like_arithmetic():
    notes = (Note("1 and 2", ()),)
    assert needs_computation("What is the average rainfall?", notes)
    assert needs_computation("By what % did it grow?", notes)
    assert not needs_computation("Who wrote the summary in 1952?", notes)


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
def test_figures_of_the_sources_may_be_used(code):
    assert find_unsourced_value(code, TEXT) == ""


@pytest.mark.parametrize(
    "code", ["1903 - 1850", "print('cost: 99 million')", "x = '1850'", "print('Emperor Franz paid')", "f'{1850:.0f}'"]
)
def test_nothing_comes_in_through_a_program(code):
    assert "stands in no source" in find_unsourced_value(code, TEXT)
