"""Fact extraction: which facts enter a belief, which are refused and why, and how open questions change."""

import pytest

from suffice.errors import ModelError
from suffice.memory.structured import StructuredMemory
from suffice.prompts.belief import ExtractedFact, Extraction
from suffice.testing import ScriptedModel, make_passage
from suffice.types import BELIEF_KIND

FILM = make_passage("film", "The Silver Lamp was directed by Ada Lind in 1954. It is short.", "The Silver Lamp")
ADA = make_passage("ada", "She was born in Graz. Her brother was Karl Lind.", "Ada Lind")
BO = make_passage("bo", "Bo Holm was born in Malmo in 1920.", "Bo Holm")
DIRECTED = ExtractedFact("The Silver Lamp was directed by Ada Lind in 1954.", ("[1]",))
BORN = ExtractedFact("Ada Lind was born in Graz.", ("[2]",), "Where was the director born?")
BELIEFS = [StructuredMemory]


def says(*answers):
    return ScriptedModel({"extract": list(answers)})


# -- facts ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BELIEFS)
def test_facts_of_earlier_rounds_stay_with_their_sources(fed, kind):
    belief = fed(kind, says(Extraction((DIRECTED,)), Extraction((BORN,)))).round(FILM).round(ADA)
    facts = [note for note in belief.memory.render(1000) if note.kind == BELIEF_KIND]
    assert [(fact.text, fact.handles) for fact in facts] == [(DIRECTED.text, ("[1]",)), (BORN.text, ("[2]",))]


def test_the_extractor_sees_the_belief_and_the_new_passages_only(fed):
    model = says(Extraction((DIRECTED,)))
    fed(StructuredMemory, model, open=["Where was the director born?"]).round(FILM).round(ADA)
    prompt = model.prompts[1]
    assert [note.text for note in prompt.known] == [DIRECTED.text]
    assert [note.handles for note in prompt.observation] == [("[2]",)]
    assert prompt.open == ("Where was the director born?",)
    assert "It is short" not in prompt.render()


def test_a_round_without_new_passages_makes_no_call(fed):
    model = says(Extraction())
    fed(StructuredMemory, model).round()
    assert model.prompts == []


@pytest.mark.parametrize(
    ("finding", "reason"),
    [
        (ExtractedFact("The Silver Lamp was directed by Ada Lind.", ()), "no source"),
        (ExtractedFact("The Silver Lamp was directed by Ada Lind.", ("[9]",)), "no source"),
        (ExtractedFact("The Silver Lamp was directed by Ada Lind.", ("first page",)), "not a passage of this run"),
        (ExtractedFact("No evidence for the birthplace was found.", ("[1]",)), "not found is not a fact"),
        (ExtractedFact("The birthplace is not mentioned in The Silver Lamp.", ("[1]",)), "not found is not a fact"),
        (ExtractedFact("There is no information about the director.", ("[1]",)), "not found is not a fact"),
        (ExtractedFact("The film's composer is unknown.", ("[1]",)), "not found is not a fact"),
        (ExtractedFact("The Silver Lamp was directed in 1955.", ("[1]",)), "'1955'"),
        (ExtractedFact("It was directed by Karl Gruber.", ("[1]",)), "'Karl Gruber'"),
        (ExtractedFact("", ("[1]",)), "says nothing"),
        (ExtractedFact("is the of", ("[1]",)), "says nothing"),
        (ExtractedFact("lamp " * 200, ("[1]",)), "longer than"),
    ],
)
@pytest.mark.parametrize("kind", BELIEFS)
def test_a_refused_fact_is_recorded_with_its_reason(fed, kind, finding, reason):
    belief = fed(kind, says(Extraction((finding,)))).round(FILM)
    assert belief.texts() == []
    assert any(reason in refused for refused in belief.refused), belief.refused


def test_a_verbatim_statement_about_missing_evidence_is_a_fact(fed):
    moon = make_passage("moon", "There is no evidence of water on the lamp.", "Moon")
    belief = fed(
        StructuredMemory, says(Extraction((ExtractedFact("There is no evidence of water on the lamp.", ("[1]",)),)))
    )
    assert belief.round(moon).texts() == ["There is no evidence of water on the lamp."]


def test_an_invented_handle_is_dropped_and_a_known_one_stays(fed):
    belief = fed(StructuredMemory, says(Extraction((ExtractedFact(DIRECTED.text, ("[7]", "1", "[1]")),)))).round(FILM)
    assert belief.memory.render(1000)[0].handles == ("[1]",)
    assert "'[7]'" in belief.refused[0]


def test_citations_in_the_text_of_a_fact_are_removed(fed):
    belief = fed(
        StructuredMemory, says(Extraction((ExtractedFact("The Silver Lamp was directed by Ada Lind. [1]", ("[1]",)),)))
    )
    assert belief.round(FILM).texts() == ["The Silver Lamp was directed by Ada Lind."]


@pytest.mark.parametrize(
    "again", ["The Silver Lamp was directed by Ada Lind in 1954.", "Ada Lind directed The Silver Lamp."]
)
def test_a_fact_that_repeats_the_belief_is_refused(fed, again):
    belief = fed(StructuredMemory, says(Extraction((DIRECTED,)), Extraction((ExtractedFact(again, ("[1]",)),))))
    assert len(belief.round(FILM).round(ADA).texts()) == 1
    assert "repeats the belief" in belief.refused[-1]


def test_a_contradiction_that_no_source_states_is_refused(fed):
    denied = ExtractedFact("The Silver Lamp was not directed by Ada Lind.", ("[2]",))
    belief = fed(StructuredMemory, says(Extraction((DIRECTED,)), Extraction((denied,)))).round(FILM).round(ADA)
    assert belief.texts() == [DIRECTED.text]
    assert "contradicts" in belief.refused[-1]


def test_facts_of_sources_that_disagree_both_enter(fed):
    other = make_passage("other", "The Silver Lamp was directed by Ada Lind in 1955.", "Catalogue")
    belief = fed(StructuredMemory, says(Extraction((DIRECTED,)), Extraction((ExtractedFact(other.text, ("[2]",)),))))
    assert belief.round(FILM).round(other).texts() == [DIRECTED.text, other.text]


@pytest.mark.parametrize("kind", BELIEFS)
@pytest.mark.parametrize(
    "garbage",
    [ModelError("not JSON"), Extraction(), Extraction((ExtractedFact("%%%", ("?",)),) * 50, ("x",) * 50, ("",) * 50)],
)
def test_an_unusable_answer_does_not_change_the_belief(fed, kind, garbage):
    belief = fed(kind, says(Extraction((DIRECTED,)), garbage), open=["Where was the director born?"])
    before = belief.round(FILM).texts()
    assert belief.round(ADA).texts() == before
    assert belief.memory_context.open_questions.open == ("Where was the director born?",)


def test_a_grounded_memory_refuses_facts_about_other_entities(fed):
    found = Extraction((ExtractedFact("Bo Holm was born in Malmo in 1920.", ("[2]",), "Where was the director born?"),))
    for grounded, expected in ((False, 2), (True, 1)):
        belief = fed(StructuredMemory, says(Extraction((DIRECTED,)), found), grounded=grounded).round(FILM).round(BO)
        assert len(belief.texts()) == expected
    assert "another entity" in belief.refused[-1]


def test_a_grounded_memory_accepts_entities_that_a_known_fact_links(fed):
    belief = (
        fed(StructuredMemory, says(Extraction((DIRECTED,)), Extraction((BORN,))), grounded=True).round(FILM).round(ADA)
    )
    assert len(belief.texts()) == 2


# -- open questions ------------------------------------------------------------------------------------------------------


def test_a_question_is_closed_by_a_fact_only(fed):
    claimed = Extraction((), ("Where was the director born?",))
    belief = fed(StructuredMemory, says(claimed, Extraction((BORN,), claimed.resolved)), open=claimed.resolved).round(
        FILM
    )
    assert belief.memory_context.open_questions.open == claimed.resolved
    assert "still open" in belief.refused[-1]
    assert belief.round(ADA).memory_context.open_questions.open == ()


def test_few_new_questions_are_added_behind_the_old_ones(fed):
    many = Extraction((DIRECTED,), (), tuple(f"Who is person {n}?" for n in range(20)))
    belief = fed(StructuredMemory, says(many), open=["Where was the director born?"]).round(FILM)
    assert belief.memory_context.open_questions.open == (
        "Where was the director born?",
        "Who is person 0?",
        "Who is person 1?",
    )
