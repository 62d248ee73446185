"""Belief memories: what enters, what is refused and why, and that they stay small whatever an extractor says."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice.errors import InputError, ModelError
from suffice.memory.extraction import MAX_FACT_CHARS
from suffice.memory.freeform import FreeformMemory
from suffice.memory.predicates import MAX_OPEN
from suffice.memory.structured import MAX_FACTS, TARGET_FACTS, Belief, StructuredMemory
from suffice.prompts import CuratedFact, Curation, ExtractedFact, Extraction
from suffice.testing import ScriptedModel, make_passage
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF_KIND, Note

quick = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
FILM = make_passage("film", "The Silver Lamp was directed by Ada Lind in 1954. It is short.", "The Silver Lamp")
ADA = make_passage("ada", "She was born in Graz. Her brother was Karl Lind.", "Ada Lind")
BO = make_passage("bo", "Bo Holm was born in Malmo in 1920.", "Bo Holm")
DIRECTED = ExtractedFact("The Silver Lamp was directed by Ada Lind in 1954.", ("[1]",))
BORN = ExtractedFact("Ada Lind was born in Graz.", ("[2]",), "Where was the director born?")
BELIEFS = [StructuredMemory, FreeformMemory]


def says(*answers, **others):
    return ScriptedModel({"extract": list(answers), **others})


# -- what enters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BELIEFS)
def test_facts_of_earlier_rounds_stay_with_their_sources(fed, kind):
    belief = fed(kind, says(Extraction((DIRECTED,)), Extraction((BORN,)))).round(FILM).round(ADA)
    facts = [note for note in belief.memory.render(1000) if note.kind == BELIEF_KIND]
    assert [(fact.text, fact.handles) for fact in facts] == [(DIRECTED.text, ("[1]",)), (BORN.text, ("[2]",))]


def test_the_extractor_sees_belief_and_observation_and_no_history(fed):
    model = says(Extraction((DIRECTED,)))
    fed(StructuredMemory, model, open=["Where was the director born?"]).round(FILM).round(ADA)
    prompt = model.asked[1]
    assert [note.text for note in prompt.known] == [DIRECTED.text]
    assert [note.handles for note in prompt.observation] == [("[2]",)]
    assert prompt.open == ("Where was the director born?",)
    assert "It is short" not in prompt.render()


def test_a_round_without_anything_new_costs_no_call(fed):
    model = says(Extraction())
    fed(StructuredMemory, model).round()
    assert model.asked == []


@pytest.mark.parametrize(
    ("finding", "why"),
    [
        (ExtractedFact("The Silver Lamp was directed by Ada Lind.", ()), "no source"),
        (ExtractedFact("The Silver Lamp was directed by Ada Lind.", ("[9]",)), "no source"),
        (ExtractedFact("The Silver Lamp was directed by Ada Lind.", ("first page",)), "no passage of this run"),
        (ExtractedFact("No evidence for the birthplace was found.", ("[1]",)), "not found is no fact"),
        (ExtractedFact("The birthplace is not mentioned in The Silver Lamp.", ("[1]",)), "not found is no fact"),
        (ExtractedFact("There is no information about the director.", ("[1]",)), "not found is no fact"),
        (ExtractedFact("The film's composer is unknown.", ("[1]",)), "not found is no fact"),
        (ExtractedFact("The Silver Lamp was directed in 1955.", ("[1]",)), "'1955'"),
        (ExtractedFact("It was directed by Karl Gruber.", ("[1]",)), "'Karl Gruber'"),
        (ExtractedFact("", ("[1]",)), "says nothing"),
        (ExtractedFact("is the of", ("[1]",)), "says nothing"),
        (ExtractedFact("lamp " * 200, ("[1]",)), "longer than"),
    ],
)
@pytest.mark.parametrize("kind", BELIEFS)
def test_what_is_refused_is_on_record_with_its_reason(fed, kind, finding, why):
    belief = fed(kind, says(Extraction((finding,)))).round(FILM)
    assert belief.hypothetical_answers() == []
    assert any(why in refused for refused in belief.refused), belief.refused


def test_a_source_that_says_that_there_is_no_evidence_may_be_believed(fed):
    moon = make_passage("moon", "There is no evidence of water on the lamp.", "Moon")
    belief = fed(
        StructuredMemory, says(Extraction((ExtractedFact("There is no evidence of water on the lamp.", ("[1]",)),)))
    )
    assert belief.round(moon).hypothetical_answers() == ["There is no evidence of water on the lamp."]


def test_an_invented_handle_is_dropped_and_the_real_one_stays(fed):
    belief = fed(StructuredMemory, says(Extraction((ExtractedFact(DIRECTED.text, ("[7]", "1", "[1]")),)))).round(FILM)
    assert belief.memory.render(1000)[0].handles == ("[1]",)
    assert "'[7]' is no passage" in belief.refused[0]


def test_citations_in_a_text_are_no_part_of_what_it_says(fed):
    belief = fed(
        StructuredMemory, says(Extraction((ExtractedFact("The Silver Lamp was directed by Ada Lind. [1]", ("[1]",)),)))
    )
    assert belief.round(FILM).hypothetical_answers() == ["The Silver Lamp was directed by Ada Lind."]


@pytest.mark.parametrize(
    "again", ["The Silver Lamp was directed by Ada Lind in 1954.", "Ada Lind directed The Silver Lamp."]
)
def test_a_fact_that_repeats_the_belief_is_refused(fed, again):
    belief = fed(StructuredMemory, says(Extraction((DIRECTED,)), Extraction((ExtractedFact(again, ("[1]",)),))))
    assert len(belief.round(FILM).round(ADA).hypothetical_answers()) == 1
    assert "repeats the belief" in belief.refused[-1]


def test_a_contradiction_that_no_source_states_is_refused(fed):
    denied = ExtractedFact("The Silver Lamp was not directed by Ada Lind.", ("[2]",))
    belief = fed(StructuredMemory, says(Extraction((DIRECTED,)), Extraction((denied,)))).round(FILM).round(ADA)
    assert belief.hypothetical_answers() == [DIRECTED.text]
    assert "contradicts" in belief.refused[-1]


def test_sources_that_disagree_are_both_kept(fed):
    other = make_passage("other", "The Silver Lamp was directed by Ada Lind in 1955.", "Catalogue")
    belief = fed(StructuredMemory, says(Extraction((DIRECTED,)), Extraction((ExtractedFact(other.text, ("[2]",)),))))
    assert belief.round(FILM).round(other).hypothetical_answers() == [DIRECTED.text, other.text]


@pytest.mark.parametrize("kind", BELIEFS)
@pytest.mark.parametrize(
    "garbage",
    [ModelError("not JSON"), Extraction(), Extraction((ExtractedFact("%%%", ("?",)),) * 50, ("x",) * 50, ("",) * 50)],
)
def test_garbage_leaves_the_belief_as_it_was(fed, kind, garbage):
    belief = fed(kind, says(Extraction((DIRECTED,)), garbage), open=["Where was the director born?"])
    before = belief.round(FILM).hypothetical_answers()
    assert belief.round(ADA).hypothetical_answers() == before
    assert belief.memory_context.predicates.open == ("Where was the director born?",)


def test_a_finding_about_another_entity_is_no_finding_when_grounded(fed):
    found = Extraction((ExtractedFact("Bo Holm was born in Malmo in 1920.", ("[2]",), "Where was the director born?"),))
    for grounded, expected in ((False, 2), (True, 1)):
        belief = fed(StructuredMemory, says(Extraction((DIRECTED,)), found), grounded=grounded).round(FILM).round(BO)
        assert len(belief.hypothetical_answers()) == expected
    assert "another entity" in belief.refused[-1]


def test_a_finding_about_what_the_belief_ties_to_the_question_is_one(fed):
    belief = (
        fed(StructuredMemory, says(Extraction((DIRECTED,)), Extraction((BORN,))), grounded=True).round(FILM).round(ADA)
    )
    assert len(belief.hypothetical_answers()) == 2


# -- open questions ------------------------------------------------------------------------------------------------------


def test_a_question_is_closed_by_a_fact_and_not_by_a_word(fed):
    claims = Extraction((), ("Where was the director born?",))
    belief = fed(StructuredMemory, says(claims, Extraction((BORN,), claims.resolved)), open=claims.resolved).round(FILM)
    assert belief.memory_context.predicates.open == claims.resolved
    assert "still open" in belief.refused[-1]
    assert belief.round(ADA).memory_context.predicates.open == ()


def test_new_questions_are_few_and_come_behind(fed):
    many = Extraction((DIRECTED,), (), tuple(f"Who is person {n}?" for n in range(20)))
    belief = fed(StructuredMemory, says(many), open=["Where was the director born?"]).round(FILM)
    assert belief.memory_context.predicates.open == (
        "Where was the director born?",
        "Who is person 0?",
        "Who is person 1?",
    )


# -- curation ------------------------------------------------------------------------------------------------------------

PEOPLE = "Abel Bela Cora Dora Egon Fritz Gerda Hanna Ida Jonas Kurt Lena".split()


def many_facts():
    text = " ".join(f"{name} painted barn number {n}." for n, name in enumerate(PEOPLE))
    return make_passage("many", text, "Painters"), Extraction(
        tuple(ExtractedFact(f"{name} painted barn number {n}.", ("[1]",)) for n, name in enumerate(PEOPLE))
    )


def test_more_than_ten_facts_are_curated_and_sources_joined(fed):
    page, extraction = many_facts()
    merged = Curation((CuratedFact((3, 1), "Cora and Abel painted barn number 2 and 0."), CuratedFact((12,))))
    belief = fed(StructuredMemory, says(extraction, curate=[merged]), task="Who painted?").round(page)
    assert belief.hypothetical_answers() == [
        "Cora and Abel painted barn number 2 and 0.",
        "Lena painted barn number 11.",
    ]


@pytest.mark.parametrize(
    "nonsense",
    [
        ModelError("no"),
        Curation(()),
        Curation((CuratedFact((99,)), CuratedFact((0,)), CuratedFact(()))),
        Curation((CuratedFact((-3,)),)),
    ],
)
def test_a_rule_curates_when_the_model_cannot(fed, nonsense):
    page, extraction = many_facts()
    belief = fed(StructuredMemory, says(extraction, curate=[nonsense]), task="Who painted barn number 7?").round(page)
    assert len(belief.hypothetical_answers()) == TARGET_FACTS
    assert any("number 7" in text for text in belief.hypothetical_answers())


def test_a_merged_text_that_says_something_else_is_not_taken(fed):
    page, extraction = many_facts()
    model = says(extraction, curate=[Curation((CuratedFact((1, 2), "Zoltan painted everything in 1999."),))])
    belief = fed(StructuredMemory, model, task="Who painted?").round(page)
    assert belief.hypothetical_answers() == ["Abel painted barn number 0.; Bela painted barn number 1."]


@pytest.mark.parametrize("curation", [ModelError("no"), Curation((CuratedFact((1,)),))])
def test_the_links_of_a_chain_survive_curation(fed, curation):
    chain = ["The Silver Lamp was directed by Ada Lind.", "Ada Lind was born in Graz.", "Graz lies on the Mur."]
    noise = [f"{name} painted barn number {n}." for n, name in enumerate(PEOPLE[:9])]
    page = make_passage("page", " ".join(chain + noise), "Page")
    facts = Extraction(tuple(ExtractedFact(text, ("[1]",)) for text in chain + noise))
    task = "On which river lies the birthplace of the director of The Silver Lamp?"
    texts = fed(StructuredMemory, says(facts, curate=[curation]), task=task).round(page).hypothetical_answers()
    assert set(chain) <= set(texts)
    assert len(texts) <= MAX_FACTS


# -- bounds --------------------------------------------------------------------------------------------------------------

word = st.sampled_from("Ada Graz lamp born directed 1954 the in no evidence Karl [1] brother not".split())
words = st.lists(word, max_size=70).map(" ".join)
handles = st.lists(st.sampled_from(["[1]", "[2]", "[3]", "[4]", "[99]", "x", "2", ""]), max_size=3).map(tuple)
findings = st.lists(st.builds(ExtractedFact, words, handles, words), max_size=14).map(tuple)
kept = st.builds(CuratedFact, st.lists(st.integers(-2, 25), max_size=4).map(tuple), words)
extractions = st.builds(
    Extraction, findings, st.lists(words, max_size=4).map(tuple), st.lists(words, max_size=4).map(tuple)
)


@quick
@given(
    st.sampled_from(BELIEFS),
    st.lists(st.one_of(extractions, st.just(ModelError("no"))), min_size=1, max_size=5),
    st.lists(kept, max_size=8).map(lambda all_of_them: Curation(tuple(all_of_them))),
    st.integers(0, 600),
)
def test_a_belief_keeps_its_bounds_whatever_is_said(fed, kind, answers, curation, budget):
    belief = fed(kind, says(*answers, curate=[curation]), open=["Where was the director born?"])
    for n in range(len(answers)):
        belief.round(make_passage(f"p{n}", "Ada was born in Graz. Karl directed the lamp in 1954.", f"Page {n}"))
        notes = belief.memory.render(100_000)
        facts = [note for note in notes if note.kind == BELIEF_KIND]
        assert len(facts) <= MAX_FACTS
        assert all(len(note.text) <= MAX_FACT_CHARS for note in notes)
        assert len(belief.memory_context.predicates.open) <= MAX_OPEN
        # Only what was admitted by then is ever cited, and nothing is believed without it.
        assert all(note.handles and all(1 <= int(h.strip("[]")) <= n + 1 for h in note.handles) for note in notes)
    rendered = belief.memory.render(budget)
    assert sum(estimate_tokens(note.text) + estimate_tokens(note.title) for note in rendered) <= budget


def test_a_belief_larger_than_any_prompt_fits_after_curation(fed):
    long = [" ".join(f"word{n}x{i}" for i in range(38)) for n in range(60)]
    pages = [make_passage(f"p{n}", text, "Page") for n, text in enumerate(long)]
    answers = [Extraction((ExtractedFact(text, (f"[{n + 1}]",)),)) for n, text in enumerate(long)]
    belief = fed(FreeformMemory, says(*answers, curate=[ModelError("no")]))
    for page in pages:
        belief.round(page)
    notes = belief.memory.render(200)
    assert sum(estimate_tokens(note.text) for note in notes) <= 200
    assert len(belief.memory.render(1_000_000)) <= 2 * MAX_FACTS


# -- verbatim memories, and the text of a belief -----------------------------------------------------------------------------


def test_freeform_keeps_the_sentence_behind_a_note(fed):
    belief = fed(
        FreeformMemory, says(Extraction((ExtractedFact("Ada Lind directed The Silver Lamp.", ("[1]",)),)))
    ).round(FILM)
    note, memory = belief.memory.render(1000)
    assert note.kind == BELIEF_KIND
    assert memory.text == "The Silver Lamp was directed by Ada Lind in 1954."
    assert memory.handles == note.handles
    assert not memory.whole


def test_a_memory_leaves_with_its_note(fed):
    page, extraction = many_facts()
    model = says(
        Extraction((ExtractedFact("Ada Lind directed The Silver Lamp.", ("[1]",)),)),
        curate=[Curation((CuratedFact((2,)),))],
    )
    belief = fed(FreeformMemory, model, task="Who painted?").round(FILM)
    model._script["extract"] = [Extraction(tuple(ExtractedFact(f.text, ("[2]",)) for f in extraction.facts))]
    belief.round(page)
    assert not any("Silver Lamp" in text for text in belief.hypothetical_answers())


line = st.text(st.characters(blacklist_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1, max_size=12)
lines = st.lists(line, min_size=1, max_size=6).map(" ".join)
facts = st.builds(
    lambda text, numbers: Note(text, tuple(f"[{n}]" for n in numbers), kind=BELIEF_KIND, whole=False),
    st.one_of(lines, lines.map(lambda text: f"{text} ← [3]")),
    st.lists(st.integers(1, 500), min_size=1, max_size=4, unique=True),
)


@quick
@given(st.lists(facts, max_size=8), st.lists(lines, max_size=8))
def test_structured_rendered_parsed_loses_nothing(facts, questions):
    belief = Belief(tuple(facts), tuple(questions))
    assert Belief.parse(str(belief)) == belief


@pytest.mark.parametrize("text", ["", "nonsense", "FACTS\n- a fact without a source\nOPEN", "- too early [1]"])
def test_a_text_that_is_no_belief_is_named(text):
    with pytest.raises(InputError, match=r"Line (1|2) of this belief"):
        Belief.parse(text)


def test_a_living_belief_survives_its_text(fed):
    belief = fed(StructuredMemory, says(Extraction((DIRECTED,))), open=["Where was the director born?"]).round(FILM)
    assert Belief.parse(str(belief.memory.belief)) == belief.memory.belief
