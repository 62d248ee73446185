"""Outlines and cluster labels without a language model."""

import asyncio

from suffice.models.extractive import ExtractiveModel
from suffice.prompts.outline import DraftOutline, LabelCluster
from suffice.types import Note


def ask(prompt):
    return asyncio.run(ExtractiveModel()(prompt)).answer


def note(text, title=""):
    return Note(text, (), title)


def test_an_outline_is_the_questions_facets_then_titles():
    notes = (note("x", "Copper (metal)"), note("y", "Bronze Age"), note("z", "Bronze Age"), note("z", "Coins"))
    topics = ask(DraftOutline("Compare Copper with Silver", notes, 5)).topics
    assert topics == ("Copper", "Silver", "Bronze Age", "Coins")
    assert ask(DraftOutline("???", (), 5)).topics == ()
    assert len(ask(DraftOutline("Compare A1, B2, C3, D4, E5, F6 and G7", notes, 5)).topics) <= 5


def test_a_label_is_what_all_passages_share_beyond_the_task():
    notes = (note("Smelting furnace of copper, 1880."), note("A furnace for smelting copper, 1880, burned."))
    assert set(ask(LabelCluster("About copper", (), notes)).text.split()) == {"smelting", "furnace"}
    assert ask(LabelCluster("About copper", ("smelting",), notes)).text == "", "one word is not a label"
    assert ask(LabelCluster("About copper", (), (note("rain"), note("music")))).text == ""
    assert ask(LabelCluster("About copper", (), ())).text == ""
