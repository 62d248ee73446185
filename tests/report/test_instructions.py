"""Which instruction a task is written by, in S4's order, by whole words."""

import pytest

from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import PlanResponse
from suffice.prompts.base import load_template
from suffice.report.draft import VARIANT_ORDER, choose_instruction, get_task_type
from suffice.state.run import RunState
from suffice.testing import ScriptedModel


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
        ("Who built the Meridian bridge?", "prose"),
        ("Why is there interest in apiaries and restaurants?", "prose"),
        ("What are the five most common causes of database corruption?", "count"),
        ("Top 3 stocks", "count"),
    ],
)
def test_the_order_of_the_variants(task, variant):
    assert chosen(task).variant == variant


def test_every_variant_is_a_versioned_text():
    for name in VARIANT_ORDER:
        file = load_template(f"writing/{name}")
        assert file.version.isdigit()
        assert len(file.body.template) > 200
        assert (name == "prose") == (not file.keywords)


def test_a_number_of_things_goes_into_the_instruction():
    how = chosen("List the top 4 rivers")
    assert (how.count, "Write 4 sections" in how.text) == (4, True)


def test_a_plan_may_say_that_a_task_is_a_list():
    assert chosen("Name the 7 wonders", task_type="enumerated", expected_sections=7).count == 7
    assert chosen("Which rivers cross Graz?", task_type="enumerated").variant == "count"


def test_a_number_that_only_the_plan_knows_is_a_guess():
    how = chosen("Which rivers cross Graz?", task_type="enumerated", expected_sections=9)
    assert (how.variant, how.count, "$" in how.text) == ("count", 0, False)


def test_the_wording_beats_a_plan_that_missed_it():
    assert chosen("What are the top 5 rivers?", task_type="research").count == 5


def test_without_a_plan_the_wording_says_what_kind_of_task_it_is():
    run = RunState("What are best practices for caching?", ScriptedModel({}), TrajectoryMemory, run_id="r")
    assert get_task_type(run) == "best_practices"
