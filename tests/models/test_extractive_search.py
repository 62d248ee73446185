"""The extractive twins of the searching strategies: what they can honestly say."""

import asyncio

import pytest

from suffice.models.extractive import ExtractiveModel
from suffice.prompts import DraftOutline, HypotheticalDocument, LabelCluster, Plan, ProposeQuery
from suffice.text.task_type import classify_task, parse_item_count
from suffice.types import Note


def ask(question):
    return asyncio.run(ExtractiveModel()(question)).answer


def note(text, title=""):
    return Note(text, (), title)


def test_a_gap_query_joins_the_lead_with_what_it_lacks():
    task = "Who designed the Halm Bridge and when did Ida Voss die?"
    known = (note("The Halm Bridge was designed long ago.", "Halm Bridge"),)
    query = ask(ProposeQuery(task, "", known, (), ("designed Halm Bridge Graz",))).query
    assert query.startswith("designed Halm Bridge Graz")
    assert "Voss" in query
    assert query.count("Halm") == 1, "what the lead has is not said twice"


def test_a_gap_query_about_a_topic_is_about_that_topic():
    assert ask(ProposeQuery("Compare metals", "tin mines", (), (), ())).query == "tin mines"
    assert ask(ProposeQuery("Compare metals", "tin mines", (), (), ("metals tin",))).query == "metals tin mines"


def test_nothing_open_and_no_lead_is_no_query():
    assert ask(ProposeQuery("Copper", "", (note("Copper is red."),), (), ())).query == ""


def test_an_outline_is_the_questions_facets_then_titles():
    notes = (note("x", "Copper (metal)"), note("y", "Bronze Age"), note("z", "Bronze Age"), note("z", "Coins"))
    topics = ask(DraftOutline("Compare Copper with Silver", notes, 5)).topics
    assert topics == ("Copper", "Silver", "Bronze Age", "Coins")
    assert ask(DraftOutline("???", (), 5)).topics == ()
    assert len(ask(DraftOutline("Compare A1, B2, C3, D4, E5, F6 and G7", notes, 5)).topics) <= 5


def test_there_is_no_imagining_an_answer():
    assert ask(HypotheticalDocument("task", "the topic")).text == "the topic"


def test_a_label_is_what_all_passages_share_beyond_the_task():
    notes = (note("Smelting furnace of copper, 1880."), note("A furnace for smelting copper, 1880, burned."))
    assert set(ask(LabelCluster("About copper", (), notes)).label.split()) == {"smelting", "furnace"}
    assert ask(LabelCluster("About copper", ("smelting",), notes)).label == "", "one word is no label"
    assert ask(LabelCluster("About copper", (), (note("rain"), note("music")))).label == ""
    assert ask(LabelCluster("About copper", (), ())).label == ""


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
def test_the_kind_of_a_task_by_its_wording(task, kind, count):
    assert (classify_task(task), parse_item_count(task)) == (kind, count)
    plan = ask(Plan(task, 6))
    assert (plan.task_type, plan.expected_sections) == (kind, count)
    assert (plan.known_facts, plan.notes, plan.subtasks) == ((), "", ()), "it knows nothing of its own"
