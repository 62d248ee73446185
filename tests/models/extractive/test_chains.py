"""Questions over several passages: the sentence at the end of the chain is shown, and first if it fits best."""

import asyncio

from suffice.models.extractive.units import rank_units, weigh_question

from suffice.models.extractive import ExtractiveModel, writing
from suffice.models.extractive.chains import needs_steps
from suffice.prompts import Draft, SynthesisResponse
from suffice.text.question import analyze_question
from suffice.types import Note

TASK = "Who is the mayor of the town where the painter Odile Brandt was born?"
ANCHOR = Note(
    "Odile Brandt was a painter. Brandt was born in Velburg in 1871 and studied in Graz.", ("[1]",), "Odile Brandt"
)
ANSWER = Note(
    "Velburg is a town on the river Laaber with a castle from the twelfth century. Its breweries are old. "
    "Since 2014 the mayor of Velburg has been Kathrin Lohse.",
    ("[2]",),
    "Velburg",
)
OTHERS = tuple(
    Note(f"The painter {name} was born in the town of {town}. The town is known for its {thing}.", (f"[{n}]",), name)
    for n, (name, town, thing) in enumerate(
        [("Emil Sorge", "Kassel", "lamps"), ("Rosa Weck", "Ulm", "spire"), ("Otto Lind", "Worms", "wine")], 3
    )
)


def draft(task: str, *notes: Note) -> SynthesisResponse:
    answer: SynthesisResponse = asyncio.run(ExtractiveModel()(Draft(task, notes, (), ()))).answer
    return answer


def needs(task: str, *notes: Note) -> bool:
    question, words = analyze_question(task), weigh_question(task, notes)
    return needs_steps(question, notes, rank_units(question, notes, frozenset(), words, None))


def test_the_passage_that_the_named_one_leads_to_is_shown():
    found = draft(TASK, ANCHOR, *OTHERS, ANSWER)
    assert [excerpt.title for excerpt in found.excerpts[:2]].count("Velburg") == 1
    assert "Kathrin Lohse" in found.answer.replace("*", "")


def test_more_passages_take_part_and_the_answer_stays_short():
    found = draft(TASK, ANCHOR, *OTHERS, ANSWER)
    assert len(found.excerpts) > 3
    assert len(found.answer) <= 1300
    for excerpt in found.excerpts:
        assert any(excerpt.text in note.text for note in (ANCHOR, ANSWER, *OTHERS)), (
            "a contiguous stretch of its source"
        )
    assert len({excerpt.title for excerpt in found.excerpts}) == len(found.excerpts)


def test_one_sentence_with_all_words_needs_no_chain():
    whole = Note("The mayor of the town where the painter Odile Brandt was born is Kathrin Lohse.", ("[1]",), "Notes")
    assert needs(TASK, ANCHOR, *OTHERS, ANSWER)
    assert not needs(TASK, whole, *OTHERS)


def test_manuals_with_lists_and_code_are_left_as_they_are():
    page = Note(
        "The options are:\n\n- `--port`: where it listens\n- `--host`: its address\n- `--debug`: more output",
        ("[1]",),
        "Run",
    )
    assert not needs("Who reads the setting of the server that Brandt starts?", page)


def test_a_comparison_is_no_chain_that_must_lead(monkeypatch):
    monkeypatch.setattr(writing, "needs_steps", lambda *given: True)
    monkeypatch.setattr(writing, "measure_lead", lambda steps: 0.0)
    one = Note("The Halm Bridge in Velburg was opened in 1871 and is made of stone.", ("[1]",), "Halm Bridge")
    other = Note("The Ida Bridge in Velburg was opened in 1902 and is made of iron.", ("[2]",), "Ida Bridge")
    found = draft("Which was opened first, Halm Bridge or Ida Bridge?", one, other, ANCHOR, *OTHERS)
    assert found.short_answer == "Halm Bridge"
    assert found.sufficiency == "yes"
