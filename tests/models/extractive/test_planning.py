"""Planning, reflecting and proposing queries without a language model."""

import asyncio

import pytest

from suffice.models.extractive import ExtractiveModel
from suffice.prompts.planning import Plan, ProposeQuery, Reflect
from suffice.text.task_type import classify_task, parse_item_count
from suffice.types import Note


def ask(prompt):
    return asyncio.run(ExtractiveModel()(prompt)).answer


def note(text, title=""):
    return Note(text, (), title)


def reflected(task, *notes, thin=(), leads=()):
    return ask(Reflect(task, notes, thin, thin, leads, 3))


def planned(task, most=6):
    return [query.query for query in ask(Plan(task, most)).queries]


DANCE = Note("Karl von Frisch decoded the waggle dance in 1927. Bees are insects.", ("[1]",), "Bees")


def test_a_gap_query_joins_the_lead_with_what_it_lacks():
    task = "Who designed the Halm Bridge and when did Ida Voss die?"
    known = (note("The Halm Bridge was designed long ago.", "Halm Bridge"),)
    query = ask(ProposeQuery(task, "", known, (), ("designed Halm Bridge Graz",))).query
    assert query.startswith("designed Halm Bridge Graz")
    assert "Voss" in query
    assert query.count("Halm") == 1, "words of the lead are not repeated"


def test_a_gap_query_about_a_topic_is_about_that_topic():
    assert ask(ProposeQuery("Compare metals", "tin mines", (), (), ())).query == "tin mines"
    assert ask(ProposeQuery("Compare metals", "tin mines", (), (), ("metals tin",))).query == "metals tin mines"


def test_without_gaps_and_leads_there_is_no_query():
    assert ask(ProposeQuery("Copper", "", (note("Copper is red."),), (), ())).query == ""


@pytest.mark.parametrize(
    ("task", "kind", "count"),
    [
        ("What are the top 5 context engineering techniques?", "enumerated", 5),
        ("Give the three most common failure modes", "enumerated", 3),
        ("10 best hikes near Graz", "enumerated", 10),
        ("List the moons of Jupiter", "enumerated", None),
        ("What are best practices for backups?", "best_practices", None),
        ("Who was king in 1952?", "research", None),
        ("Which of the 0 best answers", "research", None),
        ("Was ist die Hauptstadt?", "research", None),
    ],
)
def test_the_type_of_a_task_follows_its_wording(task, kind, count):
    assert (classify_task(task), parse_item_count(task)) == (kind, count)
    plan = ask(Plan(task, 6))
    assert (plan.task_type, plan.expected_sections) == (kind, count)
    assert (plan.notes, plan.subtasks) == ("", ()), "the extractive model has no knowledge of its own"


def test_sufficient_when_every_part_is_covered():
    reflection = reflected("Who decoded the waggle dance?", DANCE)
    assert reflection.sufficient
    assert reflection.confidence is None  # Counting words gives no probability.
    assert reflection.gaps == ()


def test_a_part_without_evidence_is_a_gap():
    reflection = reflected("Who decoded the waggle dance, and who designed the Eiffel Tower?", DANCE)
    assert not reflection.sufficient
    assert any("Eiffel Tower" in gap for gap in reflection.gaps)


def test_nothing_found_is_never_sufficient():
    for question in ("Who decoded the waggle dance?", "why?"):
        reflection = reflected(question)
        assert not reflection.sufficient


def test_a_query_with_few_results_is_reworded():
    query = "waggle dance decoder honeybee"
    reflection = reflected("Who decoded the waggle dance of the honeybee?", thin=(query,))
    assert reflection.new_queries
    assert query not in [new.query for new in reflection.new_queries]


def test_the_best_lead_is_followed_alone():
    reflection = reflected("Who designed the Eiffel Tower?", DANCE, leads=("a", "b", "c"))
    assert [new.query for new in reflection.new_queries] == ["a"]


def test_a_plan_begins_with_the_question():
    assert planned("Who decoded the waggle dance?") == ["Who decoded the waggle dance?"]
    survey = planned("How do Kestrel, Falcon or Osprey differ in storing logs?")
    assert survey[0] == "How do Kestrel, Falcon or Osprey differ in storing logs?"
    assert len(survey) > 1
    assert len(planned("How do Kestrel, Falcon or Osprey differ in storing logs?", 1)) == 2


def test_complexity_grows_with_the_parts_of_a_question():
    simple, deep = (
        ask(Plan(task, 6)).complexity
        for task in (
            "What is a hive?",
            "Compare risks, costs, dates, owners and limits; who decided, and when, and why it failed?",
        )
    )
    assert (simple, deep) == ("simple", "deep")
